package terraform

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// vm plans an update of a guest, with the schema that a provider of SDK v2 has for it.
func vm(t *testing.T, before, after document) []plan.Instance {
	t.Helper()
	const provider, typ = "registry.opentofu.org/bpg/proxmox", "proxmox_virtual_environment_vm"
	encode := func(v any) *strings.Reader {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReader(string(text))
	}
	attribute := func(typ string, computed bool) document {
		return document{"type": typ, "optional": true, "computed": computed}
	}
	block := func(attributes document) document {
		return document{"nesting_mode": "list", "block": document{"attributes": attributes}}
	}
	p, err := plan.Decode(encode(document{"format_version": "1.2", "terraform_version": "1.12.6",
		"resource_changes": []any{document{"address": typ + ".web", "mode": "managed", "type": typ, "name": "web", "provider_name": provider,
			"change": document{"actions": []string{"update"}, "before": before, "after": after, "after_unknown": document{}, "before_sensitive": document{}, "after_sensitive": document{}}}},
		"configuration": document{"root_module": document{"resources": []any{document{"address": typ + ".web", "mode": "managed", "type": typ, "name": "web",
			"expressions": document{"vm_id": document{}, "node_name": document{}, "description": document{}, "cpu": []any{document{"cores": document{}}}, "network_device": []any{document{"bridge": document{}}}}}}}}}))
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := plan.DecodeSchemas(encode(document{"provider_schemas": document{provider: document{"resource_schemas": document{typ: document{"block": document{
		"attributes": document{"id": attribute("string", true), "vm_id": attribute("number", true), "node_name": attribute("string", false), "name": attribute("string", false), "description": attribute("string", false)},
		"block_types": document{"cpu": block(document{"cores": attribute("number", false), "units": attribute("number", true)}),
			"network_device": block(document{"bridge": attribute("string", false), "model": attribute("string", true)})},
	}}}}}}), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Read(plan.Input{Plan: p, Schemas: schemas}, model.NewSealer([]byte("key"))).Instances
}

// TestMappedPast reads former declared values in the form of a mapping table.
func TestMappedPast(t *testing.T) {
	t.Parallel()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	guest := func(cores int, bridges ...string) document {
		var devices []any
		for _, bridge := range bridges {
			devices = append(devices, document{"bridge": bridge, "model": "virtio"})
		}
		return document{"id": "301", "vm_id": 301, "node_name": "pve1", "description": "d", "cpu": []any{document{"cores": cores, "units": 1024}}, "network_device": devices}
	}
	config := func(body string) string {
		return "resource \"proxmox_virtual_environment_vm\" \"web\" {\n vm_id = 301\n node_name = \"pve1\"\n" + body + "\n}\n"
	}
	const nets = "network_device {\n bridge = \"vmbr0\"\n}\nnetwork_device {\n bridge = \"vmbr1\"\n}\n"
	cases := map[string]struct {
		reason, old                string
		cores, bridge, description string
		unknown                    string
	}{
		"Known": {
			"in a block, what the provider fills in is not known, and the rest is", config("description = \"d\"\ncpu {\n cores = 1\n}\n" + nets),
			"1", "vmbr0", "d", "cpu[0].units id network_device[0].model network_device[1].model",
		},
		"Unaligned": {
			"of another number of blocks, one may stand in another place", config("description = \"d\"\ncpu {\n cores = 1\n}\nnetwork_device {\n bridge = \"vmbr0\"\n}\n"),
			"1", "vmbr0", "d", "cpu[0].units id network_device",
		},
		"Expressions": {
			"what is not literal", config("description = other.r.x\ncpu {\n cores = other.r.x\n}\n" + nets),
			"2", "vmbr0", "d", "cpu[0].cores cpu[0].units description id network_device[0].model network_device[1].model",
		},
		"Dynamic": {
			"blocks that are made", config("description = \"d\"\ndynamic \"cpu\" {\n for_each = [1]\n content {}\n}\n" + nets),
			"2", "vmbr0", "d", "cpu cpu[0].cores cpu[0].units id network_device[0].model network_device[1].model",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			hashes := []string{r.commit("infra/main.tf", tc.old), r.commit("infra/main.tf", config("description = \"d\"\ncpu {\n cores = 2\n}\n"+nets))}
			instances := vm(t, guest(16, "vmbr0", "vmbr1"), guest(2, "vmbr0", "vmbr1"))
			p := r.open(instances, nil)
			p.tables, p.env.Governs, p.env.Types = tables, []string{"pve"}, map[string]string{"pve": "proxmox"}
			translator := newTranslator(p.env, tables, nil)
			p.instance(translator, newOwn("root", "tofu"), &instances[0])
			claim := &translator.sorted()[0]
			h, err := p.History(t.Context(), hashes[1], []*model.Claim{claim})
			if err != nil || h.Pasts[0].Gap != "" || len(h.Pasts[0].Versions) != 2 {
				t.Fatalf("%+v %v", h, err)
			}
			old := h.Pasts[0].Versions[1]
			got := []string{shownAt(*old.Value, "cpu", "cores"), shownAt(*old.Value, "network_device", "bridge"), old.Value.At("description").Public().String(), strings.Join(old.Unknown, " ")}
			want := []string{tc.cores, tc.bridge, tc.description, tc.unknown}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// shownAt writes a field of the first block of a type.
func shownAt(v model.Value, block, field string) string {
	items := v.At(block).Items()
	if len(items) == 0 {
		return ""
	}
	return items[0].At(field).Public().String()
}

func TestDiffering(t *testing.T) {
	t.Parallel()
	list := func(items ...model.Value) model.Value { return model.ListOf(items...) }
	field := func(name string, v model.Value) model.Value {
		return model.MapOf(model.Field{Name: name, Value: v})
	}
	one, two := model.IntOf(1), model.IntOf(2)
	cases := map[string]struct {
		reason string
		a, b   model.Value
		want   string
	}{
		"Equal":   {"nothing differs", field("x", one), field("x", one), ""},
		"Field":   {"a field", field("x", one), field("x", two), "x"},
		"Gone":    {"a field that one of them lacks", field("x", one), field("y", one), "x y"},
		"Element": {"an element", field("x", list(one, two)), field("x", list(one, one)), "x[1]"},
		"Length":  {"lists of other lengths", field("x", list(one)), field("x", list(one, one)), "x"},
		"Kind":    {"a map and a list", field("x", list(one)), field("x", field("y", one)), "x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d differing
			d.node(tc.a, tc.b, nil)
			var got []string
			for _, steps := range d.found {
				got = append(got, pathText(steps))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
