package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAsPlanned checks that the trees are those of the plan, with a value for what is unknown.
func TestAsPlanned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		before, live object
		after        any
		more         object
		declared     string
	}{
		"plain":         {"nothing is unknown", object{"size": 2}, object{"size": 8}, object{"size": 4}, nil, `{"size":4}`},
		"left alone":    {"an adopted value stays the declared one", object{"size": 2}, object{"size": 8}, object{"size": 8}, nil, `{"size":8}`},
		"written":       {"a written attribute has its recorded value", object{"size": 2}, object{"size": 8}, object{}, object{"after_unknown": object{"size": true}}, `{"size":2}`},
		"added by hand": {"and no value if none is recorded, so that a live one differs", object{}, object{"size": 8}, object{}, object{"after_unknown": object{"size": true}}, `{"size":"(known after apply)"}`},
		"written anew":  {"nothing is replaced without a live value", object{}, object{}, object{}, object{"after_unknown": object{"size": true}}, `{}`},
		"removed":       {"a removed value is set again", object{"size": 2}, object{}, object{}, object{"after_unknown": object{"size": true}}, `{"size":2}`},
		"a key": {"each key of a map counts", object{"tags": object{"a": "1"}}, object{"tags": object{"a": "1", "b": "x"}}, object{"tags": object{"a": "1"}},
			object{"after_unknown": object{"tags": object{"b": true}}}, `{"tags":{"a":"1","b":"(known after apply)"}}`},
		"an element": {"each element of a list counts", object{"args": []any{"a"}}, object{"args": []any{"a", "x"}}, object{"args": []any{"a", nil}},
			object{"after_unknown": object{"args": []any{false, true}}}, `{"args":["a","(known after apply)"]}`},
		"a short list": {"elements beyond the planned list count, too", object{"args": []any{"a"}}, object{"args": []any{"a", "x"}}, object{"args": []any{"a"}},
			object{"after_unknown": object{"args": []any{false, true}}}, `{"args":["a","(known after apply)"]}`},
		"all": {"each attribute is unknown", object{"size": 2, "etag": "a"}, object{"size": 8, "etag": "b", "tags": object{"b": "x"}}, nil,
			object{"after_unknown": true}, `{"etag":"b","size":2,"tags":"(known after apply)"}`},
		"imported":       {"a value that no apply recorded differs", object{"size": 8}, object{"size": 8}, object{}, object{"importing": object{"id": "1"}, "after_unknown": object{"size": true}}, `{"size":"(known after apply)"}`},
		"the provider's": {"another attribute has its live value", object{"etag": "a"}, object{"etag": "b"}, object{}, object{"after_unknown": object{"etag": true}}, `{"etag":"b"}`},
		"never set":      {"an attribute without any value stays absent", object{}, object{}, object{}, object{"after_unknown": object{"etag": true}}, `{}`},
		"in a list": {"elements are matched by position", object{"disk": []any{object{"id": "a"}, object{"id": "b"}}}, object{"disk": []any{object{"id": "c"}, object{"id": "b"}}},
			object{"disk": []any{object{}, object{"id": "b"}}}, object{"after_unknown": object{"disk": []any{object{"id": true}, object{}}}}, `{"disk":[{"id":"c"},{"id":"b"}]}`},
		"known list": {"false is no unknown value", object{}, object{}, object{"disk": []any{"x"}}, object{"after_unknown": object{"disk": []any{false}}}, `{"disk":["x"]}`},
		"destroyed":  {"there is no declared value", object{"size": 2}, object{"size": 2}, nil, nil, ""},
	} {
		action := "update"
		if tc.after == nil && tc.more["after_unknown"] == nil {
			action = "delete"
		}
		p := decoded(t, object{"resource_drift": []any{change("lab_server.web", "update", tc.before, tc.live, nil)},
			"resource_changes": []any{change("lab_server.web", action, tc.live, tc.after, tc.more)}, "configuration": config(object{"size": object{}, "tags": object{}, "args": object{}})})
		i := Read(Input{Plan: p, AsPlanned: true}, sealer()).Instances[0]
		declared := ""
		if i.Declared != nil {
			declared = string(i.Declared.AppendJSON(nil))
		}
		if diff := cmp.Diff(tc.declared, declared); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
		if i.Form != nil || string(i.Live.AppendJSON(nil)) != encode(t, tc.live) || string(i.Recorded.AppendJSON(nil)) != encode(t, tc.before) {
			t.Errorf("%s: recorded %s and live %s are not those of the plan", name, i.Recorded, i.Live)
		}
	}
}
