package openstack

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// seen is the expected coverage of a kind in a place.
type seen struct {
	kind, place, reason string
	skipped             bool
}

func TestCoverageByToken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, cloud string
		change        func(*Config)
		want          []seen
	}{
		"member": {reason: "one project, and no other", cloud: "member", want: []seen{
			{kind: "server", place: project},
			{kind: "server", reason: "only project web is read: set all_projects", skipped: true},
			{kind: "flavor", reason: "a token without the role admin sees public objects only", skipped: true},
			{kind: "keypair", place: "a0000000000000000000000000000002"},
			{kind: "keypair", reason: "set same_user", skipped: true},
		}},
		"admin": {reason: "an administrator reads one project by default, too", cloud: "admin", want: []seen{
			{kind: "port", place: project},
			{kind: "port", reason: "set all_projects", skipped: true},
			{kind: "flavor"},
		}},
		"all": {reason: "every project", cloud: "admin", change: func(c *Config) { c.AllProjects, c.SameUser = true, true }, want: []seen{
			{kind: "server"}, {kind: "image"}, {kind: "security_group_rule"}, {kind: "keypair", place: project},
		}},
		"all for a member": {reason: "objects that are not visible count as unread", cloud: "member", change: func(c *Config) { c.AllProjects = true }, want: []seen{
			{kind: "server", place: project},
			{kind: "server", reason: "the token sees only project web: all_projects requires the role admin"},
		}},
		"odd": {reason: "an empty list proves nothing with an unknown role", cloud: "odd", want: []seen{
			{kind: "server", place: project, reason: "the token has the roles billing"},
		}},
		"excluded": {reason: "left out on purpose", cloud: "member", change: func(c *Config) { c.ExcludeKinds = []string{"openstack/security_*", "image"} }, want: []seen{
			{kind: "security_group", reason: "left out by exclude_kinds", skipped: true},
			{kind: "image", reason: "left out by exclude_kinds", skipped: true},
			{kind: "port", place: project},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*Config)
			if tc.change != nil {
				changes = append(changes, tc.change)
			}
			s := collect(t, newServer(t, openstacktest.Small()), tc.cloud, changes...)
			for _, w := range tc.want {
				c := covered(t, s, w.kind, w.place)
				if c.Complete != (w.reason == "") || c.Skipped != w.skipped || !strings.Contains(c.Reason, w.reason) {
					t.Errorf("%+v, want %+v: %s", c, w, tc.reason)
				}
			}
			for _, r := range s.Resources {
				if tc.change == nil && r.Place != "" && r.Place != project && r.Kind != Type+"/keypair" {
					t.Errorf("%s is of project %s: %s", r.Key, r.Place, tc.reason)
				}
			}
			if s.Home != project {
				t.Errorf("home is %q", s.Home)
			}
		})
	}
}

// firstProject returns the project of the accounts of the fake cloud.
func firstProject() openstacktest.Project { return openstacktest.Small().Accounts[0].Project }

// TestOtherScope checks that a source is not read with a token of another project than before, or from another region, until
// the setting names it.
func TestOtherScope(t *testing.T) {
	t.Parallel()
	other := openstacktest.Project{ID: "b0000000000000000000000000000009", Name: "shop"}
	estate := openstacktest.Small()
	estate.Regions = []string{"east", "west"}
	server := newServer(t, estate)
	move := func(to openstacktest.Project) {
		server.Edit(func(e *openstacktest.Estate) {
			e.Accounts = slices.Clone(e.Accounts)
			for i := range e.Accounts {
				e.Accounts[i].Project = to
			}
		})
	}
	dir := t.TempDir()
	read := func(cloud, region, project string, change func(*Config)) error {
		c := drainBus(t, server, cloud, func(c *Config) { change(c) })
		c.project, c.region = pinned.New("project", dir, c.env.Log), pinned.New("region", dir, c.env.Log)
		entry, err := os.ReadFile(c.config.CloudsFile)
		if err == nil {
			text := strings.NewReplacer(": {auth: ", ": {region_name: "+region+", auth: ", "project_name: web", "project_name: "+project).Replace(string(entry))
			err = os.WriteFile(c.config.CloudsFile, []byte(text), 0o600)
		}
		if err == nil {
			_, err = c.Collect(t.Context())
		}
		return err
	}
	for _, step := range []struct {
		reason, cloud, region string
		to                    openstacktest.Project
		change                func(*Config)
		want                  []string
	}{
		{"the first scan", "member", "east", firstProject(), func(*Config) {}, nil},
		{"the same", "member", "east", firstProject(), func(*Config) {}, nil},
		{"another project", "member", "east", other, func(*Config) {}, []string{"the scan would read project shop (" + other.ID + "), and the last one read " + firstProject().ID, "or set project to the one that is to be read"}},
		{"another region", "member", "west", firstProject(), func(*Config) {}, []string{"the scan would read region west, and the last one read east", "or set region"}},
		{"every project", "admin", "east", other, func(c *Config) { c.AllProjects = true }, nil},
		{"another one than configured", "member", "east", firstProject(), func(c *Config) { c.Project = "shop" }, []string{"and the setting project is shop", "or project"}},
		{"configured by name", "member", "east", other, func(c *Config) { c.Project = "shop" }, nil},
		{"without the setting again", "member", "east", other, func(*Config) {}, nil},
		{"the configured region", "member", "east", other, func(c *Config) { c.Region = "west" }, nil},
	} {
		move(step.to)
		err := read(step.cloud, step.region, step.to.Name, step.change)
		if (err == nil) != (len(step.want) == 0) {
			t.Errorf("%s: %v", step.reason, err)
			continue
		}
		if err != nil {
			wantIn(t, fmt.Sprint(err), step.want...)
		}
	}
}

