package openstacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A Row is one object in the form of its service's API.
type Row map[string]any

// A Project is a project of the cloud.
type Project struct{ ID, Name string }

// An Account is a user with its credentials, project and roles.
type Account struct {
	ID, Name, Password string
	// Credential and Secret are an application credential's; "" for none.
	Credential, Secret string
	Project            Project
	Roles              []string
}

func (a Account) admin() bool { return slices.Contains(a.Roles, "admin") }

// An Estate is the content of a cloud.
type Estate struct {
	Accounts []Account
	Regions  []string
	// Without are the types of services that the catalogue lacks, and Clear the type of the one
	// without TLS.
	Without []string
	Clear   string
	// Microversion is Nova's newest.
	Microversion string
	// Lists are the rows by the lists' paths.
	Lists map[string][]Row
	// Down are the ids of servers whose cell does not answer.
	Down []string
	// Actions are the rows of the action logs of servers, by their ids.
	Actions map[string][]Row
	// Denied are the lists that policies forbid. Hides reports whether a list is empty for an
	// account.
	Denied []string
	Hides  func(path string, who Account) bool
}

func (e Estate) clone() Estate {
	e.Lists, e.Actions = maps.Clone(e.Lists), maps.Clone(e.Actions)
	for path, rows := range e.Lists {
		e.Lists[path] = slices.Clone(rows)
	}
	return e
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("openstacktest: encode an answer: %v", err))
	}
	return body
}

// The two projects of every estate.
func web() Project   { return Project{"5c117f89000000000000000000000001", "web"} }
func other() Project { return Project{"5c117f89000000000000000000000002", "other"} }

// Passwords and secrets of the accounts.
const (
	Password   = "s3cret-of-the-stand-in"
	Credential = "c0ffee00000000000000000000000001"
	Secret     = "s3cret-of-the-credential"
)

// accounts returns an administrator, a member, a user with an application credential, and one
// with a role that no policy contains.
func accounts() []Account {
	return []Account{
		{ID: "a0000000000000000000000000000001", Name: "admin", Password: Password, Project: web(), Roles: []string{"admin", "member", "reader"}},
		{ID: "a0000000000000000000000000000002", Name: "alice", Password: Password, Project: web(), Roles: []string{"member", "reader"}},
		{ID: "a0000000000000000000000000000003", Name: "driftd", Credential: Credential, Secret: Secret, Project: web(), Roles: []string{"reader"}},
		{ID: "a0000000000000000000000000000004", Name: "odd", Password: Password, Project: web(), Roles: []string{"billing"}},
	}
}

// id returns an OpenStack id; kind distinguishes the kinds.
func id(kind, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n) }

const when = "2026-11-20T05:29:18Z"

// A Size is the number of objects of an estate.
type Size struct{ Servers, Ports, Groups, Rules, Networks, Volumes, Images int }

// Small returns an estate with a few objects of each kind, in two projects, with duplicate
// names.
func Small() Estate {
	return Sized(Size{Servers: 3, Ports: 5, Groups: 3, Rules: 7, Networks: 2, Volumes: 2, Images: 2})
}

// Town returns the estate of a team: 1,000 rules, 200 ports, 100 servers.
func Town() Estate {
	return Sized(Size{Servers: 100, Ports: 200, Groups: 50, Rules: 1000, Networks: 10, Volumes: 50, Images: 20})
}

// City returns an estate with 10,000 rules.
func City() Estate {
	return Sized(Size{Servers: 500, Ports: 1000, Groups: 500, Rules: 10_000, Networks: 50, Volumes: 300, Images: 50})
}

// Sized returns an estate of a size. All objects belong to project web, except the last server,
// network, group and image, which belong to the other project.
func Sized(n Size) Estate {
	e := Estate{Accounts: accounts(), Regions: []string{"RegionOne"}, Microversion: "2.93", Lists: map[string][]Row{}, Actions: map[string][]Row{}}
	e.compute(n)
	e.network(n)
	for i := range n.Volumes {
		e.add(Volumes, volume(i, n))
	}
	for i := range n.Images {
		e.add(Images, image(i, owner(i, n.Images)))
	}
	e.Lists[Images][0]["os_hidden"] = n.Images > 1
	return e
}

func (e *Estate) add(path string, row Row) { e.Lists[path] = append(e.Lists[path], row) }

// owner returns the project of object i of n.
func owner(i, n int) string {
	if n > 1 && i == n-1 {
		return other().ID
	}
	return web().ID
}
