package plan

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A dependingRoot is a plan of a root with implicit dependencies.
type dependingRoot struct {
	// now and before are the JSON of what each data source returned to the plan and to the last apply, by address. unread are
	// those that are in resource_changes.
	now, before map[string]string
	unread      []string
	config      string
	instances   []Instance
	diagnostics []Diagnostic
	// planFile replaces the plan file; "" means the one with before.
	planFile string
}

// depend returns the dependencies and the causes of each instance.
func (d *dependingRoot) depend(t *testing.T) ([]model.DependencyRead, []map[string]string) {
	t.Helper()
	w := &work{dir: t.TempDir(), Options: Options{Sealer: model.NewSealer([]byte("key"))}}
	file := d.planFile
	if file == "" {
		file = planFileOf(t, d.previous(t))
	}
	if err := os.WriteFile(w.planFile(planStage), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Decode(strings.NewReader(d.plan(t)))
	if err != nil {
		t.Fatal(err)
	}
	out := &Output{Result: Result{Instances: d.instances}}
	reads := (&runner{work: w}).depend(t.Context(), &Input{Plan: p, Diagnostics: d.diagnostics}, out)
	var causes []map[string]string
	for i := range out.Instances {
		causes = append(causes, out.Instances[i].Causes)
	}
	return reads, causes
}

// planFileOf returns a plan file with the state of the last apply.
func planFileOf(t *testing.T, state string) string {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	entry, err := archive.Create("tfstate-prev")
	if err == nil {
		_, err = entry.Write([]byte(state))
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func typeAndName(address string) (typ, name string) {
	_, rest, _ := strings.Cut(address, "data.")
	typ, name, _ = strings.Cut(rest, ".")
	name, _, _ = strings.Cut(name, "[")
	return typ, name
}

func (d *dependingRoot) plan(t *testing.T) string {
	t.Helper()
	var resources, changes []map[string]any
	for address, values := range d.now {
		typ, name := typeAndName(address)
		resources = append(resources, map[string]any{"address": address, "mode": "data", "type": typ, "name": name, "values": json.RawMessage(values)})
	}
	for _, address := range d.unread {
		typ, name := typeAndName(address)
		changes = append(changes, map[string]any{"address": address, "mode": "data", "type": typ, "name": name,
			"change": map[string]any{"actions": []string{"read"}, "after": map[string]any{}}})
	}
	text, err := json.Marshal(map[string]any{"format_version": "1.0", "resource_changes": changes,
		"prior_state":   map[string]any{"format_version": "1.0", "values": map[string]any{"root_module": map[string]any{"resources": resources}}},
		"configuration": json.RawMessage(strings.TrimSpace(d.config + "\n{}")[:max(len(d.config), 2)])})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (d *dependingRoot) previous(t *testing.T) string {
	t.Helper()
	var resources []map[string]any
	for address, values := range d.before {
		typ, name := typeAndName(address)
		instance := map[string]any{"attributes": json.RawMessage(values)}
		if _, key, keyed := strings.Cut(address[strings.Index(address, "data."):], `["`); keyed {
			instance["index_key"] = strings.TrimSuffix(key, `"]`)
		}
		module, _, _ := strings.Cut(address, ".data.")
		resources = append(resources, map[string]any{"module": strings.TrimPrefix(module, address), "mode": "data", "type": typ, "name": name,
			"provider": `provider["terraform.io/builtin/terraform"]`, "instances": []any{instance}})
	}
	text, err := json.Marshal(map[string]any{"version": 4, "serial": 0, "lineage": "", "resources": resources})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const network = "data.terraform_remote_state.net"

func TestDependencies(t *testing.T) {
	t.Parallel()
	outputs := func(text string) string { return `{"backend":"local","outputs":` + text + `}` }
	dynamic := func(text, typ string) string { return outputs(`{"value":` + text + `,"type":` + typ + `}`) }
	const vpc = `["object",{"vpc":"string"}]`
	one := func(address, now, before string) dependingRoot {
		d := dependingRoot{now: map[string]string{address: now}}
		if before != "" {
			d.before = map[string]string{address: before}
		}
		return d
	}
	read := func(address string, changed ...string) []model.DependencyRead {
		return []model.DependencyRead{{Address: address, Changed: changed}}
	}
	unread := []model.DependencyRead{{Address: network, Unread: true}}
	with := func(d dependingRoot, change func(*dependingRoot)) dependingRoot { change(&d); return d }
	changed := one(network, outputs(`{"vpc":"b"}`), outputs(`{"vpc":"a"}`))
	tests := []struct {
		reason string
		root   dependingRoot
		want   []model.DependencyRead
	}{
		{"no data source", dependingRoot{}, nil},
		{"one that reads what its provider has", one("data.aws_vpc.a", `{"id":"b"}`, `{"id":"a"}`), nil},
		{"nothing changed", one(network, outputs(`{"vpc":"a"}`), dynamic(`{"vpc":"a"}`, vpc)), read(network)},
		{"an output changed", one(network, outputs(`{"vpc":"b","zone":1}`), dynamic(`{"vpc":"a"}`, vpc)), read(network, "vpc", "zone")},
		{"an output was removed", one(network, outputs(`{}`), dynamic(`{"vpc":"a"}`, vpc)), read(network, "vpc")},
		{"null is none", one(network, outputs(`{"vpc":{"a":null},"zone":null}`), outputs(`{"vpc":{}}`)), read(network)},
		{"numbers are compared by value", one(network, outputs(`{"n":1.0}`), outputs(`{"n":1}`)), read(network)},
		{"it is new", one(network, outputs(`{"vpc":"a"}`), ""), read(network)},
		{"an instance", one(`data.external.a["k"]`, `{"result":{"x":"2"}}`, `{"result":{"x":"1"}}`), read(`data.external.a["k"]`, "x")},
		{"another argument", one("data.external.a", `{"result":{},"program":["b"]}`, `{"result":{},"program":["a"]}`), read("data.external.a")},
		{"a response", one("data.http.a", `{"response_body":"b","response_headers":{"Date":"2"}}`, `{"response_body":"a","response_headers":{"Date":"1"}}`),
			read("data.http.a", "response_body")},
		{"headers alone", one("data.http.a", `{"response_body":"a","response_headers":{"Date":"2"}}`, `{"response_body":"a","response_headers":{"Date":"1"}}`),
			read("data.http.a")},
		{"a workspace", one("data.tfe_outputs.a", `{"values":{"x":"2"},"nonsensitive_values":{"x":"2"}}`, `{"values":{"x":"1"},"nonsensitive_values":{"x":"1"}}`),
			read("data.tfe_outputs.a", "x")},
		{"the newest image", one("data.aws_ami.a", `{"most_recent":true,"id":"ami-2","name":"n"}`, `{"most_recent":true,"id":"ami-1","name":"n"}`),
			read("data.aws_ami.a", "id")},
		{"one image", one("data.aws_ami.a", `{"most_recent":false,"id":"ami-2"}`, `{"most_recent":false,"id":"ami-1"}`), nil},
		{"it cannot be read", with(changed, func(d *dependingRoot) { d.diagnostics = []Diagnostic{{Address: network}} }), unread},
		{"an apply reads it", with(changed, func(d *dependingRoot) { d.unread = []string{network} }), unread},
		{"an apply reads it for the first time", dependingRoot{unread: []string{network, "data.aws_vpc.a"}}, unread},
		{"the plan file was replaced", with(changed, func(d *dependingRoot) { d.planFile = "other" }), unread},
		{"the state of the last apply is truncated", with(changed, func(d *dependingRoot) { d.planFile = planFileOf(t, `{"version":4,`) }), unread},
		{"a name with control characters", one("data.external.a", "{\"result\":{\"a\\u001b[31m\":\"1\"}}", `{"result":{}}`), read("data.external.a", "a [31m")},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			got, _ := test.root.depend(t)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestDependenciesHoldNoValues(t *testing.T) {
	t.Parallel()
	p, err := Decode(strings.NewReader((&dependingRoot{now: map[string]string{network: `{"outputs":{"password":"hunter2","deep":{"list":["hunter3",4711]}}}`}}).plan(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range (&Input{Plan: p}).dependencies(model.NewSealer([]byte("key"))) {
		for name, v := range d.returned {
			if text := string(v.AppendJSON(nil)); strings.Contains(text, "hunter") || strings.Contains(text, "4711") {
				t.Errorf("%v is %s", name, text)
			}
		}
	}
}

func TestCausesOfInstances(t *testing.T) {
	t.Parallel()
	const config = `{"root_module":{
		"resources":[
			{"address":"lab_server.web","mode":"managed","type":"lab_server","name":"web","expressions":{
				"name":{"references":["data.terraform_remote_state.net.outputs.vpc","data.terraform_remote_state.net.outputs","data.terraform_remote_state.net"]},
				"zone":{"references":["data.terraform_remote_state.net.outputs.zone","data.terraform_remote_state.net.outputs","data.terraform_remote_state.net"]},
				"whole":{"references":["data.terraform_remote_state.net.outputs","data.terraform_remote_state.net"]},
				"quoted":{"references":["data.terraform_remote_state.net.outputs[\"vpc\"]","data.terraform_remote_state.net.outputs","data.terraform_remote_state.net"]},
				"part":{"references":["data.terraform_remote_state.net.outputs.vpc.cidrs[0]","data.terraform_remote_state.net.outputs.vpc.cidrs","data.terraform_remote_state.net.outputs.vpc"]},
				"longer":{"references":["data.terraform_remote_state.net.outputs.vpc2"]},
				"other":{"references":["data.terraform_remote_state.network.outputs.vpc"]},
				"workspace":{"references":["data.terraform_remote_state.net.workspace"]},
				"fixed":{"constant_value":"a"},
				"disk":[{"image":{"references":["data.external.images.result.web","data.external.images.result"]}}]},
			 "count_expression":{"references":["data.external.images.result"]}},
			{"address":"lab_server.db","mode":"managed","type":"lab_server","name":"db","expressions":{
				"name":{"references":["module.net.vpc","module.net"]},
				"keyed":{"references":["module.many[\"a\"].vpc","module.many[\"a\"]","module.many"]},
				"each":{"references":["module.many","each.key"]},
				"loop":{"references":["module.loop.vpc"]}}}],
		"module_calls":{
			"net":{"expressions":{"id":{"references":["data.terraform_remote_state.net.outputs.vpc"]}},"module":{
				"variables":{"id":{}},
				"outputs":{"vpc":{"expression":{"references":["var.id"]}}},
				"resources":[{"address":"lab_server.in","mode":"managed","type":"lab_server","name":"in","expressions":{
					"name":{"references":["var.id"]},"local":{"references":["local.id"]}}}]}},
			"many":{"module":{"outputs":{"vpc":{"expression":{"references":["data.external.own.result.vpc"]}}}}},
			"loop":{"expressions":{"id":{"references":["module.loop.vpc"]}},"module":{"outputs":{"vpc":{"expression":{"references":["var.id"]}}}}}}}}`
	const net, images = network + " (vpc)", "data.external.images (web)"
	root := dependingRoot{config: config,
		now: map[string]string{network: `{"outputs":{"vpc":"b","zone":"z"}}`, "data.external.images": `{"result":{"web":"2"}}`,
			`module.many["a"].data.external.own`: `{"result":{"vpc":"2"}}`, `module.many["b"].data.external.own`: `{"result":{"vpc":"2"}}`},
		before: map[string]string{network: `{"outputs":{"vpc":"a","zone":"z"}}`, "data.external.images": `{"result":{"web":"1"}}`,
			`module.many["a"].data.external.own`: `{"result":{"vpc":"1"}}`}}
	for _, address := range []string{"lab_server.web[0]", "lab_server.db", "module.net.lab_server.in", "lab_server.gone"} {
		root.instances = append(root.instances, Instance{Address: address, Module: moduleOf(address), Action: "update"})
	}
	root.instances = append(root.instances, Instance{Address: "lab_server.web[1]", Action: "no-op"},
		Instance{Address: "lab_server.web[0]", Action: "delete", Deposed: "d"})
	_, got := root.depend(t)
	want := []map[string]string{
		{"": images, "name": net, "whole": net, "quoted": net, "part": net, "disk": images},
		{"name": net, "keyed": `module.many["a"].data.external.own (vpc)`},
		{"name": net},
		nil, nil, nil,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestParentOfModule(t *testing.T) {
	t.Parallel()
	for module, want := range map[string]string{"": "", "module.a": "", `module.a["x.module.y"]`: "",
		`module.a["x.y"].module.b[0]`: `module.a["x.y"]`, "module.a.module.b.module.c": "module.a.module.b"} {
		if got := parentOf(module); got != want {
			t.Errorf("%s: got %s, want %s", module, got, want)
		}
	}
}

func TestPlanFileThatIsMissing(t *testing.T) {
	t.Parallel()
	all := dependencies{network: {}}
	if err := all.compare(t.Context(), filepath.Join(t.TempDir(), "none"), model.NewSealer([]byte("key"))); err == nil {
		t.Error("no error")
	}
}
