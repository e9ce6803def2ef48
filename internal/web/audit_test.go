package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/audit"
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
		"/audit":          http.StatusOK,
		"/audit?before=1": http.StatusOK,
		"/audit?before=x": http.StatusBadRequest,
		"/audit/x":        http.StatusNotFound,
		"/audit/4711":     http.StatusNotFound,
	} {
		if got := h.ask(t, access.Viewer, http.MethodGet, target, nil); got.StatusCode != status {
			t.Errorf("%s: %s", target, got.Status)
		}
	}
	if got := h.ask(t, access.Nobody, http.MethodGet, "/audit", nil); got.StatusCode == http.StatusOK {
		t.Errorf("a visitor without a role: %s", got.Status)
	}
}
