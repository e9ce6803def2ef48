package daemon

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestEvidenceHasTheRevision checks that the evidence for a finding has the commit of its declaration that was read last.
func TestEvidenceHasTheRevision(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.cycle(t)
	f := &model.Finding{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Place: "p", Name: "a", Declaration: "git"}
	reads := lastReads{b.engine}
	if v := reads.Evidence(f); v.Revision != "commit-1" || v.Unread != "" || v.Declared != 1 {
		t.Errorf("got %+v", v)
	}
	b.commit("2")
	if err := reads.Refresh(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if v := reads.Evidence(f); v.Revision != "commit-2" {
		t.Errorf("after the refresh: %+v", v)
	}
}

// TestEvidenceForDeletion checks that a resource that no declaration declares is proven by all declarations that govern its source.
func TestEvidenceForDeletion(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	f := &model.Finding{Verdict: model.Unmanaged, Key: model.Key{Source: "live", Kind: thing, ID: "p/z"}, Place: "p", Name: "z"}
	reads := lastReads{b.engine}
	if v := reads.Evidence(f); v.Unread == "" {
		t.Errorf("before the first scan: %+v", v)
	}
	b.cycle(t)
	if v := reads.Evidence(f); v.Unread != "" || v.Declared != 1 || v.Uncommitted != "" || v.Revision != "commit-1" {
		t.Errorf("got %+v", v)
	}
	s, err := reads.Subject(f)
	if err != nil || !s.Declared.IsNull() {
		t.Errorf("Subject() = %+v, %v", s, err)
	}
	b.commit("2")
	if err := reads.Refresh(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if v := reads.Evidence(f); v.Revision != "commit-2" {
		t.Errorf("after the refresh: %+v", v)
	}
	name := b.engine.estate.Declarations[0].Name
	l := b.engine.loaded[name]
	l.declaration.Inventory = true
	b.engine.loaded[name] = l
	if v := reads.Evidence(f); v.Declared != 0 {
		t.Errorf("that only an inventory does not have it proves that it may go: %+v", v)
	}
	l.err = errNotYet
	b.engine.loaded[name] = l
	if v := reads.Evidence(f); v.Unread == "" {
		t.Errorf("a declaration that could not be read: %+v", v)
	}
}

// TestEvidenceOfNondeterminism checks that one claim that differs between equal inputs is evidence
// against all findings of its declaration, and of no other verdict.
func TestEvidenceOfNondeterminism(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.cycle(t)
	f := &model.Finding{Key: model.Key{Source: "live", Kind: thing, ID: "p/other"}, Place: "p", Name: "other", Declaration: "git"}
	l := b.engine.loaded["git"]
	v := &model.Violation{Check: "flux/suspended", Verdict: model.Violated, Reason: "it is suspended"}
	for verdict, want := range map[model.Verdict]string{
		model.Violated:         "",
		model.Nondeterministic: "declaration git is not deterministic, so that nothing is put back to it: " + l.declaration.Claims[0].Address + ": it is suspended",
	} {
		v.Verdict = verdict
		l.declaration.Claims[0].Violations = []model.Violation{*v}
		b.engine.loaded["git"] = l
		if got := (lastReads{b.engine}).Evidence(f).Nondeterministic; got != want {
			t.Errorf("%s: got %q, want %q", verdict, got, want)
		}
	}
	l.declaration.Claims[0].Violations = nil
	l.declaration.Violations = []model.PartViolation{{Address: "main.tf", Violation: *v}, {Address: "lock", Violation: model.Violation{Verdict: model.Nondeterministic, Reason: "by chance"}}}
	l.declaration.Violations[0].Verdict = ""
	b.engine.loaded["git"] = l
	if got, want := (lastReads{b.engine}).Evidence(f).Nondeterministic, "declaration git is not deterministic, so that nothing is put back to it: lock: by chance"; got != want {
		t.Errorf("a part of the declaration: got %q, want %q", got, want)
	}
}
