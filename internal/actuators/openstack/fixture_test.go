package openstack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// A bench is a stand-in of a cloud with an actuator.
type bench struct {
	*openstacktest.Server

	t *testing.T
	a *Actuator
	// again is what reading the source again returns.
	again error
}

const clouds = `clouds:
  reads: {auth_type: v3applicationcredential, auth: {auth_url: %[1]q, application_credential_id: %[3]q, application_credential_secret: %[4]q}}
  writes: {auth: {auth_url: %[1]q, username: alice, password: %[2]q, project_name: web, default_domain: default}}
  wrong: {auth: {auth_url: %[1]q, username: alice, password: wrong, project_name: web, default_domain: default}}
`

// newBench returns a bench whose actuator writes with an entry of clouds.
func newBench(t *testing.T, writer string) *bench {
	t.Helper()
	b := &bench{Server: openstacktest.New(openstacktest.Small(), rand.New(rand.NewPCG(5, 5))), t: t}
	b.Strange = func(request string) { t.Errorf("unknown request: %s", request) }
	server := httptest.NewServer(b.Server)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, clouds, server.URL+"/v3", openstacktest.Password, openstacktest.Credential, openstacktest.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := openstackapi.Entry{CloudsFile: file, Cloud: "reads"}
	a, err := New(Options{Reading: openstackapi.Access{Entry: entry}, Writing: openstackapi.Entry{CloudsFile: file, Cloud: writer}})
	if err != nil {
		t.Fatal(err)
	}
	b.a = a
	return b
}

// paths are those of the lists, by kind.
var paths = map[string]string{normalize.Server: openstacktest.Servers, normalize.Volume: openstacktest.Volumes, normalize.Image: openstacktest.Images, normalize.Network: openstacktest.Networks,
	normalize.Port: openstacktest.Ports, normalize.SecurityGroup: openstacktest.Groups, normalize.SecurityGroupRule: openstacktest.Rules, normalize.Router: openstacktest.Routers,
	normalize.Subnet: openstacktest.Subnets, normalize.FloatingIP: openstacktest.FloatingIPs}

// row returns the first row of a kind that belongs to the project of the accounts; nil if there is none.
func (b *bench) row(kind string) (row openstacktest.Row) {
	b.t.Helper()
	b.Edit(func(e *openstacktest.Estate) {
		for _, r := range e.Lists[paths[kind]] {
			if project := "5c117f89000000000000000000000001"; r["project_id"] == project || r["tenant_id"] == project || r["owner"] == project || r["os-vol-tenant-attr:tenant_id"] == project {
				row = r
				return
			}
		}
	})
	return row
}

// set sets a field of that row.
func (b *bench) set(kind, field string, value any) {
	b.t.Helper()
	row := b.row(kind)
	b.Edit(func(*openstacktest.Estate) { row[field] = value })
}

// live returns that row in the form of the collector.
func (b *bench) live(kind string) (string, model.Value) {
	b.t.Helper()
	key := model.Key{Kind: kind, ID: fmt.Sprint(b.row(kind)["id"])}
	var o *object
	err := b.a.with(b.t.Context(), b.a.options.Reading, 0, func(s *openstackapi.Session) (err error) {
		o, err = read(b.t.Context(), s, key)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return key.ID, o.Value
}

// plan plans to put fields of an object back; each has the value of a scan.
func (b *bench) plan(kind string, declared map[string]string, edits ...func(*reconcile.Subject)) (reconcile.Change, error) {
	b.t.Helper()
	id, live := b.live(kind)
	f := &model.Finding{ID: "f1", Verdict: model.Changed, Declaration: "infra", Key: model.Key{Source: "cloud", Kind: kind, ID: id}, Place: "5c117f89000000000000000000000001"}
	for path, text := range declared {
		c := model.Change{Path: path}
		if held, ok := live.Get(path); ok {
			c.Live = &held
		}
		if text != "" {
			v := parse(b.t, text)
			c.Declared = &v
		}
		f.Changes = append(f.Changes, c)
	}
	s := reconcile.Subject{Finding: f, Live: live, Again: func(context.Context, []reconcile.Covered) error { return b.again }}
	for _, edit := range edits {
		edit(&s)
	}
	return b.a.Plan(b.t.Context(), s)
}

// unmanaged makes the finding one of an object that no declaration declares.
func unmanaged(s *reconcile.Subject) { s.Finding.Verdict, s.Finding.Declaration = model.Unmanaged, "" }

func (b *bench) mustPlan(kind string, declared map[string]string, edits ...func(*reconcile.Subject)) reconcile.Change {
	b.t.Helper()
	c, err := b.plan(kind, declared, edits...)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// inspect inspects the object of a change.
func (b *bench) inspect(kind string, c reconcile.Change) reconcile.Inspection {
	b.t.Helper()
	p := c.Plan()
	got, err := b.a.Inspect(b.t.Context(), model.Key{Kind: kind, ID: p.UID}, p)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
