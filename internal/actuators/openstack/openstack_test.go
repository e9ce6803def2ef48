package openstack

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestFields puts each kind of field back that driftd writes.
func TestFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, field string
		// by is what a person sets, and declared what is declared.
		by             any
		path, declared string
		requests       int
		person         bool
	}{
		"description of a group":                    {normalize.SecurityGroup, "description", "by hand", "description", `"web"`, 1, false},
		"no description is declared":                {normalize.Router, "description", "by hand", "description", ``, 1, false},
		"name of a network":                         {normalize.Network, "name", "by hand", "name", `"net"`, 1, false},
		"tags of a subnet":                          {normalize.Subnet, "tags", []string{"b", "c", "a/b"}, "tags", `["a","b"]`, 3, false},
		"all tags of a port":                        {normalize.Port, "tags", []string{"b"}, "tags", ``, 1, false},
		"tags of a server":                          {normalize.Server, "tags", []string{"urgent"}, "tags", `["prod"]`, 2, false},
		"tags of an image":                          {normalize.Image, "tags", []string{"urgent"}, "tags", `["prod"]`, 2, false},
		"tags of a floating IP":                     {normalize.FloatingIP, "tags", []string{"urgent"}, "tags", `[]`, 1, false},
		"metadata of a server":                      {normalize.Server, "metadata", openstacktest.Row{"owner": "mara", "a/b": "c", "role": "db"}, "metadata", `{"role":"web","tier":"1"}`, 3, false},
		"metadata of a volume":                      {normalize.Volume, "metadata", openstacktest.Row{"owner": "mara", "readonly": "False"}, "metadata", `{"owner":"shop"}`, 1, false},
		"no metadata is declared":                   {normalize.Server, "metadata", openstacktest.Row{"owner": "mara"}, "metadata", ``, 1, false},
		"port security":                             {normalize.Port, "port_security_enabled", false, "port_security_enabled", `true`, 1, true},
		"port security of a port as of its network": {normalize.Port, "port_security_enabled", false, "port_security_enabled", ``, 1, true},
		"port security of a network":                {normalize.Network, "port_security_enabled", false, "port_security_enabled", ``, 1, true},
		"groups of a port":                          {normalize.Port, "security_groups", []string{}, "security_groups", `["g1","g2"]`, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "writes")
			b.set(tc.kind, tc.field, tc.by)
			c := b.mustPlan(tc.kind, map[string]string{tc.path: tc.declared})
			p := c.Plan()
			if len(p.Changes) != 1 || p.Changes[0].Path != tc.path || (p.Person != "") != tc.person || p.Deletes || !strings.Contains(p.Identity, "alice") {
				t.Errorf("the plan is %+v", p)
			}
			if got := max(1, len(p.Requests)); got != tc.requests {
				t.Errorf("%d requests, want %d: %q", got, tc.requests, p.Requests)
			}
			if got := b.inspect(tc.kind, c); got != reconcile.AsBefore {
				t.Errorf("before the write it is %s", got)
			}
			receipt, err := c.Write(t.Context())
			if err != nil || len(receipt.Unexpected) > 0 || receipt.Request == "" {
				t.Fatalf("Write() = %+v, %v", receipt, err)
			}
			if got := b.inspect(tc.kind, c); got != reconcile.AsWanted {
				t.Errorf("after the write it is %s", got)
			}
		})
	}
}

// TestSeveralFields puts fields back that take several requests: the one that Neutron compares the revision of comes first.
func TestSeveralFields(t *testing.T) {
	t.Parallel()
	b := newBench(t, "writes")
	b.set(normalize.Port, "port_security_enabled", false)
	b.set(normalize.Port, "security_groups", []string{})
	b.set(normalize.Port, "tags", []string{"x"})
	c := b.mustPlan(normalize.Port, map[string]string{"tags": `[]`, "port_security_enabled": `true`, "security_groups": `["g1"]`})
	if p := c.Plan(); len(p.Requests) != 2 || !strings.Contains(p.Requests[0], "port_security_enabled") || p.Requests[1] != "remove the tag x" {
		t.Errorf("the requests are %q", p.Requests)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.inspect(normalize.Port, c); got != reconcile.AsWanted {
		t.Errorf("it is %s", got)
	}
}

// TestSingleEntry puts one entry of metadata back: others stay as they are.
func TestSingleEntry(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ declared, want string }{
		"changed": {`"web"`, "web"},
		"added":   {``, ""},
	} {
		b := newBench(t, "writes")
		b.set(normalize.Server, "metadata", openstacktest.Row{"role": "db", "owner": "mara"})
		c := b.mustPlan(normalize.Server, nil, func(s *reconcile.Subject) {
			live := model.StringOf("db")
			change := model.Change{Path: "metadata.role", Live: &live}
			if tc.declared != "" {
				v := parse(t, tc.declared)
				change.Declared = &v
			}
			s.Finding.Changes = []model.Change{change}
		})
		if _, err := c.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, live := b.live(normalize.Server)
		if got := live.At("metadata", "role").Str(); got != tc.want || live.At("metadata", "owner").Str() != "mara" {
			t.Errorf("%s: the metadata is %s", name, live.At("metadata"))
		}
	}
}

