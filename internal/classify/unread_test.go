package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// uncheckedFields is an outcome of fields that could not be read.
func uncheckedFields(live ...string) model.Outcome {
	o := model.Outcome{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d", Address: "a.yaml:1"}, Reason: "lacks Pool.Audit"}
	for _, path := range live {
		o.Changes = append(o.Changes, model.Change{Path: "attribute of " + path, LivePath: path})
	}
	return o
}

// TestUncheckedFieldsKeepTheirFindings resolves what was compared, and no finding of a
// field that was not.
func TestUncheckedFieldsKeepTheirFindings(t *testing.T) {
	t.Parallel()
	inOtherWords := changed("")
	inOtherWords.Changes = []model.Change{{Path: "pool_id", LivePath: "pool"}}
	for reason, tc := range map[string]struct {
		earlier model.Outcome
		now     model.Outcome
		// stays reports whether the earlier finding must not be resolved.
		stays bool
	}{
		"another field was put back":            {changed("cores"), uncheckedFields("pool"), false},
		"the field itself is not known":         {changed("pool"), uncheckedFields("pool"), true},
		"one of several fields is not known":    {changed("pool"), uncheckedFields("acl", "pool"), true},
		"the field is not known in other words": {inOtherWords, uncheckedFields("pool"), true},
		"nothing of it is known":                {changed("cores"), model.Outcome{Verdict: model.Unchecked, Claim: changed("").Claim, Reason: "node down"}, true},
	} {
		in := input(tc.now)
		in.Sources, in.Earlier = []string{"s"}, before(tc.earlier)
		if got := newProof(&in).isResolved(&in.Earlier[0]); got == tc.stays {
			t.Errorf("%s: over is %t", reason, got)
		}
		for _, f := range Findings(in).Resolved {
			if tc.stays {
				t.Errorf("%s: %s is resolved", reason, f.Verdict)
			}
		}
	}
}

// TestUnmanagedOnADeadNode has an unclaimed resource that cannot be read: the scan reports
// that, and an earlier finding that it is unmanaged stays open.
func TestUnmanagedOnADeadNode(t *testing.T) {
	t.Parallel()
	unread := model.Outcome{Verdict: model.Unchecked, Reason: "exists and is not in d; could not be read: node down"}
	for reason, tc := range map[string]struct {
		earlier    []model.Finding
		remembered int
	}{
		"dead at the first look":   {nil, 0},
		"dead after it was found":  {before(model.Outcome{Verdict: model.Unmanaged}), 1},
		"dead for the second time": {before(unread), 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := input(unread)
			in.Sources, in.Earlier = []string{"s"}, tc.earlier
			in.Judged[0].Subject.Claims, in.Judged[0].Subject.Unread = nil, "node down"
			got := Findings(in)
			if len(got.Current) != 1 || got.Current[0].Verdict != model.Unchecked || len(got.Resolved) > 0 {
				t.Fatalf("got %+v, want one that is unchecked", got)
			}
			if len(got.Remembered) != tc.remembered {
				t.Errorf("%d findings stay open, want %d", len(got.Remembered), tc.remembered)
			}
			if tc.remembered == 0 && tc.earlier != nil && got.Current[0].ID != tc.earlier[0].ID {
				t.Errorf("ID %s, want that of the earlier finding", got.Current[0].ID)
			}
		})
	}
}
