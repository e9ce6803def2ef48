package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/web"
	"github.com/driftd/driftd/internal/witness"
)

// TestLacks compares what a witness has with what was sent to it.
func TestLacks(t *testing.T) {
	t.Parallel()
	head := func(size int64, root byte) audit.Witnessed {
		return audit.Witnessed{Head: audit.Head{Size: size, Root: tlog.Hash{root}}}
	}
	sent := func(size int64, root byte, heads int) store.Published {
		return store.Published{Size: size, Root: tlog.Hash{root}.String(), Heads: heads}
	}
	for name, test := range map[string]struct {
		reason string
		sent   store.Published
		heads  []audit.Witnessed
		isCut  bool
		want   string
	}{
		"new":       {"a new witness has no heads", store.Published{}, nil, false, ""},
		"complete":  {"all are there", sent(2, 2, 2), []audit.Witnessed{head(1, 1), head(2, 2)}, false, ""},
		"more":      {"a head that was sent twice, and one whose answer was lost", sent(2, 2, 2), []audit.Witnessed{head(1, 1), head(2, 2), head(2, 2), head(3, 3)}, false, ""},
		"emptied":   {"none is left", sent(2, 2, 2), nil, false, "a has none of the heads that were sent to it (2, the last of 2 entries)"},
		"last":      {"the last one was removed", sent(2, 2, 2), []audit.Witnessed{head(1, 1)}, false, "a does not have the head of 2 entries"},
		"other":     {"another head of the same size is not the one", sent(2, 2, 2), []audit.Witnessed{head(1, 1), head(2, 3)}, false, "a does not have the head of 2 entries"},
		"fewer":     {"an earlier one was removed", sent(2, 2, 2), []audit.Witnessed{head(2, 2)}, false, "a has 1 of the 2 heads"},
		"same":      {"copies of one do not stand for another", sent(2, 2, 2), []audit.Witnessed{head(2, 2), head(2, 2)}, false, "a has 1 of the 2 heads"},
		"cut":       {"earlier ones were not read", sent(2, 2, 2), []audit.Witnessed{head(2, 2)}, true, ""},
		"cut, last": {"the last one is read also then", sent(2, 2, 2), []audit.Witnessed{head(1, 1)}, true, "a does not have the head of 2 entries"},
		"cut, none": {"padding alone is left", sent(2, 2, 2), nil, true, "a has none of the heads"},
	} {
		w := witnessed{health: server.WitnessHealth{Name: "a"}, heads: test.heads}
		if got := w.lacks(test.sent, test.isCut); (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s: %q, want %q", name, test.reason, got, test.want)
		}
	}
}