// TestDeletion deletes a rule of a security group.
func TestDeletion(t *testing.T) {
	t.Parallel()
	b := newBench(t, "writes")
	c := b.mustPlan(normalize.SecurityGroupRule, nil, unmanaged)
	p := c.Plan()
	if !p.Deletes || len(p.Changes) < 3 || p.Changes[0].New != nil || p.Changes[0].Old == nil {
		t.Errorf("the plan is %+v", p)
	}
	if got := b.inspect(normalize.SecurityGroupRule, c); got != reconcile.AsBefore {
		t.Errorf("before the write it is %s", got)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.inspect(normalize.SecurityGroupRule, c); got != reconcile.AsWanted {
		t.Errorf("after the write it is %s", got)
	}
}

// TestRefuses checks that nothing is planned, or written, that is not as in the finding or that driftd does not write.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind     string
		declared map[string]string
		writer   string
		edit     func(*bench, *reconcile.Subject)
		want     string
	}{
		"size of a volume":                       {normalize.Volume, map[string]string{"size": "7"}, "writes", nil, "of the kind openstack/volume driftd writes metadata (guard kind)"},
		"flavor of a server":                     {normalize.Server, map[string]string{"flavor": `"x"`}, "writes", nil, "driftd writes metadata, tags (guard kind)"},
		"a missing port":                         {normalize.Port, nil, "writes", func(_ *bench, s *reconcile.Subject) { s.Finding.Verdict = model.Missing }, "creates nothing in OpenStack"},
		"a rule":                                 {normalize.SecurityGroupRule, map[string]string{"protocol": `"tcp"`}, "writes", nil, "writes no fields of the kind"},
		"groups of a port that are not declared": {normalize.Port, map[string]string{"security_groups": ""}, "writes", nil, "the declaration does not have it"},
		"changed since the scan":                 {normalize.Router, map[string]string{"name": `"a"`}, "writes", func(b *bench, _ *reconcile.Subject) { b.set(normalize.Router, "name", "again") }, "changed since the scan"},
		"the same tags in another order": {normalize.Network, map[string]string{"tags": `["b","a"]`}, "writes", func(b *bench, s *reconcile.Subject) {
			b.set(normalize.Network, "tags", []string{"a", "b"})
			_, live := b.live(normalize.Network)
			held := live.At("tags")
			s.Live, s.Finding.Changes[0].Live = live, &held
		}, "it has the declared values"},
		"as declared":           {normalize.Network, map[string]string{"name": `"net"`}, "writes", nil, "has the declared value"},
		"an account that reads": {normalize.Router, map[string]string{"name": `"a"`}, "reads", nil, "has no role but reader"},
		"another project":       {normalize.Router, map[string]string{"name": `"a"`}, "writes", func(_ *bench, s *reconcile.Subject) { s.Finding.Place = "p2" }, "the object to project p2"},
		"wrong password":        {normalize.Router, map[string]string{"name": `"a"`}, "wrong", nil, "Keystone rejects the credentials of cloud wrong"},
		"a rule that changed": {normalize.SecurityGroupRule, nil, "writes", func(b *bench, s *reconcile.Subject) {
			unmanaged(s)
			b.set(normalize.SecurityGroupRule, "description", "by hand")
		}, "it changed since the scan"},
		"a server that is building": {normalize.Server, map[string]string{"tags": `[]`}, "writes", func(b *bench, _ *reconcile.Subject) { b.set(normalize.Server, "status", "BUILD") }, "cannot be compared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.writer)
			_, err := b.plan(tc.kind, tc.declared, func(s *reconcile.Subject) {
				if tc.edit != nil {
					tc.edit(b, s)
				}
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Plan() = %v, want %s", err, tc.want)
			}
		})
	}
}