func TestEverythingIsRead(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]struct {
		page int
		want map[string]int
	}{
		"one page":   {1000, nil},
		"many pages": {2, nil},
		"odd pages":  {3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collect(t, newServer(t, openstacktest.Small()), "admin", func(c *Config) { c.AllProjects, c.PageSize = true, size.page })
			for kind, want := range map[string]int{"server": 3, "port": 5, "security_group": 3, "security_group_rule": 7, "network": 2, "subnet": 2,
				"volume": 2, "image": 2, "flavor": 2, "keypair": 1, "server_group": 4, "router": 1, "floatingip": 1} {
				if got := len(ids(s, kind)); got != want {
					t.Errorf("%d of %s, want %d", got, kind, want)
				}
			}
			if len(s.Kinds) != 13 || s.Version != "Nova 2.93" {
				t.Errorf("%d kinds of %s", len(s.Kinds), s.Version)
			}
		})
	}
}

func TestOneRequestPerPage(t *testing.T) {
	t.Parallel()
	requests := func(estate openstacktest.Estate) int {
		server := newServer(t, estate)
		collect(t, server, "admin")
		return len(server.Requests("/"))
	}
	small, town, city := requests(openstacktest.Small()), requests(openstacktest.Town()), requests(openstacktest.City())
	// Of 1,000 rules the first page is full, and 10,000 are nine pages more.
	if small > 20 || town > small+1 || city > small+12 {
		t.Errorf("%d requests for a small cloud, %d for 1,000 rules, %d for 10,000", small, town, city)
	}
}

func TestTenThousandRules(t *testing.T) {
	t.Parallel()
	s := collect(t, newServer(t, openstacktest.City()), "admin", func(c *Config) { c.AllProjects = true })
	if got := len(ids(s, "security_group_rule")); got != 10_000 {
		t.Errorf("%d rules", got)
	}
}

func TestOldNova(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct {
		says string
		// unsupportedFields are fields of servers, and whether this Nova lacks them.
		unsupportedFields map[string]bool
	}{
		"2.93": {"Nova 2.93", map[string]bool{"tags": false, "description": false, "locked": false}},
		"2.60": {"too old for: flavor extra_specs", map[string]bool{"tags": false, "description": false}},
		"2.25": {"server tags", map[string]bool{"tags": true, "description": false}},
		"2.1":  {"server description, server locked, server tags", map[string]bool{"tags": true, "description": true, "locked": true}},
		"":     {"Keystone v3", map[string]bool{"tags": true}},
	} {
		estate := openstacktest.Small()
		estate.Microversion = version
		s := collect(t, newServer(t, estate), "admin")
		wantIn(t, s.Version, want.says)
		for i := range s.Resources {
			r := &s.Resources[i]
			if r.Kind != Type+"/server" {
				continue
			}
			r.Value = r.Value.Without("tags").Without("description").Without("locked")
			for field, unsupported := range want.unsupportedFields {
				if got := r.UnreadField(field); strings.Contains(got, "Nova returns it since microversion") != unsupported {
					t.Errorf("Nova %s: %s of %s is unread: %q", version, field, r.ID, got)
				}
			}
		}
		if len(ids(s, "server")) != 2 {
			t.Errorf("Nova %s: servers %v", version, ids(s, "server"))
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Town())
	c := drainBus(t, server, "credential")
	p, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, p.Identity, "user driftd", "project web", "roles reader", "application credential driftd-reads")
	wantIn(t, p.Version, "Nova 2.93")
	requests := server.Requests(openstacktest.Rules)
	if len(requests) != 1 {
		t.Errorf("rules were asked for %d times", len(requests))
	}
	for _, u := range requests {
		if u.Query().Get("limit") != "1" {
			t.Errorf("asked for %s", u)
		}
	}
	if len(p.Coverage) == 0 || !strings.HasSuffix(p.Endpoint, "/v3") {
		t.Errorf("%+v", p)
	}
}

