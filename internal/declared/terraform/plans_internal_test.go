package terraform

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

func TestPlanInstances(t *testing.T) {
	t.Parallel()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	attributes := func(comment string) *model.Value {
		v := model.MapOf(model.Field{Name: "pool_id", Value: model.StringOf("blue")}, model.Field{Name: "comment", Value: model.StringOf(comment)})
		return &v
	}
	instance := plan.Instance{Address: "proxmox_virtual_environment_pool.blue", Type: "proxmox_virtual_environment_pool", Name: "blue",
		Provider: "registry.opentofu.org/bpg/proxmox", Declared: attributes("b"), Recorded: attributes("a"), Live: attributes("c"), LiveRead: true}
	tests := []struct {
		reason                string
		governs               string
		change                func(*plan.Instance)
		source, kind          string
		declared, recorded    bool
		recordOnly, unchecked bool
		live                  int
		unknown               bool
	}{
		{"a governed source has it", "pve", func(*plan.Instance) {}, "pve", "proxmox/pool", true, true, false, false, 0, false},
		{"no source is governed: the provider's own live value is compared", "", func(*plan.Instance) {},
			"plan:root", "terraform/proxmox_virtual_environment_pool", true, true, false, false, 1, false},
		{"the provider failed, the source did not: the record is compared", "pve", func(i *plan.Instance) { i.Unchecked, i.Declared, i.Live = "boom", nil, nil },
			"pve", "proxmox/pool", true, false, true, false, 0, false},
		{"the provider failed, and nothing else reads it", "", func(i *plan.Instance) { i.Unchecked, i.Declared, i.Live, i.LiveRead = "boom", nil, nil, false },
			"plan:root", "terraform/proxmox_virtual_environment_pool", false, true, false, true, 0, false},
		{"the provider failed, and the live resource is unknown", "pve", func(i *plan.Instance) {
			nothing := model.MapOf()
			i.Unchecked, i.Declared, i.Recorded, i.Live, i.LiveRead = "boom", nil, &nothing, nil, false
		}, "plan:root", "terraform/proxmox_virtual_environment_pool", false, true, false, true, 0, true},
		{"not created yet, so that no live resource can be identified", "pve", func(i *plan.Instance) { i.Recorded, i.Live, i.Pending = nil, nil, "to be made" },
			"plan:root", "terraform/proxmox_virtual_environment_pool", true, false, false, false, 0, false},
		{"a deposed object is live until it is destroyed", "pve", func(i *plan.Instance) { i.Deposed, i.Declared, i.Pending = "0a1b", nil, "left over" },
			"pve", "proxmox/pool", false, true, false, false, 0, false},
		{"another configuration of the provider manages another source", "pve", func(i *plan.Instance) { i.Alias = "west" },
			"west", "proxmox/pool", true, true, false, false, 0, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			env := declared.Env{Name: "root", Types: map[string]string{"pve": "proxmox"}, Sealer: model.NewSealer([]byte("key"))}
			if test.governs != "" {
				env.Governs = []string{test.governs}
			}
			i := instance
			test.change(&i)
			i.Whole = plan.Whole{Declared: i.Declared, Recorded: i.Recorded}
			p := &plans{root: &root{loader: &loader{env: env, tables: tables}}}
			translator, own := newTranslator(env, tables, map[string]string{"proxmox.west": "west"}), newOwn("root", "OpenTofu 1.12.6")
			p.instance(translator, own, &i)
			if unknown := len(translator.problems) > 0; unknown != test.unknown {
				t.Errorf("problems %v", translator.problems)
			}
			c := translator.claims[0]
			if last := translator.claims[len(translator.claims)-1]; (last.Unchecked != "") != (i.Unchecked != "") {
				t.Errorf("claim %+v does not match the plan's failure", last)
			}
			if c.Source != test.source || c.Kind != test.kind || c.Declaration != "root" {
				t.Errorf("claimed %s in %s by %q", c.Kind, c.Source, c.Declaration)
			}
			if c.Value.IsNull() == test.declared || (c.Recorded != nil) != test.recorded || c.RecordOnly != test.recordOnly || (c.Unchecked != "") != test.unchecked {
				t.Errorf("claim %+v", c)
			}
			if n := len(own.snapshot.Resources); n != test.live {
				t.Errorf("%d live resources of its own, want %d", n, test.live)
			}
		})
	}
}

