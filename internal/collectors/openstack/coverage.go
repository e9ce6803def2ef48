package openstack

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// visibility is the set of objects that the token may read. Services answer a list with the
// visible objects only, with status 200: an empty list by itself does not prove absence.
type visibility struct {
	config        Config
	project, user string
	name, roles   string
	admin, known  bool
	// all reports whether every project is read.
	all bool
}

// readers returns the roles that may read all of a project by the services' default policies.
func readers() []string { return []string{"admin", "manager", "member", "_member_", "reader"} }

func newVisibility(config Config, g openstackapi.Grant) visibility {
	s := visibility{config: config, project: g.Project.ID, user: g.User.ID, name: printable.Text(g.Project.Name)}
	var names []string
	for _, role := range g.Roles {
		name := strings.ToLower(role.Name)
		s.admin = s.admin || name == "admin"
		s.known = s.known || slices.Contains(readers(), name)
		names = append(names, printable.Text(role.Name))
	}
	slices.Sort(names)
	s.roles = cmp.Or(strings.Join(names, ", "), "none")
	s.all = config.AllProjects && s.admin
	return s
}

// query returns the query parameters for the objects of the project, or of all projects.
func (s visibility) query(k *normalize.Kind) url.Values {
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
	// By default Nova and Cinder return the project's objects, and Neutron and Glance return all
	// objects to an administrator.
	return nil
}

// A placeCoverage is a place, with the reason why it was not fully read; "" if it was.
type placeCoverage struct {
	place, reason string
	skipped       bool
}

// places returns the places of a kind's list that were read.
func (s visibility) places(k *normalize.Kind) []placeCoverage {
	unknown := ""
	if !s.known {
		unknown = fmt.Sprintf("the token has the roles %s, which may not see every object: give the user the role reader in project %s", s.roles, s.name)
	}
	switch k.Belongs {
	case normalize.ToUser:
		return s.keypairs(unknown)
	case normalize.ToNone:
		if s.admin {
			return []placeCoverage{{}}
		}
		return []placeCoverage{{"", "a token without the role admin sees public objects only", true}}
	case normalize.ToProject:
	}
	own := placeCoverage{s.project, unknown, false}
	switch {
	case s.all:
		return []placeCoverage{{}}
	case s.config.AllProjects:
		return []placeCoverage{own, {"", fmt.Sprintf("the token sees only project %s: all_projects requires the role admin", s.name), false}}
	}
	return []placeCoverage{own, {"", fmt.Sprintf("only project %s is read: set all_projects", s.name), true}}
}

// keypairs returns the coverage of keypairs: those of the token's user. Claims name no user, so
// the setting same_user decides whether they mean this one.
func (s visibility) keypairs(unknown string) []placeCoverage {
	own := []placeCoverage{{s.user, unknown, false}}
	if s.config.SameUser {
		own = append(own, placeCoverage{s.project, unknown, false})
	}
	return append(own, placeCoverage{"", "only the keypairs of the token's user are visible: set same_user if declarations are applied as this user", true})
}

// coverage returns the coverage of each kind and place.
func (sc *scan) coverage() []model.Coverage {
	var all []model.Coverage
	for _, k := range sc.kinds {
		places := sc.visibility.places(k)
		if g, ok := sc.gaps[k.Name]; ok {
			places = []placeCoverage{{"", g.reason, g.skipped}}
		}
		for _, p := range places {
			all = append(all, model.Coverage{Source: sc.env.Name, Kind: k.Name, Place: p.place, Complete: p.reason == "", Skipped: p.skipped, Reason: p.reason})
		}
	}
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}
