package cli

import (
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
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
