package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
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
	want := []Varying{{"lab_server.each", "", byPlans}, {"lab_server.web", "size", byPlans}}
	for range 2 {
		out, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out.Varying); d != "" || out.Undetermined {
			t.Errorf("varying (-want +got):\n%s", d)
		}
		if len(out.Instances) != 2 || out.Instances[0].Unchecked == "" || out.Instances[1].Address != "lab_server.web" || out.Instances[1].Unchecked != "" {
			t.Errorf("an instance by chance is compared: %+v", out.Instances)
		}
	}
	if n := s.unrefreshed(); n != 2 {
		t.Errorf("%d plans without a refresh, want 2", n)
	}
	s.write(s.root+"/main.tf", `resource "lab_server" "web" { size = 3 }`)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if n := s.unrefreshed(); n != 4 {
		t.Errorf("%d plans without a refresh after a change, want 4", n)
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
	if out, err = s.run(); err != nil || len(out.Notes) != 0 || len(out.Varying) != 0 || s.unrefreshed() != 4 {
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
}`})
	s.write(s.root+"/m/m.tf", `variable "tags" {}
resource "lab_server" "in" {
  tags  = var.tags
  notes = var.other
}`)
	impure := newImpurity()
	m := workcopy.Scan(s.root)
	impure.module("", &m)
	m = workcopy.Scan(s.root + "/m")
	impure.module("module.m.", &m)
	want := map[string]map[string]string{
		"lab_server.web":         {"notes": "timestamp", "name": "uuid", "disk": "bcrypt", "nic": "timestamp"},
		"module.m.lab_server.in": {"tags": "timestamp"},
	}
	if d := cmp.Diff(want, impure.resources); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	web := change("lab_server.web", "update", object{"notes": "a", "tags": object{"k": "v"}}, object{"tags": object{"k": "v"}},
		object{"after_unknown": object{"notes": true, "id": true, "name": true, "tags": object{"at": true, "secret": true}}, "after_sensitive": object{"tags": object{"secret": true}}})
	got := Read(Input{Plan: decoded(t, object{"resource_changes": []any{web}}), Impure: map[string]map[string]string{"lab_server.web": {"notes": "uuid", "name": "uuid", "tags": "timestamp", "size": "uuid"}},
		Ignored: map[string]Ignored{"lab_server.web": {Paths: [][]string{{"name"}}}}}, sealer()).Varying
	slices.SortFunc(got, func(a, b Varying) int { return strings.Compare(a.Path, b.Path) })
	if d := cmp.Diff([]Varying{{"lab_server.web", "notes", "uuid()"}, {"lab_server.web", "tags.at", "timestamp()"}, {"lab_server.web", "tags.secret", "timestamp()"}}, got); d != "" {
		t.Errorf("varying (-want +got):\n%s", d)
	}
}
