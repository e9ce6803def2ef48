package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// TestIgnored checks ignore_changes of instances: those of the resource, in its own module, unless an apply makes a new object.
func TestIgnored(t *testing.T) {
	t.Parallel()
	one, two := object{"id": "s-1", "size": 1}, object{"id": "s-1", "size": 2}
	ignored := map[string]syntax.Ignored{"lab_server.web": {Paths: [][]string{{"size"}}}, "module.net.lab_server.web": {All: true}}
	for name, tt := range map[string]struct {
		change object
		want   syntax.Ignored
	}{
		"no-op":    {change("lab_server.web", "no-op", one, one, nil), ignored["lab_server.web"]},
		"update":   {change("lab_server.web", "update", one, two, nil), ignored["lab_server.web"]},
		"count":    {change("lab_server.web[1]", "no-op", one, one, nil), ignored["lab_server.web"]},
		"for_each": {change(`module.net["a.b"].lab_server.web["x[0]"]`, "no-op", one, one, nil), syntax.Ignored{All: true}},
		"another":  {change("module.other.lab_server.web", "no-op", one, one, nil), syntax.Ignored{}},
		"replaced": {change("lab_server.web", "delete create", one, two, nil), syntax.Ignored{}},
		"created":  {change("lab_server.web", "create", nil, two, nil), syntax.Ignored{}},
		"deleted":  {change("lab_server.web[2]", "delete", one, nil, nil), syntax.Ignored{}},
		"deposed":  {change("lab_server.web", "no-op", one, one, object{"deposed": "a1b2c3d4"}), syntax.Ignored{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decoded(t, object{"resource_changes": []any{tt.change}, "configuration": config(nil)})
			i := Read(Input{Plan: p, Schemas: schemas(t, p), Ignored: ignored}, sealer()).Instances[0]
			if d := cmp.Diff(tt.want, i.Ignored); d != "" {
				t.Error(d)
			}
		})
	}
}
