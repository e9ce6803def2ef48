package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An IdentityKind is the kind of system that issued an identity.
type IdentityKind string

// The kinds of identities: a user of the daemon's host; a user name in the users file, in web_config_file,
// in a client certificate or from the proxy; a name from the OpenID provider; the ID of a member of a Slack
// workspace; a user name in the audit logs of Kubernetes API servers; and a user of Proxmox VE with the realm.
const (
	UnixUser       IdentityKind = "unix"
	LoginName      IdentityKind = "login"
	OIDCName       IdentityKind = "oidc"
	SlackMember    IdentityKind = "slack"
	KubernetesUser IdentityKind = "kubernetes"
	ProxmoxUser    IdentityKind = "proxmox"
)

// An Identity identifies a user in one system. The ID of a UnixUser is a name or a decimal user ID.
type Identity struct {
	Kind IdentityKind
	ID   string
}

// String returns the kind and the ID: "unix:root".
func (i Identity) String() string { return string(i.Kind) + ":" + i.ID }

// The user IDs that identify no person: the superuser, whom several people can become, the
// overflow ID, which the kernel reports for users that it cannot map, and the invalid ID.
const (
	rootUID     = 0
	overflowUID = 65534
	invalidUID  = 1<<32 - 1
)

// IsPersonal reports whether a user ID can belong to a single person.
func IsPersonal(uid uint32) bool { return uid != rootUID && uid != overflowUID && uid != invalidUID }

// UnixIdentities returns the identities of a user of this host. name is "" if it is unknown. For a user ID
// that is not personal, the result is one identity, for which Check returns an error.
func UnixIdentities(uid uint32, name string) []Identity {
	id := Identity{UnixUser, strconv.FormatUint(uint64(uid), 10)}
	switch {
	case uid == rootUID:
		return []Identity{{UnixUser, "root"}}
	case !IsPersonal(uid) || name == "" || isNumber(name):
		return []Identity{id}
	}
	return []Identity{{UnixUser, name}, id}
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// Check returns an error if the identity cannot belong to a single person.
func (i Identity) Check() error {
	switch {
	case !clean(i.ID):
		return fmt.Errorf("want at most %d bytes of printable text", maxName)
	case i.Kind == UnixUser:
		return checkUnix(i.ID)
	case i.Kind == SlackMember && !isMember(i.ID):
		return errors.New(`want a member ID, such as U0123456789; use "Copy member ID" in a member's profile`)
	case i.Kind == ProxmoxUser:
		return checkProxmox(i.ID)
	}
	return nil
}

// checkUnix validates the name or the user ID of a user.
func checkUnix(user string) error {
	if user == "root" || user == "nobody" {
		return fmt.Errorf("%s is not one person: name the user who logs in, sudo keeps it", user)
	}
	if !isNumber(user) {
		return nil
	}
	uid, err := strconv.ParseUint(user, 10, 32)
	switch {
	case err != nil || strconv.FormatUint(uid, 10) != user:
		return errors.New("want a user name, or a user ID without leading zeros")
	case !IsPersonal(uint32(uid)):
		return fmt.Errorf("the user ID %d is not one person: name the user who logs in, sudo keeps it", uid)
	}
	return nil
}

// checkProxmox validates a user of Proxmox VE.
func checkProxmox(user string) error {
	at := strings.LastIndex(user, "@")
	switch {
	case strings.Contains(user, "!"):
		return errors.New("want a user, such as alice@pam, without the name of a token: the tokens of a user count as the user")
	case at <= 0 || at == len(user)-1:
		return errors.New("want a user with the realm, such as alice@pam")
	}
	return nil
}

// isMember reports whether a text has the form of the ID of a Slack member.
func isMember(id string) bool {
	return len(id) > 2 && strings.ContainsRune("UW", rune(id[0])) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// A Person has a name, and at most one identity of each kind. An identity is "" if the person has none of
// its kind.
type Person struct{ Name, Unix, Login, OIDC, Slack, Kubernetes, Proxmox string }

// CheckPersonName returns an error if name is not a valid name of a person. It must not contain colons or
// parentheses, which occur in the names of identities that belong to no person.
func CheckPersonName(name string) error {
	if !clean(name) || strings.ContainsAny(name, ":()") {
		return fmt.Errorf("want at most %d bytes of printable text without colons and parentheses", maxName)
	}
	if slices.Contains([]string{"root", "nobody", "driftd", "unknown", onThisHost}, name) {
		return errors.New("driftd records this name for others: choose another")
	}
	return nil
}

// onThisHost is the name of visitors on a loopback address who are not logged in.
const onThisHost = "somebody on this host"

// Identities returns the identities of the person, in the order of the fields.
func (p Person) Identities() []Identity {
	var set []Identity
	for _, id := range []Identity{{UnixUser, p.Unix}, {LoginName, p.Login}, {OIDCName, p.OIDC}, {SlackMember, p.Slack}, {KubernetesUser, p.Kubernetes}, {ProxmoxUser, p.Proxmox}} {
		if id.ID != "" {
			set = append(set, id)
		}
	}
	return set
}

// People maps identities to the names of persons. It is immutable. A nil *People is empty.
type People struct{ names map[Identity]string }

// NewPeople returns the table of the persons in list, whose names and identities must be distinct.
func NewPeople(list []Person) *People {
	p := &People{names: map[Identity]string{}}
	for _, person := range list {
		for _, id := range person.Identities() {
			p.names[id] = person.Name
		}
	}
	return p
}

// Find returns the name of the person who has one of the identities, which must all belong to the same
// user. It returns "" if there is no such person, or if the identities belong to different persons.
func (p *People) Find(ids ...Identity) string {
	if p == nil {
		return ""
	}
	found := ""
	for _, id := range ids {
		name := p.names[id]
		if found != "" && name != "" && name != found {
			return ""
		}
		if name != "" {
			found = name
		}
	}
	return found
}

// Identities returns the identities of a person in the form "kind:ID", sorted.
func (p *People) Identities(person string) (ids []string) {
	if p == nil || person == "" {
		return nil
	}
	for id, name := range p.names {
		if name == person {
			ids = append(ids, id.String())
		}
	}
	slices.Sort(ids)
	return ids
}

// Recognize returns v with the person who has one of the identities. If there is none, and the table is not
// empty, it sets Unmapped to the first identity.
func (p *People) Recognize(v Visitor, ids ...Identity) Visitor {
	v.Person, v.Unmapped = p.Find(ids...), ""
	if v.Person == "" && p != nil && len(p.names) > 0 {
		v.Unmapped = ids[0].String()
	}
	return v
}
