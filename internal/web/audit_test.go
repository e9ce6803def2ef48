package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// TestAuditEntryPage checks that the page of an entry shows a proof that verifies.
func TestAuditEntryPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	page := h.page(t, "/audit/1")
	_, rest, _ := strings.Cut(page, `aria-label="Proof"><code>`)
	proof, _, found := strings.Cut(rest, "</code>")
	if !found {
		t.Fatalf("no proof:\n%s", page)
	}
	key, err := h.API.AuditLog.AuditKey()
	if err != nil {
		t.Fatal(err)
	}
	if e, _, err := audit.Check([]byte(strings.ReplaceAll(proof, "&#43;", "+")), key); err != nil || e.Index != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if !strings.Contains(page, strings.ReplaceAll(key.String(), "+", "&#43;")) {
		t.Error("the page does not show the key")
	}
}

func TestAuditPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for target, status := range map[string]int{
		"/audit":            http.StatusOK,
		"/audit?before=1":   http.StatusOK,
		"/audit?before=x":   http.StatusBadRequest,
		"/audit/x":          http.StatusNotFound,
		"/audit/4711":       http.StatusNotFound,
		"/audit/1/proof":    http.StatusOK,
		"/audit/x/proof":    http.StatusNotFound,
		"/audit/4711/proof": http.StatusNotFound,
	} {
		if got := h.ask(t, access.Viewer, http.MethodGet, target, nil); got.StatusCode != status {
			t.Errorf("%s: %s", target, got.Status)
		}
	}
	if got := h.ask(t, access.Nobody, http.MethodGet, "/audit", nil); got.StatusCode == http.StatusOK {
		t.Errorf("a visitor without a role: %s", got.Status)
	}
}

// The proof of an entry is a file that verifies, also without JavaScript, and with the names if they are
// asked for.
func TestAuditProofFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	key, err := h.API.AuditLog.AuditKey()
	if err != nil {
		t.Fatal(err)
	}
	if page := h.page(t, "/audit/4"); !strings.Contains(page, `href="/audit/4/proof"`) || !strings.Contains(page, `href="/audit/4/proof?names"`) {
		t.Errorf("the page has no links to the files:\n%s", page)
	}
	for target, names := range map[string]int{"/audit/4/proof": 0, "/audit/4/proof?names": 2} {
		answer := h.ask(t, access.Viewer, http.MethodGet, target, nil)
		e, _, people, err := audit.CheckDisclosed([]byte(answer.Body), key)
		if err != nil || e.Index != 4 || len(people) != names {
			t.Errorf("%s: entry %d, %+v, %v", target, e.Index, people, err)
		}
		if got := answer.Header.Get("Content-Disposition"); got != "attachment; filename=driftd-audit-4.txt" {
			t.Errorf("%s: %q", target, got)
		}
	}
}

// The page of an entry has its kind, its full time and a link to the finding of a decision.
func TestAuditEntryFacts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	page := h.page(t, "/audit/4")
	for _, want := range []string{"<dt>Kind</dt><dd>decision</dd>", `<dt>Time</dt><dd><time datetime="2026-11-20T03:12:00Z">2026-11-20T03:12:00Z</time>`, `<a href="/findings/acce97ed">`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if page := h.page(t, "/audit/1"); strings.Contains(page, "<dt>Finding</dt>") {
		t.Error("a scan links to a finding")
	}
}

// An editedLog is an audit log whose entry 1 was edited, and which is in doubt.
type editedLog struct{ auditLog }

func (l editedLog) AuditEntry(index int64) (audit.Entry, error) {
	e, err := l.auditLog.AuditEntry(index)
	if index == 1 {
		e.State = audit.StateEdited
	}
	return e, err
}

func (l editedLog) AuditEntries(before int64, limit int) ([]audit.Entry, error) {
	list, err := l.auditLog.AuditEntries(before, limit)
	for i := range list {
		if list[i].Index == 1 {
			list[i].State = audit.StateEdited
		}
	}
	return list, err
}

func (l editedLog) ProveEntry(index int64) ([]byte, error) {
	if index == 1 {
		return nil, &audit.TamperedError{What: "entry 1 was <edited>"}
	}
	return l.auditLog.ProveEntry(index)
}

func (editedLog) State() (server.AuditState, error) {
	return server.AuditState{Entries: 5, Verified: now(), Faults: 1, Doubt: &store.Doubt{What: "entry 1 was <edited>", Since: now()}}, nil
}

// An entry that was edited is marked, and has no proof.
func TestEditedAuditEntry(t *testing.T) {
	t.Parallel()
	s := filled(t)
	h := newHouse(t, s, func(o *Options) { o.API.AuditLog = editedLog{auditLog{s}} })
	const mark = "EDITED (not what was signed)"
	list := h.page(t, "/audit")
	if strings.Count(list, mark) != 1 || !strings.Contains(list, "<dt>In doubt</dt>") || !strings.Contains(list, "entry 1 was &lt;edited&gt;") || !strings.Contains(list, "1 difference") {
		t.Errorf("the list:\n%s", list)
	}
	entry := h.page(t, "/audit/1")
	if !strings.Contains(entry, mark) || !strings.Contains(entry, "entry 1 was &lt;edited&gt;") || strings.Contains(entry, `aria-label="Proof"`) || strings.Contains(entry, "/audit/1/proof") {
		t.Errorf("the entry:\n%s", entry)
	}
	if got := h.ask(t, access.Viewer, http.MethodGet, "/audit/1/proof", nil); got.StatusCode != http.StatusConflict {
		t.Errorf("its proof: %s", got.Status)
	}
	if good := h.page(t, "/audit/2"); strings.Contains(good, mark) || !strings.Contains(good, `aria-label="Proof"`) {
		t.Errorf("another entry:\n%s", good)
	}
}
