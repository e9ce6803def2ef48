package kubernetes

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

func TestSame(t *testing.T) {
	t.Parallel()
	fields := func(names ...string) model.FieldSet {
		var set model.FieldSet
		for _, name := range names {
			set.Put(model.Step{Text: name}, model.FieldSet{})
		}
		return set
	}
	build := func(change func(*model.Resource)) model.Resource {
		applied := parse(t, `{"a":1}`)
		r := model.Resource{Value: parse(t, `{"spec":{"a":1}}`), LastApplied: &applied, Generation: 1, Owners: []model.Owner{
			{Name: "kubectl", Applies: true, At: time.Unix(1, 0), Fields: fields("spec")},
		}}
		change(&r)
		return r
	}
	tests := map[string]struct {
		reason string
		change func(*model.Resource)
		want   bool
	}{
		"nothing":     {reason: "an event may repeat the same state", change: func(*model.Resource) {}, want: true},
		"value":       {reason: "the value changed", change: func(r *model.Resource) { r.Value = parse(t, `{"spec":{"a":2}}`) }},
		"applied":     {reason: "the last applied configuration changed", change: func(r *model.Resource) { v := parse(t, `{"a":2}`); r.LastApplied = &v }},
		"not applied": {reason: "the last applied configuration was removed", change: func(r *model.Resource) { r.LastApplied = nil }},
		"owned":       {reason: "a controller owns the object now", change: func(r *model.Resource) { r.SystemOwned = "owned by X" }},
		"owner":       {reason: "another manager owns a field now", change: func(r *model.Resource) { r.Owners[0].Name = "helm" }},
		"fields":      {reason: "a field has no owner now", change: func(r *model.Resource) { r.Owners[0].Fields = fields("metadata") }},
		"check":       {reason: "the status fails a check", change: func(r *model.Resource) { r.Violations = []model.Violation{{Check: "flux/ready"}} }},
		"undecided":   {reason: "a check cannot be judged any more", change: func(r *model.Resource) { r.Undecided = []string{"flux/ready"} }},
		"installs":    {reason: "the inventory lists another object", change: func(r *model.Resource) { r.Installs = []model.Ref{{ID: "p/a"}} }},
		"time":        {reason: "the time of a write is not compared", change: func(r *model.Resource) { r.Owners[0].At = time.Unix(2, 0) }, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := same(build(func(*model.Resource) {}), build(tt.change)); got != tt.want {
				t.Errorf("%s: same() = %v", tt.reason, got)
			}
		})
	}
}
