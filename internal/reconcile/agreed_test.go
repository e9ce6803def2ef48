package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestAgreement verifies that a new version is never applied, and that what driftd never saw live needs a person.
func TestAgreement(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode      reconcile.Mode
		by        string
		agreement reconcile.Agreement
		refused   string
	}{
		"moved":            {reconcile.Approve, "bob", reconcile.Moved, "has not seen it live as declared since"},
		"moved, automatic": {reconcile.Auto, "", reconcile.Moved, "has not seen it live as declared since"},
		"never, asked for": {reconcile.Auto, "bob", reconcile.NeverAgreed, ""},
		"never, automatic": {reconcile.Auto, "", reconcile.NeverAgreed, "it needs a person"},
		"agreed":           {reconcile.Auto, "", reconcile.Agreed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(r *reconcile.Rule) { r.Mode = tc.mode })
			b.reads.agreement = tc.agreement
			_, err := b.Propose(t.Context(), b.finding, reconcile.Request{By: tc.by, Via: "test", Reason: "wrong"})
			refusal := (*reconcile.Refusal)(nil)
			if errors.As(err, &refusal) != (tc.refused != "") || tc.refused != "" && (refusal.Guard != "agreed" || !strings.Contains(refusal.Why, tc.refused)) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
			if tc.refused != "" && b.live.Writes > 0 {
				t.Error("it was written")
			}
			p, err := b.Preview(t.Context(), b.finding, tc.by)
			if err != nil || p.Plan != nil && tc.refused != "" {
				t.Errorf("a preview: %+v, %v", p, err)
			}
			if p.Plan != nil && p.Plan.Unseen != (tc.agreement == reconcile.NeverAgreed) {
				t.Errorf("Unseen is %t", p.Plan.Unseen)
			}
		})
	}
}

// TestMovedSinceApproval verifies that a commit between the approval and the write ends the action.
func TestMovedSinceApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "bob")
	b.reads.refresh = func() { b.reads.agreement = reconcile.Moved }
	if after, err := b.approve(t, &a, "alice"); err == nil || after.State != reconcile.Refused || after.Guard != "agreed" || b.live.Writes > 0 {
		t.Errorf("got %s, %v after %d writes", after.State, err, b.live.Writes)
	}
}

// TestUnseenIsApproved verifies that what a person approves has whether driftd saw the declared values live.
func TestUnseenIsApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	seen := b.propose(t, "bob")
	if _, err := b.Answer(t.Context(), seen.ID, reconcile.CancelAnswer, reconcile.Request{By: "bob"}); err != nil {
		t.Fatal(err)
	}
	b.reads.agreement = reconcile.NeverAgreed
	unseen := b.propose(t, "bob")
	if seen.Plan.Equal(&unseen.Plan) || seen.Digest == unseen.Digest {
		t.Error("both are approved alike")
	}
	if n, ok := unseen.Notice(1); !ok || !n.Unseen {
		t.Errorf("a message has %+v", n)
	}
	if after, err := b.approve(t, &unseen, "alice"); err != nil || after.State != reconcile.Converged {
		t.Errorf("got %s, %v", after.State, err)
	}
}

// TestSeenProposalBecomesUnseen verifies that an approval without the warning does not hold with it.
func TestSeenProposalBecomesUnseen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "bob")
	b.reads.agreement = reconcile.NeverAgreed
	if after, err := b.approve(t, &a, "alice"); err == nil || after.State != reconcile.Superseded || b.live.Writes > 0 {
		t.Errorf("got %s, %v after %d writes", after.State, err, b.live.Writes)
	}
}
