package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestReplacedInstances checks the replacements of a plan, and their attributes.
func TestReplacedInstances(t *testing.T) {
	t.Parallel()
	with := func(name string) object { return object{"id": "s-1", "name": name} }
	unknown := object{"id": true}
	for reason, tt := range map[string]struct {
		actions string
		more    object
		want    []model.Replacement
		action  string
	}{
		"destroyed first":    {"delete create", object{"replace_paths": []any{[]any{"name"}}}, []model.Replacement{{Path: "name"}}, "replace"},
		"created first":      {"create delete", object{"replace_paths": []any{[]any{"name"}}}, []model.Replacement{{Path: "name"}}, "replace"},
		"in blocks and maps": {"delete create", object{"replace_paths": []any{[]any{"disk", 0, "size"}, []any{"disk", 1, "size"}, []any{"labels", "a"}}}, []model.Replacement{{Path: "disk.size"}, {Path: "labels.a"}}, "replace"},
		"quoted names":       {"delete create", object{"replace_paths": []any{[]any{"labels", "a.b/c"}, []any{"labels", "a", "b"}}}, []model.Replacement{{Path: `labels["a.b/c"]`}, {Path: "labels.a.b"}}, "replace"},
		"tainted":            {"delete create", object{"action_reason": "replace_because_tainted"}, nil, "replace"},
		"an update":          {"update", nil, nil, "update"},
	} {
		c := change("lab_server.web", tt.actions, with("by hand"), with("web"), object{"after_unknown": unknown})
		for name, v := range tt.more {
			if name == "replace_paths" {
				c["change"].(object)[name] = v
			} else {
				c[name] = v
			}
		}
		p := decoded(t, object{"resource_changes": []any{c}, "configuration": config(object{"name": constant("web")})})
		i := Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0]
		if d := cmp.Diff(tt.want, i.Replaces); d != "" || i.Action != tt.action {
			t.Errorf("%s: action %s (-want +got):\n%s", reason, i.Action, d)
		}
	}
}