// A witness that could not be read is a problem until it is read.
func TestReportUnread(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &service{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 2 {
		if !s.reportUnread([]server.WitnessHealth{{Name: "the file a", Error: "one\ntwo", Unread: true}}) {
			t.Error("nothing is unread")
		}
	}
	if got := s.uncompared.Load(); got == nil || *got != "the audit log was not compared with all heads of its witnesses: the file a: one; two" {
		t.Errorf("problem %v", got)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines of log: %s", n, log.String())
	}
	if s.reportUnread(nil) || s.uncompared.Load() != nil {
		t.Error("the problem stays")
	}
}

// The faults that a person's verification finds through the daemon are those that the daemon reports: the log is in doubt,
// and the state and the metrics show it until it is settled.
func TestVerificationThroughTheDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, err := store.AuditKey(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, store.Options{Audit: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	finding := model.Finding{ID: "a", Verdict: model.Changed, Key: model.Key{Source: "prod", Kind: "test/Thing", ID: "x"}}
	if err := st.Save(store.Record{Run: model.Run{ID: "run-1", Started: time.Now(), Tool: "test"}, Findings: []model.Finding{finding}}); err != nil {
		t.Fatal(err)
	}
	witnesses := []config.Witness{{File: filepath.Join(dir, "heads")}, {File: dir}}
	s := &service{command: &command{}, store: st, news: web.NewNews(), metrics: metrics.New(metrics.Build{}, time.Now), log: slog.New(slog.DiscardHandler)}
	s.current.Store(&generation{config: &config.Config{StateDir: dir, Audit: config.Audit{Witness: witnesses}}})
	w := watchedLog{auditor: s.auditor(), s: s}

	want := func(doubt bool, faults int, result string) {
		t.Helper()
		state, err := w.State()
		if err != nil || (state.Doubt != nil) != doubt || state.Faults != faults || state.Result() != result {
			t.Errorf("%+v, %v: want doubt %v, %d faults, %q", state, err, doubt, faults, result)
		}
	}
	want(false, 0, "")
	if h, err := w.Check(t.Context()); err != nil || !h.OK() {
		t.Fatalf("%+v, %v", h, err)
	}
	want(false, 0, "no difference")
	if state, err := w.State(); err != nil || state.Entries != 2 || state.Kept() != "witnesses: 0 of 2 with the head, 1 not read completely" {
		t.Errorf("%+v, %v", state, err)
	}
	flipIn(t, store.Path(dir), "v1 scan")
	h, err := w.Check(t.Context())
	if err != nil || h.OK() || h.Doubt == nil || h.Doubt.What != "entry 1 was edited" {
		t.Fatalf("%+v, %v", h, err)
	}
	want(true, len(h.Faults), phrase.Count(len(h.Faults), "difference"))
	if doubt, err := st.Doubt(); err != nil || doubt == nil {
		t.Errorf("the log is not in doubt: %v", err)
	}
	page := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, line := range []string{"driftd_audit_in_doubt 1", "driftd_audit_witness_unread 1"} {
		if !strings.Contains(page.Body.String(), "\n"+line+"\n") {
			t.Errorf("no metric %s", line)
		}
	}
	if _, err := w.Settle(t.Context(), "lena", "a bad disk"); err != nil {
		t.Fatal(err)
	}
	want(false, 0, fmt.Sprintf("no difference, %s settled", phrase.Count(len(h.Faults), "fault")))
}

// The status has one line about the audit log.
func TestStatusOfTheAuditLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for want, s := range map[string]server.Status{
		"audit log   1,234 entries; verified 2026-11-25T12:00:00Z (2h0m0s ago): no difference; witnesses: 1 of 1 with the head": {Daemon: true,
			Audit: &server.AuditState{Entries: 1234, Verified: at, Witnesses: []server.WitnessState{{Name: "a", Sent: 1234}}}},
		"audit log   1 entry; in doubt; verified 2026-11-25T12:00:00Z (2h0m0s ago): 2 differences; no witness": {Daemon: true,
			Audit: &server.AuditState{Entries: 1, Verified: at, Faults: 2, Doubt: &store.Doubt{}}},
		"audit log   0 entries; not verified yet; no witness":                {Daemon: true, Audit: &server.AuditState{}},
		"audit log   2 entries; driftd audit verify verifies it; no witness": {Audit: &server.AuditState{Entries: 2}},
		"audit log   the head is gone":                                       {Audit: &server.AuditState{Error: "the head is gone"}},
	} {
		var out strings.Builder
		if err := writeStatus(&out, &s, at.Add(2*time.Hour), ""); err != nil {
			t.Fatal(err)
		}
		if words := strings.Join(strings.Fields(want), " "); !strings.Contains(strings.Join(strings.Fields(out.String()), " "), words) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// A cutWitness has more than what is read of it.
type cutWitness struct {
	witness.Witness

	notes    [][]byte
	problems []string
}

func (cutWitness) Name() string { return "w" }

func (w cutWitness) Heads(_ context.Context, parse witness.Parse) (heads []audit.Head, err error) {
	for _, note := range w.notes {
		h, err := parse(note)
		if err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	return heads, &witness.RecordsError{Older: "history is cut", Problems: w.problems, Unread: len(w.problems) > 0}
}

// A part that is not read of a witness because it is too large is no gap if it was compared before.
func TestReadBackToWhatWasCompared(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.TempDir(), store.Options{Audit: testKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	var notes [][]byte
	var heads []audit.Head
	for range 3 {
		err := st.Record(audit.Entry{Kind: audit.KindConfig, Data: struct{}{}, Time: time.Now()})
		h, headErr := st.AuditHead()
		if err := errors.Join(err, headErr); err != nil {
			t.Fatal(err)
		}
		notes, heads = append(notes, h.Note), append(heads, h)
	}
	keys, err := st.AuditKeys()
	if err != nil {
		t.Fatal(err)
	}
	up := func(h audit.Head) store.Published {
		return store.Published{ComparedSize: h.Size, ComparedRoot: h.Root.String()}
	}
	for name, test := range map[string]struct {
		before   store.Published
		problems []string
		unread   bool
		error    string
	}{
		"compared before":                {up(heads[1]), nil, false, ""},
		"never compared":                 {store.Published{}, nil, true, "history is cut"},
		"compared up to a head not read": {up(heads[0]), nil, true, "history is cut"},
		"another part is unread":         {up(heads[1]), []string{"too many folders"}, true, "too many folders"},
	} {
		found := auditor{Store: st}.read(t.Context(), witnessPlace{Witness: cutWitness{notes: notes[1:], problems: test.problems}}, keys, test.before)
		if found.health.Unread != test.unread || found.health.Error != test.error || found.fault != "" || len(found.heads) != 2 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func testKey(t *testing.T) *audit.Key {
	t.Helper()
	text, err := audit.GenerateKey("driftd.example/test")
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return &key
}
