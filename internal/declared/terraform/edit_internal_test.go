package terraform

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	sized := func(size int64) *model.Value {
		v := model.MapOf(model.Field{Name: "name", Value: model.StringOf("x")}, model.Field{Name: "size", Value: model.IntOf(size)})
		return &v
	}
	for name, tc := range map[string]struct {
		reason    string
		instances []plan.Instance
		complete  bool
		want      string
	}{
		"nothing": {"no changes", []plan.Instance{{Address: "a.a", Action: "no-op"}}, true, "0 to import, 0 to add, 0 to change, 0 to destroy"},
		"import":  {"only an import", []plan.Instance{{Address: "a.a", Action: "no-op", Imports: true}}, true, "1 to import, 0 to add, 0 to change, 0 to destroy"},
		"update": {"the attributes are named", []plan.Instance{{Address: "a.a", Action: "update", Imports: true, Declared: sized(1), Live: sized(2)}}, true,
			"1 to import, 0 to add, 1 to change, 0 to destroy (a.a: update of size)"},
		"others": {"a replacement is an addition and a destruction, and checks do not count", []plan.Instance{{Address: "a.a", Action: "replace"}, {Address: "a.b", Action: "create"},
			{Address: "a.c", Action: "delete"}, {Address: "a.d", Action: "forget"}, {Address: "check.x", Type: plan.CheckType, Action: "update", Unchecked: "no"}}, true,
			"0 to import, 2 to add, 0 to change, 2 to destroy (a.a: replace; a.b: create; a.c: delete; and 1 more)"},
		"unchecked": {"an instance without a plan", []plan.Instance{{Address: "a.a", Unchecked: "boom"}}, false, "0 to import, 0 to add, 0 to change, 0 to destroy"},
	} {
		got := outcomeOf(plan.Result{Complete: true, Instances: tc.instances})
		if d := cmp.Diff(tc.want, got.String()); d != "" || got.Complete != tc.complete {
			t.Errorf("%s: %s: complete %t (-want +got):\n%s", name, tc.reason, got.Complete, d)
		}
	}
}

// TestEditOfStates checks that states have no files to edit.
func TestEditOfStates(t *testing.T) {
	t.Parallel()
	if _, ok := NewEdit(&states{}, nil); ok {
		t.Error("states can be edited")
	}
}

// TestSourcesReads checks which files a plan could read: those of the private copy, and those that
// its folders would have had.
func TestSourcesReads(t *testing.T) {
	t.Parallel()
	s := Sources{received: map[string]bool{"/r/infra": true, "/r/infra/main.tf": false, "/r/infra/vars.yaml": false, "/r/shared/m.tf": false, "/r/infra/terraform.tfstate": false}}
	for file, want := range map[string]bool{"/r/infra/main.tf": true, "/r/infra/vars.yaml": true, "/r/infra/gone.yaml": true, "/r/shared/m.tf": true,
		"/r/shared/other.tf": false, "/r/infra/terraform.tfstate": false, "/r/infra/terraform.tfstate.1700000000.backup": false, "/r/infra/.terraform": false, "/r/infra/sub/x": false} {
		if got := s.Reads(file); got != want {
			t.Errorf("%s: %t, want %t", file, got, want)
		}
	}
	s.received["/etc/passwd"] = false
	for folder, want := range map[string]string{"/": "", "/r": "/etc/passwd", "/etc": "/r/infra"} {
		if got := s.Outside(folder); got != want {
			t.Errorf("outside %s: %q, want %q", folder, got, want)
		}
	}
}
