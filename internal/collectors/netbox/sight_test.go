package netbox

import (
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// may is a permission to view some models, of a user or a group.
func may(user, group int64, bound bool, models ...string) permission {
	p := permission{models: models, bound: bound}
	if user > 0 {
		p.users = []int64{user}
	}
	if group > 0 {
		p.groups = []int64{group}
	}
	return p
}

func TestSight(t *testing.T) {
	t.Parallel()
	const perms, site, tag = normalize.Permission, "dcim.site", "extras.tag"
	driftd := account{known: true, id: 8, groups: []int64{3}, permissions: []int64{1}}
	for _, tc := range []struct {
		reason string
		who    account
		given  []permission
		// whole tells of sites and of tags whether all are seen.
		sites, tags bool
	}{
		{"all of both", driftd, []permission{may(8, 0, false, perms, site, tag)}, true, true},
		{"a part of the tags", driftd, []permission{may(8, 0, false, perms, site), may(8, 0, true, tag)}, true, false},
		{"what one permission binds another gives", driftd, []permission{may(8, 0, true, site, tag), may(8, 0, false, tag)}, false, true},
		{"through a group", driftd, []permission{may(0, 3, false, site)}, true, false},
		{"through another group", driftd, []permission{may(0, 4, false, site)}, false, false},
		{"of another user", driftd, []permission{may(9, 0, false, site)}, false, false},
		{"a superuser", account{known: true, id: 1}, []permission{may(8, 0, true, perms, site)}, true, true},
		{"somebody with a permission that hides itself", account{known: true, id: 8, permissions: []int64{1}}, nil, false, false},
		{"somebody whose group's permissions may hide themselves", account{known: true, id: 8, groups: []int64{3}}, nil, false, false},
		{"nobody says who: the one who may read permissions", account{}, []permission{may(8, 0, false, perms, site), may(9, 0, true, tag)}, true, false},
		{"nobody says who: both of two see it", account{}, []permission{may(8, 0, false, perms, site), may(0, 2, false, perms, site, tag)}, true, false},
		{"nobody says who: one of two does not", account{}, []permission{may(8, 0, false, perms, site, tag), may(9, 0, false, perms), may(9, 0, true, site)}, false, false},
		{"nobody says who, and permissions are bound", account{}, []permission{may(8, 0, true, perms), may(8, 0, false, site)}, true, false},
		{"nobody says who, and nobody may: a superuser", account{}, []permission{may(8, 0, false, site)}, true, true},
		{"nobody says who, twice the same", account{}, []permission{may(8, 0, false, perms, site), may(8, 0, false, perms, site)}, true, false},
	} {
		for i := range tc.given {
			tc.given[i].id = int64(i + 1)
		}
		s := sightOfUser(tc.who, tc.given)
		if !tc.who.known {
			s = sightOfAny(tc.given, people{read: true, users: 2, given: []int64{1}})
		}
		if got := s.unseen(site) == ""; got != tc.sites {
			t.Errorf("%s: sees all sites %v, want %v", tc.reason, got, tc.sites)
		}
		if got := s.unseen(tag) == ""; got != tc.tags {
			t.Errorf("%s: sees all tags %v, want %v", tc.reason, got, tc.tags)
		}
	}
}

func TestSightOfNobody(t *testing.T) {
	t.Parallel()
	full, site := may(8, 0, false, normalize.Permission, "dcim.site"), may(9, 0, true, "dcim.site")
	full.id, site.id = 1, 2
	for _, tc := range []struct {
		reason string
		given  []permission
		around people
		want   bool
	}{
		{"somebody may read permissions", []permission{full, site}, people{}, true},
		{"and no other is named", []permission{full, site}, people{read: true, users: 3, given: []int64{2, 1}}, true},
		{"somebody names one that is hidden: it may be the token's own", []permission{full}, people{read: true, users: 3, given: []int64{1, 2}}, false},
		{"nobody may read permissions: a superuser", []permission{site}, people{read: true, users: 1, given: []int64{2}}, true},
		{"no superuser sees no user", nil, people{read: true}, false},
		{"no superuser is refused users", nil, people{users: 1}, false},
	} {
		if got := sightOfAny(tc.given, tc.around).unseen("dcim.site"); (got == "") != tc.want {
			t.Errorf("%s: %q, want all to be seen: %v", tc.reason, got, tc.want)
		}
	}
}

func TestNothingIsForbiddenToASuperuser(t *testing.T) {
	t.Parallel()
	e := netboxtest.Small()
	e.Account["permissions"] = []netboxtest.Row{}
	delete(e.Lists, "users/permissions")
	if c := covered(t, collect(t, newServer(e)), "dcim.site"); !c.Complete {
		t.Errorf("a superuser does not see all: %s", c.Reason)
	}
	e.Denied = []string{"ipam/vrfs"}
	if c := covered(t, collect(t, newServer(e)), "dcim.site"); c.Complete {
		t.Error("somebody who is refused a list is taken for a superuser")
	}
}

func TestPermissionsThatLetNobodyLook(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, field string
		value         any
		looks, bound  bool
	}{
		{"as it is", "id", 1, true, false},
		{"disabled", "enabled", false, false, false},
		{"to change alone", "actions", []string{"add", "change"}, false, false},
		{"with constraints", "constraints", netboxtest.Row{"name": "a"}, true, true},
		{"with no constraint at all", "constraints", netboxtest.Row{}, true, false},
		{"with a list of constraints", "constraints", []netboxtest.Row{{"name": "a"}, {"name": "b"}}, true, true},
		{"of which one asks for nothing", "constraints", []netboxtest.Row{{"name": "a"}, {}}, true, false},
		{"with an empty list, which is not known to mean nothing", "constraints", []netboxtest.Row{}, true, true},
	} {
		e := netboxtest.Small()
		row := e.Lists["users/permissions"].Rows[0]
		row[tc.field] = tc.value
		s := collect(t, newServer(e))
		c := covered(t, s, "dcim.site")
		if c.Complete != (tc.looks && !tc.bound) {
			t.Errorf("%s: covered %v: %s", tc.reason, c.Complete, c.Reason)
		}
	}
}