// TestWriteRefuses checks that a write sends nothing if the object is not as planned, and what each answer means.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	const routers = "/network/v2.0/routers/"
	refusal := func(err error) bool { r := (*reconcile.Refusal)(nil); return errors.As(err, &r) }
	unwritten := func(err error) bool { n := (*reconcile.NotWrittenError)(nil); return errors.As(err, &n) }
	unknown := func(err error) bool { return err != nil && !refusal(err) && !unwritten(err) }
	for name, tc := range map[string]struct {
		before func(*bench, string)
		is     func(error) bool
		want   string
	}{
		"changed": {func(b *bench, _ string) { b.set(normalize.Router, "name", "again") }, refusal, "it was changed since it was read"},
		"gone": {func(b *bench, _ string) {
			b.Edit(func(e *openstacktest.Estate) { e.Lists[openstacktest.Routers] = nil })
		}, refusal, "does not exist any more"},
		"a lost answer": {func(b *bench, id string) {
			b.Break(routers+id, onWrite(faults.Status(http.StatusBadGateway, "<html>")))
		}, unknown, "502"},
		"a page":   {func(b *bench, id string) { b.Break(routers+id, onWrite(faults.Status(http.StatusForbidden, "<html>"))) }, unknown, "403"},
		"a policy": {func(b *bench, id string) { b.Break(routers+id, onWrite(own(http.StatusForbidden))) }, unwritten, "the policy of the service does not allow it"},
		"another edit": {func(b *bench, id string) {
			b.Break(routers+id, onWrite(faults.Before(func() { b.set(normalize.Router, "revision_number", 9) })))
		}, unwritten, "412"},
		"not reached": {func(b *bench, _ string) { b.Break("/v3/auth/tokens", faults.Status(http.StatusServiceUnavailable, "")) }, unwritten, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "writes")
			c := b.mustPlan(normalize.Router, map[string]string{"name": `"edge-1"`})
			tc.before(b, c.Plan().UID)
			_, err := c.Write(t.Context())
			if !tc.is(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Write() = %v, want %s", err, tc.want)
			}
		})
	}
}

// own answers as a service itself does, and not a proxy.
func own(code int) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Openstack-Request-Id", "req-1")
		w.WriteHeader(code)
	}
}

// onWrite is a fault of requests that change something.
func onWrite(f faults.Fault) faults.Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			server.ServeHTTP(w, r)
			return
		}
		f(server, w, r)
	}
}

// TestSecondRequestRefused checks that a write whose second request is refused is not taken for one without effect.
func TestSecondRequestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, "writes")
	b.set(normalize.Router, "tags", []string{"x"})
	c := b.mustPlan(normalize.Router, map[string]string{"name": `"edge-1"`, "tags": `[]`})
	b.Break("/network/v2.0/routers/"+c.Plan().UID+"/tags/", own(http.StatusConflict))
	receipt, err := c.Write(t.Context())
	if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], "remove the tag x") {
		t.Errorf("Write() = %+v, %v", receipt, err)
	}
	if got := b.inspect(normalize.Router, c); got != reconcile.AsOther {
		t.Errorf("it is %s", got)
	}
}

// TestDeletionReadsTheSourceAgain checks that a rule is not deleted that is declared meanwhile, and that an answer of a proxy does not
// stand for an object that is gone.
func TestDeletionReadsTheSourceAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, "writes")
	c := b.mustPlan(normalize.SecurityGroupRule, nil, unmanaged)
	b.again = &reconcile.Refusal{Guard: "still-so", Why: "it is declared"}
	if _, err := c.Write(t.Context()); !errors.Is(err, b.again) {
		t.Errorf("Write() = %v", err)
	}
	b.Break("/network/v2.0/security-group-rules/", faults.Status(http.StatusNotFound, "<html>"))
	p := c.Plan()
	if got, err := b.a.Inspect(t.Context(), model.Key{Kind: normalize.SecurityGroupRule, ID: p.UID}, p); err == nil {
		t.Errorf("Inspect() = %s", got)
	}
	b.Heal()
	p.System = "p2"
	if got, err := b.a.Inspect(t.Context(), model.Key{Kind: normalize.SecurityGroupRule, ID: p.UID}, p); err == nil {
		t.Errorf("Inspect() of another project = %s", got)
	}
}

// TestRights checks what is known of the account that writes.
func TestRights(t *testing.T) {
	t.Parallel()
	for writer, missing := range map[string]int{"writes": 0, "reads": 1} {
		r, err := newBench(t, writer).a.Rights(t.Context(), nil)
		if err != nil || len(r.Missing) != missing || len(r.May) != 1 || len(r.Excess) != 0 {
			t.Errorf("Rights() of %s = %+v, %v", writer, r, err)
		}
	}
}
