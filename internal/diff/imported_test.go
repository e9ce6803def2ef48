package diff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// TestImported checks that what an import sets differently is changed, and not pending: no
// declaration set the live values.
func TestImported(t *testing.T) {
	t.Parallel()
	tree := func(fields ...string) model.Value {
		v := model.MapOf()
		for i := 0; i < len(fields); i += 2 {
			v = v.With(fields[i], model.StringOf(fields[i+1]))
		}
		return v
	}
	const waits = "pending []: import block"
	for name, tc := range map[string]struct {
		reason         string
		declared, live model.Value
		imported       bool
		want           []string
	}{
		"another value": {"it is overwritten", tree("size", "2"), tree("size", "8"), true, []string{"changed [size=8]: import block", waits}},
		"not declared":  {"it is removed", tree(), tree("note", "x"), true, []string{"changed [note=x]: import block", waits}},
		"as it is":      {"nothing is overwritten", tree("size", "8"), tree("size", "8"), true, []string{waits}},
		"no import":     {"the record shows that the declaration moved", tree("size", "2"), tree("size", "8"), false, []string{"pending [size=8]: import block"}},
	} {
		recorded := tc.live
		s := model.Subject{Kind: &model.Kind{Schema: &model.Schema{}}, Live: &model.Resource{Value: tc.live},
			Claims: []*model.Claim{{Value: tc.declared, Recorded: &recorded, Complete: true, ClaimApply: model.ClaimApply{Pending: "import block", Imported: tc.imported}}}}
		var got []string
		for _, o := range diff.Judge(&s, diff.Options{}).Outcomes {
			fields := []string{}
			for _, c := range o.Changes {
				fields = append(fields, c.Path+"="+c.Live.Text())
				if tc.imported && c.Recorded != nil {
					t.Errorf("%s: %s is recorded as %s", name, c.Path, c.Recorded)
				}
			}
			got = append(got, fmt.Sprintf("%s %v: %s", o.Verdict, fields, o.Reason))
		}
		slices.Sort(got)
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, d)
		}
	}
}
