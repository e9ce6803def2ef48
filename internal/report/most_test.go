package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// manyFindings returns findings of different resources and times: with i%3 == 0 high, others low.
func manyFindings(n int) []model.Finding {
	all := make([]model.Finding, n)
	for i := range all {
		f := missing()
		f.ID, f.Key.ID, f.Severity = fmt.Sprintf("%08x", i), fmt.Sprintf("shop/app-%02d", i), model.Low
		f.FirstSeen = now.Add(-time.Duration(i) * time.Hour)
		if i%3 == 0 {
			f.Severity = model.High
		}
		if i%2 == 0 {
			f.Verdict = model.Unmanaged
		}
		all[i] = f
	}
	return all
}

func limited() Options {
	return Options{Now: now, Most: many, List: func(s model.Severity, v model.Verdict) string { return fmt.Sprintf("list %s %s", s, v) }}
}

func TestMost(t *testing.T) {
	t.Parallel()
	text := write(t, "table", model.Report{Findings: manyFindings(50)}, limited())
	var ids []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "HIGH") || strings.HasPrefix(line, "LOW") {
			words := strings.Fields(line)
			ids = append(ids, words[len(words)-1])
		}
	}
	want := "00000000 00000003 00000006 00000009 0000000c 0000000f 00000012 00000015 00000018 0000001b 0000001e 00000021 00000024 00000027 0000002a 0000002d 00000030 00000001 00000002 00000004"
	if diff := cmp.Diff(want, strings.Join(ids, " ")); diff != "" {
		t.Errorf("the worst, the newest first (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"\n17 high, 33 low; 25 missing, 25 unmanaged\n",
		"\nAnd 30 more findings (driftd report --all)\n  16 low missing    list low missing\n  14 low unmanaged  list low unmanaged\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestAllIsShown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, format string
		n              int
		o              Options
	}{
		{"as many as the limit", "table", many, limited()},
		{"no limit", "table", 50, Options{Now: now}},
		{"formats for programs are complete", "json", 50, limited()},
		{"a page is complete", "markdown", 50, limited()},
	} {
		text := write(t, tc.format, model.Report{Findings: manyFindings(tc.n)}, tc.o)
		for i := range tc.n {
			if id := fmt.Sprintf("%08x", i); !strings.Contains(text, id) {
				t.Errorf("%s: no finding %s", tc.reason, id)
			}
		}
		if strings.Contains(text, "--all") {
			t.Errorf("%s: --all shows no more", tc.reason)
		}
	}
}
