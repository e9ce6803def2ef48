package phrase

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestFieldOfCheck shows the one side of a field that fails a check.
func TestFieldOfCheck(t *testing.T) {
	t.Parallel()
	yes, hidden := model.BoolOf(true), model.NewSealer([]byte("key")).Seal("hunter2")
	for want, c := range map[string]model.Change{
		"true":     {Path: "spec.suspend", Live: &yes},
		"declared": {Path: "version", Declared: new(model.StringOf("declared"))},
		"(secret)": {Path: "values.password", Live: &hidden},
		"(absent)": {Path: "spec.mode"},
	} {
		f := &model.Finding{Verdict: model.Violated, Check: "flux/suspended", Changes: []model.Change{c}}
		field := Clock{Now: time.Unix(0, 0)}.Fields(f, 1)[0]
		if got := field.Inline(func(s string) string { return s }); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
