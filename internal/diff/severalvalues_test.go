package diff

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestFieldWithSeveralValues compares a field of which a declaration has several values, each for some clusters.
func TestFieldWithSeveralValues(t *testing.T) {
	t.Parallel()
	byHand := model.Owner{Name: "hand", Edits: true, At: later, Fields: set("port", "env")}
	for _, tc := range []struct{ reason, one, other, path, recorded, live, want string }{
		{"the first value", `{"port":1}`, `{"port":2}`, "port", "", `{"port":1}`, ""},
		{"the other value", `{"port":1}`, `{"port":2}`, "port", "", `{"port":2}`, ""},
		{"neither value", `{"port":1}`, `{"port":2}`, "port", "", `{"port":3}`, "changed port hand"},
		{"neither value, after the other was applied", `{"port":1}`, `{"port":2}`, "port", `{"port":2}`, `{"port":3}`, "changed port hand"},
		{"neither value, after neither was applied", `{"port":1}`, `{"port":2}`, "port", `{"port":4}`, `{"port":3}`, "conflict port hand"},
		{"the first value, after the other was applied", `{"port":1}`, `{"port":2}`, "port", `{"port":2}`, `{"port":1}`, ""},
		{"a field that only the other has", `{}`, `{"port":2}`, "port", "", `{"port":2}`, ""},
		{"another value of such a field", `{}`, `{"port":2}`, "port", "", `{"port":3}`, "undeclared port hand"},
		{"another value of such a field that was applied", `{}`, `{"port":2}`, "port", `{"port":2}`, `{"port":3}`, "changed port hand"},
		{"a field that the other has not", `{"port":1}`, `{}`, "port", "", `{}`, ""},
		{"another value of a field that may be absent", `{"port":1}`, `{}`, "port", "", `{"port":3}`, "changed port hand"},
		{"an element that only the other has", `{"env":[]}`, `{"env":[{"name":"A","value":"1"}]}`, "env[name=A]", "", `{"env":[{"name":"A","value":"1"}]}`, ""},
		{"another value in such an element", `{"env":[]}`, `{"env":[{"name":"A","value":"1"}]}`, "env[name=A]", "", `{"env":[{"name":"A","value":"2"}]}`, "undeclared env[name=A]"},
		{"another value in an element", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"2"}]}`, "env[name=A].value", "", `{"env":[{"name":"A","value":"3"}]}`, "changed env[name=A].value"},
		{"the other value in an element", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"2"}]}`, "env[name=A].value", "", `{"env":[{"name":"A","value":"2"}]}`, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, tc.one), &model.Resource{Value: value(t, tc.live), Owners: []model.Owner{byHand}})
			s.Claims[0].Delegated = []model.Delegation{{Path: tc.path, To: "the cluster", Among: true}}
			s.Claims[0].Otherwise = []model.Value{value(t, tc.other)}
			if tc.recorded != "" {
				s.Claims[0].Recorded = pointer(value(t, tc.recorded))
			}
			if got := show(Compare(s, Options{})); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
