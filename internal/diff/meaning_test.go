package diff

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// looseLens hides the fields of a list that claims do not declare.
type looseLens struct{ *renamedLens }

func (l looseLens) View(live model.Value) model.Value {
	tags := slices.DeleteFunc(slices.Clone(live.At("tags").Items()), func(v model.Value) bool { return strings.HasPrefix(v.Text(), "own-") })
	return model.MapOf(model.Field{Name: "tags", Value: model.ListOf(tags...)})
}

func TestUnclaimedFieldIsNoDispute(t *testing.T) {
	t.Parallel()
	tool := newRenamedLens(map[string]string{"labels": "tags"}, "")
	inventory := looseLens{newRenamedLens(map[string]string{"tags": "tags"}, "")}
	for _, tc := range []struct {
		reason, live, tool, inventory string
		want                          []string
	}{
		{"only the tool's own is gone", `{"tags":["a"]}`, `{"labels":["a","own-b"]}`, `{"tags":["a"]}`, []string{`changed labels ["a","own-b"] ["a"]`}},
		{"what both speak of is gone", `{"tags":["own-b"]}`, `{"labels":["a","own-b"]}`, `{"tags":["a"]}`, []string{`changed labels ["a","own-b"] ["own-b"]`}},
		{"the tool adds what the inventory lacks", `{"tags":["a"]}`, `{"labels":["a","b"]}`, `{"tags":["a"]}`, []string{`disputed labels - ["a"]`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := model.Subject{Key: model.Key{Source: "pve"}, Live: &model.Resource{Value: value(t, tc.live)}, Claims: []*model.Claim{
				{Declaration: "tool", Value: value(t, tc.tool), Lens: tool, RecordOnly: true, Complete: true},
				{Declaration: "inventory", Value: value(t, tc.inventory), Lens: inventory, ClaimMatching: model.ClaimMatching{ByIdentity: true}},
			}}
			if diff := gocmp.Diff(tc.want, sketch(Compare(&s, Options{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWithValueAt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ live, path, held, want string }{
		{`{"a":1}`, "a", `2`, `{"a":2}`},
		{`{"a":1}`, "b.c", `2`, `{"a":1,"b":{"c":2}}`},
		{`{"a":{"b":1,"c":2}}`, "a.b", `null`, `{"a":{"c":2}}`},
		{`{"a":[1]}`, "a[0]", `2`, ""},
		{`{"a":1}`, "a.b", `2`, ""},
	} {
		changed, ok := withValueAt(value(t, tc.live), tc.path, value(t, tc.held))
		if got := string(changed.AppendJSON(nil)); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s at %s: %s, %v, want %s", tc.held, tc.path, got, ok, tc.want)
		}
	}
}