func TestWeakTokens(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Weak())
	s := collect(t, server)
	if len(s.Resources) == 0 {
		t.Fatal("nothing was read")
	}
	for _, c := range s.Coverage {
		if c.Complete || c.Reason == "" {
			t.Errorf("%s is complete, or gives no reason: %q", c.Kind, c.Reason)
		}
	}
	wantIn(t, covered(t, s, "virtualization.virtualmachine").Reason, "constraints", "grant view on virtualization.virtualmachine without constraints")
	wantIn(t, covered(t, s, "extras.tag").Reason, "may not read it", "grant view on extras.tag")
	wantIn(t, covered(t, s, "vpn.tunnel").Reason, "no permission says", "grant view on vpn.tunnel")
}

func TestTokensOfWhichNothingIsKnown(t *testing.T) {
	t.Parallel()
	forbidden := faults.Status(403, `{"detail":"You do not have permission to perform this action."}`)
	for _, tc := range []struct {
		reason, path string
		fault        faults.Fault
	}{
		{"permissions may not be read", "users/permissions", forbidden},
		{"permissions are not there", "users/permissions", faults.Status(404, "<html>")},
		{"permissions break", "users/permissions", faults.Status(500, "")},
		{"who asks is not said", "authentication-check", faults.Status(500, "")},
		{"who asks is nobody", "authentication-check", faults.Status(200, "{}")},
	} {
		server := newServer(netboxtest.Small())
		server.Break(tc.path, tc.fault)
		s := collect(t, server)
		c := covered(t, s, "virtualization.virtualmachine")
		if c.Complete || c.Skipped || len(s.Resources) == 0 {
			t.Errorf("%s: %+v", tc.reason, c)
		}
		wantIn(t, c.Reason, "what the token may see is not known", "grant view on users.objectpermission", "unrestricted: true")
		s = collect(t, server, func(c *Config) { c.Unrestricted = true })
		if !covered(t, s, "virtualization.virtualmachine").Complete {
			t.Errorf("%s: the operator's word does not count", tc.reason)
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	server := newServer(netboxtest.Small())
	server.Break("dcim/sites", faults.Status(403, `{"detail":"You do not have permission to perform this action."}`))
	p, err := listen(t, server, func(c *Config) { c.ExcludeKinds = []string{"netbox/users.*"} }).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "4.6.8" || p.Identity != "driftd" || len(p.Coverage) != len(normalize.Kinds()) {
		t.Errorf("Probe() = %s %s with %d kinds", p.Version, p.Identity, len(p.Coverage))
	}
	snapshot := model.Snapshot{Coverage: p.Coverage}
	if !covered(t, snapshot, "virtualization.virtualmachine").Complete || covered(t, snapshot, "dcim.site").Complete || !covered(t, snapshot, "users.group").Skipped {
		t.Errorf("coverage %+v", p.Coverage)
	}
	for _, asked := range server.Requests("virtualization/virtual-machines") {
		if asked.Query().Get("limit") != "1" || asked.Query().Get("fields") != "id" {
			t.Errorf("a probe asks %s", asked)
		}
	}
	if len(server.Requests("core/object-changes")) > 0 {
		t.Error("a probe reads the changelog")
	}
	older := netboxtest.Small()
	older.Version, older.Account = "4.4.1", nil
	if p, err = listen(t, newServer(older)).Probe(t.Context()); err != nil || p.Identity != "driftd, by its permissions" {
		t.Errorf("Probe() before 4.5 = %q, error %v", p.Identity, err)
	}
	older.Denied = []string{"users/permissions"}
	if p, err = listen(t, newServer(older)).Probe(t.Context()); err != nil || p.Identity != "the owner of the token, whom this version does not name" {
		t.Errorf("Probe() of nobody = %q, error %v", p.Identity, err)
	}
	if _, err = listen(t, http.NotFoundHandler()).Probe(t.Context()); err == nil {
		t.Error("Probe() of something else gives an answer")
	}
}
