package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// changesOf returns the JSON of a plan with changes.
func changesOf(t *testing.T, changes ...any) string {
	t.Helper()
	return encode(t, object{"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": changes})
}

// TestCompare checks that two plans are made once for each content of the files, and that their differences are found.
func TestCompare(t *testing.T) {
	t.Parallel()
	size := func(n int) object { return object{"id": "s-1", "size": n} }
	s := newStage(t, map[string]string{".terraform.lock.hcl": "locked", "data.tf": `data "lab_lookup" "a" {}`})
	s.options.Compare = true
	s.set("plan.json", changesOf(t, change("lab_server.web", "update", size(2), size(3), nil),
		change(`lab_server.each["gone"]`, "delete", size(2), nil, nil), change(`lab_server.each["a"]`, "create", nil, size(2), nil)))
	s.set("second", "other.json")
	s.set("other.json", changesOf(t, change("lab_server.web", "update", size(2), size(4), nil),
		change(`lab_server.each["gone"]`, "delete", size(2), nil, nil), change(`lab_server.each["b"]`, "create", nil, size(2), nil)))
	want := []Varying{{Address: "lab_server.each", By: byPlans}, {Address: "lab_server.web", Path: "size", By: byPlans}}
	for range 3 { // The second comparison confirms the first.
		out, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out.Varying); d != "" || out.Undetermined {
			t.Errorf("varying (-want +got):\n%s", d)
		}
		if got := unchecked(out); !slices.Equal(got, []string{`lab_server.each["a"]`}) || len(out.Instances) != 3 {
			t.Errorf("unchecked are %q of %+v", got, out.Instances)
		}
	}
	if n := s.unrefreshed(); n != 4 {
		t.Errorf("%d plans without a refresh, want 4", n)
	}
	s.write(s.root+"/main.tf", `resource "lab_server" "web" { size = 3 }`)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if n := s.unrefreshed(); n != 6 {
		t.Errorf("%d plans without a refresh after a change, want 6", n)
	}
}

// unchecked returns the addresses of the instances that are not checked.
func unchecked(out Output) (list []string) {
	for _, i := range out.Instances {
		if i.Unchecked != "" {
			list = append(list, i.Address)
		}
	}
	return list
}

