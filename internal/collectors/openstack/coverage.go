package openstack

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A sight is what the token lets see. Services answer a list with what they let
// its roles see and call it a success: an empty list proves nothing by itself.
type sight struct {
	config        Config
	project, user string
	name, roles   string
	admin, known  bool
	// all tells that every project is read.
	all bool
}

// readers are the roles that see all of a project by the services' own policies.
func readers() []string { return []string{"admin", "manager", "member", "_member_", "reader"} }

func newSight(config Config, g grant) sight {
	s := sight{config: config, project: g.Project.ID, user: g.User.ID, name: httpclient.Printable(g.Project.Name)}
	var names []string
	for _, role := range g.Roles {
		name := strings.ToLower(role.Name)
		s.admin = s.admin || name == "admin"
		s.known = s.known || slices.Contains(readers(), name)
		names = append(names, httpclient.Printable(role.Name))
	}
	slices.Sort(names)
	s.roles = cmp.Or(strings.Join(names, ", "), "none")
	s.all = config.AllProjects && s.admin
	return s
}

// query asks a list for the objects of the project, or of all.
func (s sight) query(k *normalize.Kind) url.Values {
	switch {
	case k.Belongs != normalize.ToProject:
		return nil
	case !s.all && k.Service == normalize.Networking:
		return url.Values{"project_id": {s.project}}
	case !s.all && k.Service == normalize.Imaging:
		return url.Values{"owner": {s.project}}
	case s.all && k.Name == normalize.ServerGroup:
		return url.Values{"all_projects": {"True"}}
	case s.all && (k.Service == normalize.Compute || k.Service == normalize.BlockStorage):
		return url.Values{"all_tenants": {"True"}}
	}
	// Nova and Cinder give a project's own, Neutron and Glance an administrator
	// everything.
	return nil
}

// A part is a place and why it was not fully seen; "" when it was.
type part struct {
	place, reason string
	skipped       bool
}

// parts says which places of a kind's list were seen.
func (s sight) parts(k *normalize.Kind) []part {
	unknown := ""
	if !s.known {
		unknown = fmt.Sprintf("the token has the roles %s, which may be shown less than there is: give the user the role reader in project %s", s.roles, s.name)
	}
	switch k.Belongs {
	case normalize.ToUser:
		return s.keypairs(unknown)
	case normalize.ToNobody:
		if s.admin {
			return []part{{}}
		}
		return []part{{"", "a token without the role admin sees what is public, and no more", true}}
	case normalize.ToProject:
	}
	own := part{s.project, unknown, false}
	switch {
	case s.all:
		return []part{{}}
	case s.config.AllProjects:
		return []part{own, {"", fmt.Sprintf("the token sees project %s alone: all_projects needs the role admin", s.name), false}}
	}
	return []part{own, {"", fmt.Sprintf("only project %s is read: set all_projects", s.name), true}}
}

// keypairs are the token's user's own. Claims name no user; whether they mean
// this one, the operator knows.
func (s sight) keypairs(unknown string) []part {
	own := []part{{s.user, unknown, false}}
	if s.config.SameUser {
		own = append(own, part{s.project, unknown, false})
	}
	return append(own, part{"", "only the keypairs of the user who reads are seen: set same_user where declarations are applied as this user", true})
}

// coverage says of each kind what was fully read.
func (l *look) coverage() []model.Coverage {
	var all []model.Coverage
	for _, k := range l.kinds {
		parts := l.sight.parts(k)
		if g, ok := l.gaps[k.Name]; ok {
			parts = []part{{"", g.reason, g.skipped}}
		}
		for _, p := range parts {
			all = append(all, model.Coverage{Source: l.env.Name, Kind: k.Name, Place: p.place, Complete: p.reason == "", Skipped: p.skipped, Reason: p.reason})
		}
	}
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}
