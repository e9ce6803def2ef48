package terraform

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// TestIgnored compares instances with ignore_changes with the live resource of a governed source, which a plan's provider read
// differently or not at all.
func TestIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const table = `provider: acme/cloud
types:
  cloud_vm:
    kind: proxmox/qemu
    id: "{id}"
    attributes:
      notes: {live: description, default: ""}
      node: {live: node, location: true}
      labels: labels
      cpu: {block: one, attributes: {cores: {live: cores, default: 1}, kind: {live: kind, default: host}}}
      nic: {block: many, slots: [net], only_if: enabled, attributes: {bridge: bridge, tag: {live: tag, default: 0}}}
      tags: {live: tags, default: [], order: any}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.yaml"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := mapping.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	value := func(text string) model.Value {
		var v model.Value
		if err := v.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return v
	}
	const recorded = `{"id":"100","notes":"a","node":"one","labels":{"x":"1","y":"1"},"cpu":[{"cores":2}],
"nic":[{"bridge":"vmbr0"},{"bridge":"vmbr1"}],"tags":["a"]}`
	const bare = `{"id":"100","notes":"a","node":"one","nic":[{"bridge":"vmbr9","enabled":false},{"bridge":"vmbr0"},{"bridge":"vmbr1"}]}`
	live := value(`{"description":"b","node":"two","labels":{"x":"2","y":"2","z":"2"},"cores":8,"kind":"max",
"net0":{"bridge":"vmbr8"},"net1":{"bridge":"vmbr8","tag":8},"tags":["b"]}`)
	all := []string{"cpu[0].cores", "cpu[0].kind", "labels.x", "labels.y", "labels.z", "nic[0].bridge", "nic[1].bridge", "nic[1].tag", "node", "notes", "tags"}
	blocks := []string{"cpu[0].cores", "cpu[0].kind", "labels.x", "labels.y", "labels.z", "nic[0].bridge", "nic[1].bridge", "nic[1].tag"}
	for name, tc := range map[string]struct {
		reason, recorded string
		unchecked        string
		ignored          syntax.Ignored
		want, exempt     []string
	}{
		"none":       {"nothing is ignored", recorded, "", syntax.Ignored{}, all, nil},
		"all":        {"attributes in the state, and others", recorded, "", syntax.Ignored{All: true}, nil, all},
		"attributes": {"a place is an attribute", recorded, "", syntax.Ignored{Paths: [][]string{{"notes"}, {"node"}, {"tags"}}}, blocks, []string{"node", "notes", "tags"}},
		"nested": {"fields of blocks and maps, also of those that only the live resource has", recorded, "",
			syntax.Ignored{Paths: [][]string{{"cpu", "0", "cores"}, {"labels", "x"}, {"labels", "z"}, {"nic", "1", "bridge"}}},
			[]string{"cpu[0].kind", "labels.y", "nic[0].bridge", "nic[1].tag", "node", "notes", "tags"},
			[]string{"cpu[0].cores", "labels.x", "labels.z", "nic[1].bridge"}},
		"unchecked": {"the record alone is compared", recorded, "denied", syntax.Ignored{Paths: [][]string{{"notes"}, {"nic"}}},
			[]string{"cpu[0].cores", "cpu[0].kind", "labels.x", "labels.y", "labels.z", "node", "tags"},
			[]string{"nic[0].bridge", "nic[1].bridge", "nic[1].tag", "notes"}},
		"whole": {"an element of a list that is compared as a whole", recorded, "", syntax.Ignored{Paths: [][]string{{"tags", "7"}, {"gone", "x"}}}, all, nil},
		"bare": {"positions differ if the claim leaves out an element", bare, "", syntax.Ignored{Paths: [][]string{{"nic", "1", "bridge"}, {"labels", "x"}}},
			[]string{"cpu[0].cores", "cpu[0].kind", "labels", "nic[0].bridge", "nic[1].bridge", "nic[1].tag", "node", "notes", "tags"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := declared.Env{Name: "root", Governs: []string{"prod"}, Types: map[string]string{"prod": "proxmox"}, Sealer: model.NewSealer([]byte("key"))}
			p := &plans{root: &root{loader: &loader{env: env, tables: tables}}}
			v, made := value(tc.recorded), newTranslator(env, tables, nil)
			i := plan.Instance{Address: `module.m["k"].cloud_vm.web[0]`, Type: "cloud_vm", Name: "web", Provider: "registry.terraform.io/acme/cloud", ID: "100",
				Declared: &v, Recorded: &v, LiveRead: true, Whole: plan.Whole{Declared: &v, Recorded: &v}, Action: "no-op", Ignored: tc.ignored, Unchecked: tc.unchecked}
			p.instance(made, newOwn("root", "OpenTofu 1.12.6"), &i)
			s := &model.Subject{Live: &model.Resource{Value: live}, Claims: []*model.Claim{&made.claims[0]}}
			j := diff.Judge(s, diff.Options{})
			var got, exempt []string
			for _, o := range j.Outcomes {
				for _, c := range o.Changes {
					got = append(got, c.Path)
				}
			}
			slices.Sort(got) // Outcomes are by verdict.
			for _, e := range j.Exempt {
				exempt = append(exempt, e.Path)
				if e.Why != "in ignore_changes: no apply changes it back" || e.Writer != "" {
					t.Errorf("exempt: %+v", e)
				}
			}
			if d := cmp.Diff(tc.want, got) + cmp.Diff(tc.exempt, exempt); d != "" {
				t.Errorf("%s: %s", tc.reason, d)
			}
		})
	}
}