func TestGroupDeletedDuringScan(t *testing.T) {
	t.Parallel()
	estate := openstacktest.Small()
	group := estate.Lists[openstacktest.Rules][0]["security_group_id"]
	server := newServer(t, estate)
	server.Edit(func(e *openstacktest.Estate) {
		e.Lists[openstacktest.Groups] = slices.DeleteFunc(e.Lists[openstacktest.Groups], func(r openstacktest.Row) bool { return r["id"] == group })
	})
	s := collect(t, server, "admin")
	unread := slices.ContainsFunc(s.Unread, func(u model.Unread) bool { return u.Kind == Type+"/security_group_rule" })
	if !unread {
		t.Errorf("a rule without its group is compared: %+v", s.Unread)
	}
}

func TestServersOfUnreachableCell(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"2.93": true, "2.69": true, "2.68": false} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			estate := openstacktest.Small()
			estate.Microversion = version
			down := fmt.Sprint(estate.Lists[openstacktest.Servers][1]["id"])
			estate.Down = []string{down}
			server := newServer(t, estate)
			s := collect(t, server, "member")
			if slices.Contains(ids(s, "server"), down) {
				t.Fatal("a server of an unreachable cell was read")
			}
			found := slices.ContainsFunc(s.Unread, func(u model.Unread) bool {
				return u.Kind == Type+"/server" && u.ID == down && strings.Contains(u.Reason, "cell")
			})
			if found != want || len(s.Unread) > 1 {
				t.Errorf("not read: %v", s.Unread)
			}
			isRoll := func(u *url.URL) bool { return u.Path == openstacktest.Roll }
			if requests := slices.ContainsFunc(server.Requests(openstacktest.Roll), isRoll); requests != want {
				t.Errorf("the roll was asked for: %t", requests)
			}
		})
	}
}

func TestPagesThatMove(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		fault  func(*openstacktest.Server) faults.Fault
		rules  int
		want   string
	}{
		"marker gone once": {reason: "the list is read again", rules: 7, fault: func(*openstacktest.Server) faults.Fault {
			gone := faults.Once(faults.Status(404, `{"NeutronError":{"message":"Security group rule could not be found."}}`))
			return onMarker(gone)
		}},
		"marker gone for good": {reason: "three times and no more", want: "the marker of a page was deleted: the next scan reads the list again", fault: func(*openstacktest.Server) faults.Fault {
			return onMarker(faults.Status(400, `{"badRequest":{"message":"marker not found"}}`))
		}},
		"pages that repeat": {reason: "a list without an end is none", want: "its pages repeat", fault: func(*openstacktest.Server) faults.Fault {
			return onMarker(func(server http.Handler, w http.ResponseWriter, r *http.Request) {
				again := r.Clone(r.Context())
				q := again.URL.Query()
				q.Del("marker")
				again.URL.RawQuery = q.Encode()
				server.ServeHTTP(w, again)
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, openstacktest.Small())
			server.Break(openstacktest.Rules, tc.fault(server))
			s := collect(t, server, "admin", func(c *Config) { c.AllProjects, c.PageSize = true, 3 })
			if got := len(ids(s, "security_group_rule")); got != tc.rules {
				t.Errorf("%d rules, want %d: %s", got, tc.rules, tc.reason)
			}
			c := covered(t, s, "security_group_rule", "")
			if c.Complete != (tc.want == "") {
				t.Errorf("%+v: %s", c, tc.reason)
			}
			wantIn(t, c.Reason, tc.want)
		})
	}
}

// onMarker applies a fault to the pages after the first.
func onMarker(f faults.Fault) faults.Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("marker") {
			f(server, w, r)
			return
		}
		server.ServeHTTP(w, r)
	}
}

func TestNextPageStaysOnConfiguredHost(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Small())
	server.Break(openstacktest.Networks, faults.Once(faults.Status(200,
		`{"networks":[],"networks_links":[{"rel":"next","href":"http://elsewhere.example.org/v2.0/networks?marker=x&fields=none"}]}`)))
	s := collect(t, server, "admin")
	if c := covered(t, s, "network", project); !c.Complete || len(ids(s, "network")) == 0 {
		t.Errorf("an empty page that leads on is read anew: %+v", c)
	}
	for _, u := range server.Requests(openstacktest.Networks) {
		if !slices.Contains(u.Query()["fields"], "id") || u.Query().Get("project_id") != project {
			t.Errorf("asked for %s", u)
		}
	}
}

func TestProjectQueries(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Small())
	collect(t, server, "admin", func(c *Config) { c.AllProjects = true })
	for path, want := range map[string]string{openstacktest.Servers: "all_tenants", openstacktest.ServerGroups: "all_projects"} {
		if requests := server.Requests(path); len(requests) == 0 || !has(requests[0], want) {
			t.Errorf("%s was asked for %v, want %s", path, requests, want)
		}
	}
}

func has(u *url.URL, name string) bool { return u.Query().Has(name) }
