package server

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/store"
)

// auditStub is an audit log of two entries, with every optional field. Its operations fail with err
// if that is set.
type auditStub struct{ err error }

func (a auditStub) entry(index int64) audit.Entry {
	return audit.Entry{Index: index, Version: "v1", Kind: audit.KindDecision, Time: begin(), List: &audit.List{Count: 1, Root: "cm9vdA==", Complete: true}, Data: json.RawMessage(`{"by":"alice","id":"d1"}`)}
}

func (a auditStub) AuditEntries(int64, int) ([]audit.Entry, error) {
	edited := a.entry(0)
	edited.State = audit.StateEdited
	return []audit.Entry{a.entry(1), edited}, a.err
}

func (a auditStub) AuditEntry(index int64) (audit.Entry, error) {
	if index > 1 && a.err == nil {
		return audit.Entry{}, audit.ErrNoEntry
	}
	return a.entry(index), a.err
}

func (a auditStub) ProveEntry(index int64) ([]byte, error) {
	if index == 0 && a.err == nil {
		return nil, &audit.TamperedError{What: "entry 0 was edited"}
	}
	return []byte("c2sp.org/tlog-proof@v1\n"), a.err
}

func (a auditStub) DiscloseNames(int64) ([]byte, []string, error) {
	return []byte("\ndriftd/v1 names\n"), []string{"person:x"}, a.err
}

func (a auditStub) AuditKey() (audit.PublicKey, error) { return audit.PublicKey{}, a.err }

func (a auditStub) State() (AuditState, error) {
	return AuditState{Entries: 2, Key: "k", Error: "the head is gone", Doubt: &store.Doubt{What: "restored", Since: begin()}, Verified: begin(), Faults: 1, Settled: 1,
		Witnesses: []WitnessState{{Name: "file", Sent: 2}, {Name: "hook", Error: "404"}}}, a.err
}

func (a auditStub) Check(context.Context) (AuditHealth, error) {
	return AuditHealth{Key: "k", Size: 2, Root: "r", Head: "h", Dropped: 1, Faults: []string{"entry 1 was edited"}, More: 1, Settled: []string{"entry 0 is gone"},
		Backwards: []int64{1}, Doubt: &store.Doubt{What: "restored", Since: begin()}, Limits: []string{"no witness"},
		Witnesses: []WitnessHealth{{Name: "file", Heads: 1, Newest: 1, Error: "line 3", Unread: true}, {Name: "hook", WriteOnly: true}}}, a.err
}

func (a auditStub) Settle(_ context.Context, _, reason string) (audit.Trust, error) {
	return audit.Trust{By: "person:x", Doubt: "restored", Reason: reason, Faults: []string{"entry 1 was edited"}, More: 1, Lasting: []string{"entry 0 is gone"},
		Of: new(int64), Edited: []audit.Edited{{Index: 1, Hash: "h"}}, Unsigned: []audit.Range{{From: 0, To: 1}},
		Heads: []audit.SettledHead{{Size: 3, Root: "r"}}}, a.err
}

func (a auditStub) Send(context.Context) (AuditSent, error) {
	return AuditSent{Size: 2, Sent: []WitnessSent{{Name: "file"}, {Name: "hook", Error: "404"}}}, a.err
}

func (a auditStub) EraseName(name, _ string, _ time.Time) error {
	if name != "alice" && a.err == nil {
		return audit.ErrNoPerson
	}
	return a.err
}

func TestAuditHealthOK(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]AuditHealth{
		"fault":    {Faults: []string{"x"}},
		"more":     {More: 1},
		"in doubt": {Doubt: &store.Doubt{}},
	} {
		if h.OK() {
			t.Errorf("%s is OK", name)
		}
	}
	if h := (AuditHealth{Settled: []string{"x"}, Backwards: []int64{1}}); !h.OK() {
		t.Error("settled faults are not OK")
	}
	h := AuditHealth{Witnesses: []WitnessHealth{{Name: "a"}, {Name: "b", Unread: true}, {Name: "c", WriteOnly: true}}}
	if unread := h.Unread(); !h.OK() || len(unread) != 1 || unread[0].Name != "b" || len(h.Witnesses) != 3 {
		t.Errorf("unread %+v of %+v", unread, h)
	}
}

func TestAuditStateInWords(t *testing.T) {
	t.Parallel()
	at := time.Unix(1, 0)
	for _, test := range []struct {
		state        AuditState
		result, kept string
	}{
		{AuditState{Entries: 3}, "", "no witness"},
		{AuditState{Verified: at}, "no difference", "no witness"},
		{AuditState{Verified: at, Settled: 2}, "no difference, 2 faults settled", "no witness"},
		{AuditState{Verified: at, Settled: 2, Faults: 1}, "1 difference", "no witness"},
		{AuditState{Entries: 3, Witnesses: []WitnessState{{Sent: 3}, {Sent: 2}}}, "", "witnesses: 1 of 2 with the head"},
		{AuditState{Entries: 3, Witnesses: []WitnessState{{Sent: 3, Error: "down"}}}, "", "witnesses: 1 of 1 with the head, 1 not read completely"},
	} {
		if got := test.state.Result(); got != test.result {
			t.Errorf("result %q, want %q", got, test.result)
		}
		if got := test.state.Kept(); got != test.kept {
			t.Errorf("witnesses %q, want %q", got, test.kept)
		}
	}
}
