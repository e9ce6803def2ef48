package netbox

import (
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// may returns a permission to view models, of a user or a group.
func may(user, group int64, constrained bool, models ...string) permission {
	p := permission{models: models, constrained: constrained}
	if user > 0 {
		p.users = []int64{user}
	}
	if group > 0 {
		p.groups = []int64{group}
	}
	return p
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	const perms, site, tag = normalize.Permission, "dcim.site", "extras.tag"
	driftd := account{known: true, id: 8, groups: []int64{3}, permissions: []int64{1}}
	for _, tc := range []struct {
		reason      string
		who         account
		permissions []permission
		// sites and tags report whether all of them are visible.
		sites, tags bool
	}{
		{"all of both", driftd, []permission{may(8, 0, false, perms, site, tag)}, true, true},
		{"a part of the tags", driftd, []permission{may(8, 0, false, perms, site), may(8, 0, true, tag)}, true, false},
		{"a permission without constraints lifts another's", driftd, []permission{may(8, 0, true, site, tag), may(8, 0, false, tag)}, false, true},
		{"through a group", driftd, []permission{may(0, 3, false, site)}, true, false},
		{"through another group", driftd, []permission{may(0, 4, false, site)}, false, false},
		{"of another user", driftd, []permission{may(9, 0, false, site)}, false, false},
		{"a superuser", account{known: true, id: 1}, []permission{may(8, 0, true, perms, site)}, true, true},
		{"a user with a permission that hides itself", account{known: true, id: 8, permissions: []int64{1}}, nil, false, false},
		{"a user whose group's permissions may hide themselves", account{known: true, id: 8, groups: []int64{3}}, nil, false, false},
		{"unknown user: the only one with the right to read permissions", account{}, []permission{may(8, 0, false, perms, site), may(9, 0, true, tag)}, true, false},
		{"unknown user: visible to both candidates", account{}, []permission{may(8, 0, false, perms, site), may(0, 2, false, perms, site, tag)}, true, false},
		{"unknown user: hidden from one candidate", account{}, []permission{may(8, 0, false, perms, site, tag), may(9, 0, false, perms), may(9, 0, true, site)}, false, false},
		{"unknown user: permissions with constraints", account{}, []permission{may(8, 0, true, perms), may(8, 0, false, site)}, true, false},
		{"unknown user: no grantee, so a superuser", account{}, []permission{may(8, 0, false, site)}, true, true},
		{"unknown user: the same permission twice", account{}, []permission{may(8, 0, false, perms, site), may(8, 0, false, perms, site)}, true, false},
	} {
		for i := range tc.permissions {
			tc.permissions[i].id = int64(i + 1)
		}
		s := visibilityOfUser(tc.who, tc.permissions)
		if !tc.who.known {
			s = visibilityOfUnknownUser(tc.permissions, members{read: true, users: 2, permissions: []int64{1}})
		}
		if got := s.restriction(site) == ""; got != tc.sites {
			t.Errorf("%s: sees all sites %v, want %v", tc.reason, got, tc.sites)
		}
		if got := s.restriction(tag) == ""; got != tc.tags {
			t.Errorf("%s: sees all tags %v, want %v", tc.reason, got, tc.tags)
		}
	}
}

func TestVisibilityOfUnknownUser(t *testing.T) {
	t.Parallel()
	full, site := may(8, 0, false, normalize.Permission, "dcim.site"), may(9, 0, true, "dcim.site")
	full.id, site.id = 1, 2
	for _, tc := range []struct {
		reason      string
		permissions []permission
		members     members
		want        bool
	}{
		{"a user may read permissions", []permission{full, site}, members{}, true},
		{"no other permission is named", []permission{full, site}, members{read: true, users: 3, permissions: []int64{2, 1}}, true},
		{"a user names a hidden permission: it may be the token's own", []permission{full}, members{read: true, users: 3, permissions: []int64{1, 2}}, false},
		{"no user may read permissions: a superuser", []permission{site}, members{read: true, users: 1, permissions: []int64{2}}, true},
		{"not a superuser: it sees no user", nil, members{read: true}, false},
		{"not a superuser: users are forbidden", nil, members{users: 1}, false},
	} {
		if got := visibilityOfUnknownUser(tc.permissions, tc.members).restriction("dcim.site"); (got == "") != tc.want {
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
		t.Error("a user who is denied a list counts as a superuser")
	}
}

func TestPermissionsWithoutView(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, field        string
		value                any
		canView, constrained bool
	}{
		{"as it is", "id", 1, true, false},
		{"disabled", "enabled", false, false, false},
		{"to change alone", "actions", []string{"add", "change"}, false, false},
		{"with constraints", "constraints", netboxtest.Row{"name": "a"}, true, true},
		{"with no constraint at all", "constraints", netboxtest.Row{}, true, false},
		{"with a list of constraints", "constraints", []netboxtest.Row{{"name": "a"}, {"name": "b"}}, true, true},
		{"one of them is empty", "constraints", []netboxtest.Row{{"name": "a"}, {}}, true, false},
		{"with an empty list, whose meaning is not documented", "constraints", []netboxtest.Row{}, true, true},
	} {
		e := netboxtest.Small()
		row := e.Lists["users/permissions"].Rows[0]
		row[tc.field] = tc.value
		s := collect(t, newServer(e))
		c := covered(t, s, "dcim.site")
		if c.Complete != (tc.canView && !tc.constrained) {
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
	wantIn(t, covered(t, s, "vpn.tunnel").Reason, "no permission of the token covers all of it", "grant view on vpn.tunnel")
}

func TestTokensWithUnknownPermissions(t *testing.T) {
	t.Parallel()
	forbidden := faults.Status(403, `{"detail":"You do not have permission to perform this action."}`)
	for _, tc := range []struct {
		reason, path string
		fault        faults.Fault
	}{
		{"permissions are forbidden", "users/permissions", forbidden},
		{"permissions are not found", "users/permissions", faults.Status(404, "<html>")},
		{"permissions with an internal error", "users/permissions", faults.Status(500, "")},
		{"the account with an internal error", "authentication-check", faults.Status(500, "")},
		{"the account without a user", "authentication-check", faults.Status(200, "{}")},
	} {
		server := newServer(netboxtest.Small())
		server.Break(tc.path, tc.fault)
		s := collect(t, server)
		c := covered(t, s, "virtualization.virtualmachine")
		if c.Complete || c.Skipped || len(s.Resources) == 0 {
			t.Errorf("%s: %+v", tc.reason, c)
		}
		wantIn(t, c.Reason, "the permissions of the token are not known", "grant view on users.objectpermission", "unrestricted: true")
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
	if p, err = listen(t, newServer(older)).Probe(t.Context()); err != nil || p.Identity != "the owner of the token (this version does not return the name)" {
		t.Errorf("Probe() of an unknown user = %q, error %v", p.Identity, err)
	}
	if _, err = listen(t, http.NotFoundHandler()).Probe(t.Context()); err == nil {
		t.Error("Probe() of something else gives an answer")
	}
}

// TestPermissionsThatShrink has permissions that hide objects when the first list was read: the lists do not prove that an
// object is absent.
func TestPermissionsThatShrink(t *testing.T) {
	t.Parallel()
	whole := []string{"users.objectpermission", "extras.customfield", "core.objectchange", "virtualization.virtualmachine", "ipam.ipaddress"}
	grant := func(constraints netboxtest.Row) netboxtest.List {
		return netboxtest.List{Rows: []netboxtest.Row{netboxtest.Permission(1, 8, nil, whole[:4]...), netboxtest.Permission(2, 8, constraints, whole[4])}}
	}
	for _, shrinks := range []bool{false, true} {
		e := netboxtest.Small()
		e.Lists["users/permissions"] = grant(nil)
		server := newServer(e)
		if shrinks {
			server.EditAfter("extras/custom-fields", 1, func(e *netboxtest.Estate) {
				e.Lists["users/permissions"] = grant(netboxtest.Row{"tenant__slug": "payments"})
				e.Hidden = func(path string, row netboxtest.Row) bool { return path == "ipam/ip-addresses" && row["id"] == 5 }
			})
		}
		s := collect(t, server)
		if covered, reason := s.Covers("netbox/ipam.ipaddress", ""); covered == shrinks {
			t.Errorf("permissions shrink: %v, and the addresses are covered: %v (%s)", shrinks, covered, reason)
		}
		if covered, reason := s.Covers("netbox/virtualization.virtualmachine", ""); !covered {
			t.Errorf("permissions shrink: %v, and the virtual machines are not covered: %s", shrinks, reason)
		}
	}
}
