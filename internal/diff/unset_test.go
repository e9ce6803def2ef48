package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnset compares elements that declare empty values for what the system sets.
func TestUnset(t *testing.T) {
	t.Parallel()
	tcp := model.StringOf("TCP")
	port := &model.Schema{Fields: map[string]*model.Schema{
		"protocol": {Default: &tcp, Unset: true}, "group": {Unset: true, Extra: model.Extra{Derived: true}}, "name": {}, "port": {}}}
	for _, tc := range []struct {
		reason         string
		list           *model.Schema
		declared, live string
		want           string
		deviations     []string
	}{
		{"an empty key", &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}, Each: port},
			`{"ports":[{"port":1,"protocol":"","group":""}]}`, `{"ports":[{"port":1,"protocol":"TCP","group":"g"}]}`, "", []string{}},
		{"another key", &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}, Each: port},
			`{"ports":[{"port":1,"protocol":""}]}`, `{"ports":[{"port":1,"protocol":"UDP"}]}`, "changed ports[port=1,protocol=TCP]", []string{"ports[port=1,protocol=TCP].port", "ports[port=1,protocol=UDP].port", "ports[port=1,protocol=UDP].protocol"}},
		{"one field beside it", &model.Schema{List: model.Bag, Each: port},
			`{"ports":[{"port":1,"name":"a","protocol":"","group":""}]}`, `{"ports":[{"port":1,"name":"b","protocol":"TCP","group":"g"}]}`, "changed ports[0].name", []string{"ports"}},
		{"the only field beside it", &model.Schema{List: model.Bag, Each: port},
			`{"ports":[{"name":"a","group":""}]}`, `{"ports":[{"name":"b","group":"g"}]}`, "changed ports[0].name", []string{"ports"}},
	} {
		schema := &model.Schema{Fields: map[string]*model.Schema{"ports": tc.list}}
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
		s.Kind.Schema = schema
		if got := show(Compare(s, Options{})); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
		}
		if d := cmp.Diff(tc.deviations, Deviations(schema, value(t, tc.declared), value(t, tc.live))); d != "" {
			t.Errorf("%s: deviations (-want +got):\n%s", tc.reason, d)
		}
	}
}