// TestUnknownWriter checks existing and missing resources.
func TestUnknownWriter(t *testing.T) {
	t.Parallel()
	w := newOwn("root", "tofu")
	live := model.MapOf()
	w.add(&object{id: "a.b"}, &plan.Instance{Type: "a", Live: &live})
	w.add(&object{id: "c.d"}, &plan.Instance{Type: "c", LiveRead: true})
	if got := w.snapshot.Resources[0].WriterUnknown; got != unknownWriter {
		t.Errorf("writer of a resource: %q", got)
	}
	for name, kind := range w.snapshot.Kinds {
		if kind.WriterUnknown != unknownWriter {
			t.Errorf("writer of a missing %s: %q", name, kind.WriterUnknown)
		}
	}
}

// TestPlanReplaces checks that claims have the replacements of a plan, not those that only the
// state has; after a failed plan, they have those of the mapping table.
func TestPlanReplaces(t *testing.T) {
	t.Parallel()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	guest := model.MapOf(model.Field{Name: "id", Value: model.StringOf("7")}, model.Field{Name: "node_name", Value: model.StringOf("pve1")})
	paths := []model.Replacement{{Path: "name"}}
	for _, tt := range []struct {
		reason, governs string
		change          func(*plan.Instance)
		replaced        bool
		first           string
	}{
		{"in a governed source", "pve", func(*plan.Instance) {}, true, "name"},
		{"without a governed source", "", func(*plan.Instance) {}, true, "name"},
		{"an update", "pve", func(i *plan.Instance) { i.Action, i.Replaces = "update", nil }, false, ""},
		{"not found where it is declared, so that it is created again", "pve", func(i *plan.Instance) { i.Action, i.Replaces, i.Live = "create", nil, nil }, true, ""},
		{"never created", "", func(i *plan.Instance) { i.Action, i.Replaces, i.Recorded, i.Live = "create", nil, nil, nil }, false, ""},
		{"nothing but the state is replaced", "", func(i *plan.Instance) { i.Type, i.Provider = "null_resource", "registry.terraform.io/hashicorp/null" }, false, "name"},
		{"the plan failed", "pve", func(i *plan.Instance) { i.Unchecked = "boom" }, false, "node_name"},
	} {
		env := declared.Env{Name: "root", Types: map[string]string{"pve": "proxmox"}, Sealer: model.NewSealer([]byte("key"))}
		if tt.governs != "" {
			env.Governs = []string{tt.governs}
		}
		i := plan.Instance{Address: "a.b", Type: "proxmox_virtual_environment_vm", Name: "b", Provider: "registry.terraform.io/bpg/proxmox",
			Declared: &guest, Recorded: &guest, Live: &guest, LiveRead: true, Action: "replace", Replaces: paths}
		tt.change(&i)
		i.Whole = plan.Whole{Declared: i.Declared, Recorded: i.Recorded}
		p := &plans{root: &root{loader: &loader{env: env, tables: tables}}}
		translator := newTranslator(env, tables, nil)
		p.instance(translator, newOwn("root", "tofu"), &i)
		c := translator.claims[0]
		first := ""
		if len(c.Replaces) > 0 {
			first = c.Replaces[0].Path
		}
		if c.Replaced != tt.replaced || first != tt.first {
			t.Errorf("%s: replaced %v for %v", tt.reason, c.Replaced, c.Replaces)
		}
	}
}

// TestAbsentFile checks that a commit without a file of its root is not planned.
func TestAbsentFile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, link, want string }{
		{"the root may read it", "infra/data.json", "infra/data.json: symbolic link leads out of the repository"},
		{"the root does not name it", "other/data.json", "version"},
	} {
		r := newRepository(t)
		if err := os.MkdirAll(filepath.Join(r.dir, filepath.Dir(tc.link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/hostname", filepath.Join(r.dir, tc.link)); err != nil {
			t.Fatal(err)
		}
		r.commit("infra/main.tf", `locals { all = fileset(path.module, "*.json") }`)
		env := declared.Env{Name: "root", Sealer: model.NewSealer([]byte("key")), Log: slog.New(slog.DiscardHandler), CacheDir: t.TempDir()}
		loader, err := Definition().Open(env, func(into any) error {
			c := into.(*Config)
			// The program fails if it runs.
			c.Engine, c.Git, c.Path, c.Run.Binary = "plan", r.dir, "infra", "false"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Load(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
		}
	}
}