// TestCompareKept checks that a difference that has passed hides nothing, and how long a confirmed one is kept.
func TestCompareKept(t *testing.T) {
	t.Parallel()
	old, add := `lab_server.each["old"]`, `lab_server.each["new"]`
	is, none := object{"id": "s-1", "size": 2}, any(nil)
	s := newStage(t, map[string]string{"data.tf": `data "lab_lookup" "a" {}`})
	s.options.Compare = true
	s.set("plan.json", changesOf(t, change(old, "no-op", is, is, nil)))
	s.set("second", "other.json")
	s.set("other.json", changesOf(t, change(old, "no-op", is, is, nil), change(add, "create", none, is, nil)))
	run := func(varying bool, plans int, want ...string) {
		t.Helper()
		out, err := s.run()
		if got := unchecked(out); err != nil || len(out.Varying) > 0 != varying || s.unrefreshed() != plans || !slices.Equal(got, want) {
			t.Errorf("%v: varying %+v, %d plans, unchecked %q of %+v", err, out.Varying, s.unrefreshed(), got, out.Instances)
		}
	}
	run(true, 2)
	// The stable instance was deleted by hand.
	gone := changesOf(t, change(old, "create", none, is, nil), change(add, "create", none, is, nil))
	s.set("other.json", strings.Replace(gone, `"size":2`, `"size":3`, 1))
	s.set("plan.json", changesOf(t, change(old, "create", none, is, nil)))
	run(true, 4)
	s.set("plan.json", gone)
	run(true, 4, add)
	files, err := filepath.Glob(filepath.Join(s.options.CacheDir, "compared", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	day := time.Now().Add(-maxCompared)
	if err := os.Chtimes(files[0], day, day); err != nil {
		t.Fatal(err)
	}
	s.set("second", "plan.json")
	run(false, 6)
	run(false, 6)
}

// TestMarkChance checks which instances are planned by chance if plans of the same files differ.
func TestMarkChance(t *testing.T) {
	t.Parallel()
	plan := func(actions map[string]string) map[string]*Instance {
		instances := map[string]*Instance{}
		for address, action := range actions {
			instances[address] = &Instance{Address: address, Action: action}
		}
		return instances
	}
	found := between(
		plan(map[string]string{"a.b[0]": "create", "a.b[1]": "create", "a.b[3]": "delete", "a.b[4]": "no-op", `module.m["x"].a.c[0]`: "create", "a.d": "delete"}),
		plan(map[string]string{"a.b[0]": "create", "a.b[2]": "create", "a.b[3]": "delete", "a.b[4]": "delete", `module.m["x"].a.c[0]`: "create", `module.m["y"].a.c[0]`: "create", "a.d": "delete"}))
	res := Result{}
	for _, address := range []string{"a.b[0]", "a.b[1]", "a.b[3]", "a.b[4]", "a.b[5]", `module.m["x"].a.c[0]`, `module.m["y"].a.c[0]`, "a.d"} {
		res.Instances = append(res.Instances, Instance{Address: address, Action: "create"}, Instance{Address: address, Action: "delete"},
			Instance{Address: address, Action: "update"}, Instance{Address: address, Action: "delete", Deposed: "1"})
	}
	res.markChance(found)
	want := []string{"a.b[1]", "a.b[4]", "a.b[5]", `module.m["y"].a.c[0]`}
	got := unchecked(Output{Result: res})
	if len(got) != 2*len(want) || !slices.Equal(slices.Compact(got), want) || len(res.Instances) != 32 {
		t.Errorf("unchecked are %q", got)
	}
}

// TestVaryingList checks that a list of which one element differs is marked if it is compared as a whole.
func TestVaryingList(t *testing.T) {
	t.Parallel()
	plan := func(name string) map[string]*Instance {
		list := model.ListOf(model.StringOf("fixed"), model.StringOf(name))
		v := model.MapOf(model.Field{Name: "names", Value: list}, model.Field{Name: "set", Value: list})
		return map[string]*Instance{"a.b": {Address: "a.b", Declared: &v, Schema: &model.Schema{Fields: map[string]*model.Schema{"set": {List: model.Set}}}}}
	}
	got := between(plan("x"), plan("y")).Varying
	slices.SortFunc(got, func(a, b Varying) int { return strings.Compare(a.Path, b.Path) })
	want := []Varying{{Address: "a.b", Path: "names", By: byPlans, List: true}, {Address: "a.b", Path: "set[=x]", By: byPlans}, {Address: "a.b", Path: "set[=y]", By: byPlans}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// unrefreshed returns the number of plans without a refresh.
func (s *stage) unrefreshed() int {
	return strings.Count(strings.Join(s.calls(), "\n"), "-refresh=false")
}

// TestCompareSkipped checks the roots of which no further plans are made.
func TestCompareSkipped(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"pure":   {"more.tf": `resource "lab_server" "b" { notes = timestamp() }`},
		"remote": {"more.tf": "terraform {\n  backend \"remote\" {}\n}\ndata \"lab_lookup\" \"a\" {}"},
	} {
		s := newStage(t, files)
		s.options.Compare = true
		if out, err := s.run(); err != nil || len(out.Varying) > 0 || s.unrefreshed() != 0 || out.Undetermined != (name == "remote") {
			t.Errorf("%s: %+v, %v", name, out.Result, err)
		}
	}
	s := newStage(t, map[string]string{"more.tf": `data "lab_lookup" "a" {}`})
	if out, err := s.run(); err != nil || s.unrefreshed() != 0 || !out.Undetermined {
		t.Errorf("not set: %+v, %v", out.Result, err)
	}
}

// TestCompareFails checks that a plan that fails is a note, and that the comparison is made with the next plan.
func TestCompareFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{"more.tf": `data "lab_lookup" "a" {}`})
	s.options.Compare = true
	out, err := s.run() // There is no second plan.
	if err != nil || len(out.Notes) != 1 || !strings.Contains(out.Notes[0].Text, "not checked whether two plans of it are equal") || len(out.Instances) != 1 || !out.Undetermined {
		t.Fatalf("got %+v, %v", out, err)
	}
	s.set("second", "plan.json")
	if out, err = s.run(); err != nil || out.Undetermined || len(out.Notes) != 0 || len(out.Varying) != 0 || s.unrefreshed() != 4 {
		t.Errorf("got %+v, %v", out, err)
	}
	s.set("plan.fails", "")
	s.set("plan.json", strings.Replace(s.fake.text("plan.json"), "{", `{"errored":true,`, 1))
	s.write(s.root+"/more.tf", `data "lab_lookup" "b" {}`)
	if _, err = s.run(); err != nil || s.unrefreshed() != 4 {
		t.Errorf("plans are compared although one failed: %v", err)
	}
}

// TestImpure checks which attributes depend on an impure function.
func TestImpure(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{
		"a.tf": `locals {
  b = local.a
  a = "x ${core::timestamp()}"
  c = var.x
}
resource "lab_server" "web" {
  notes = local.b
  size  = local.c
  name  = uuid()
  disk { size = bcrypt("x") }
  dynamic "nic" {
    for_each = [1]
    content { id = timestamp() }
  }
  lifecycle { ignore_changes = [name] }
}
module "m" {
  source = "./m"
  tags   = { at = local.a }
  other  = "x"
}
resource "lab_server" "of_output" {
  notes = module.m["k"].at
  tags  = module.m[*].at
  size  = module.m.size
}
resource "lab_server" "of_each" {
  for_each = { a = uuid() }
  name     = each.value
  notes    = each.key
}
data "lab_lookup" "a" { at = timestamp() }
resource "lab_server" "of_data" { size = data.lab_lookup.a.size }
resource "lab_server" "of_resource" { size = local.id }
locals { id = lab_server.web["k"].id }
resource "lab_server" "pure" { size = data.lab_lookup.b.size }`})
	s.write(s.root+"/m/m.tf", `variable "tags" {}
resource "lab_server" "in" {
  tags  = var.tags
  notes = var.other
}
output "at" { value = var.tags }
output "size" { value = 2 }`)
	impure := newImpurity()
	m := workcopy.Scan(s.root)
	impure.module("", &m)
	m = workcopy.Scan(s.root + "/m")
	impure.module("module.m.", &m)
	want := map[string]map[string]string{
		"lab_server.web":         {"notes": "timestamp", "name": "uuid", "disk": "bcrypt", "nic": "timestamp"},
		"module.m.lab_server.in": {"tags": "timestamp"},
		"module.m":               {"at": "timestamp"},
		"lab_server.of_output":   {"notes": "timestamp", "tags": ""},
		"lab_server.of_each":     {"for_each": "uuid", "name": "uuid"},
		"data.lab_lookup.a":      {"at": "timestamp"},
		"lab_server.of_data":     {"size": ""},
		"lab_server.of_resource": {"size": ""},
	}
	if d := cmp.Diff(want, impure.resources()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	web := change("lab_server.web", "update", object{"notes": "a", "tags": object{"k": "v"}}, object{"tags": object{"k": "v"}},
		object{"after_unknown": object{"notes": true, "id": true, "name": true, "tags": object{"at": true, "secret": true}}, "after_sensitive": object{"tags": object{"secret": true}}})
	got := Read(Input{Plan: decoded(t, object{"resource_changes": []any{web}}), Impure: map[string]map[string]string{"lab_server.web": {"notes": "uuid", "name": "uuid", "tags": "timestamp", "size": "uuid"}},
		Ignored: map[string]syntax.Ignored{"lab_server.web": {Paths: [][]string{{"name"}}}}}, sealer()).Varying
	slices.SortFunc(got, func(a, b Varying) int { return strings.Compare(a.Path, b.Path) })
	if d := cmp.Diff([]Varying{{Address: "lab_server.web", Path: "notes", By: "uuid()"}, {Address: "lab_server.web", Path: "tags.at", By: "timestamp()"},
		{Address: "lab_server.web", Path: "tags.secret", By: "timestamp()"}}, got); d != "" {
		t.Errorf("varying (-want +got):\n%s", d)
	}
}

// TestUnfollowed checks that a plan is undetermined if a function may have been overlooked.
func TestUnfollowed(t *testing.T) {
	t.Parallel()
	trigger := `resource "lab_trigger" "a" { at = timestamp() }` + "\n"
	for name, c := range map[string]struct {
		file, text, unknown string
		undetermined        bool
	}{
		"JSON":                  {"a.tf.json", `{"locals":{"a":"${timestamp()}"}}`, "notes", true},
		"an unknown reference":  {"a.tf", trigger + `resource "lab_server" "b" { notes = lab_trigger.a.id }`, "notes", true},
		"a known reference":     {"a.tf", trigger + `resource "lab_server" "b" { notes = lab_trigger.a.id }`, "size", false},
		"another resource's id": {"a.tf", trigger + `resource "lab_server" "b" { notes = lab_server.web.id }`, "notes", false},
	} {
		s := newStage(t, map[string]string{c.file: c.text, "data.tf": `data "lab_lookup" "a" {}`})
		s.options.Compare = true
		s.set("second", "plan.json")
		s.set("plan.json", changesOf(t, change("lab_server.b", "update", object{"id": "s-1", "notes": "x"}, object{"id": "s-1"}, object{"after_unknown": object{c.unknown: true}})))
		out, err := s.run()
		if err != nil || out.Undetermined != c.undetermined || len(out.Varying) > 0 || s.unrefreshed() != 2 {
			t.Errorf("%s: %+v, %v", name, out.Result, err)
		}
	}
}
