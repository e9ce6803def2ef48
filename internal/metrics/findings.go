package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
)

// series are the labels of driftd_findings.
type series struct {
	source, kind string
	verdict      model.Verdict
	severity     model.Severity
}

// A tally counts the open findings of one source.
type tally struct {
	// unchecked counts resources, the others count findings.
	unchecked, accepted, hidden, flapping int
	// oldest is when the oldest open drift was first seen, by severity.
	oldest map[model.Severity]time.Time
}

// countFindings counts the open findings. Those that a rule hides or that were accepted are
// not part of driftd_findings, so that they trigger no alert; they are counted separately.
func (s *state) countFindings(open []model.Finding) {
	for _, src := range s.sources {
		src.tally = tally{}
	}
	counts, unchecked := map[series]int{}, map[model.Key]bool{}
	s.unchecked = nil
	for i := range open {
		f := &open[i]
		if f.Verdict == model.Unchecked {
			s.unchecked = append(s.unchecked, *f)
		}
		src := s.source(f.Source)
		if src == nil {
			continue
		}
		src.tally.add(f)
		if !f.Shown() {
			continue
		}
		counts[series{f.Source, kindLabel(f.Kind), f.Verdict, f.Severity}]++
		if f.Verdict == model.Unchecked && !unchecked[f.Key] {
			unchecked[f.Key] = true
			src.tally.unchecked++
		}
	}
	s.findings = fold(counts, MaxFindingSeries)
}

func (t *tally) add(f *model.Finding) {
	switch {
	case f.Hidden != "":
		t.hidden++
		return
	case f.Accepted():
		t.accepted++
		return
	case f.Flapping:
		t.flapping++
	}
	if f.Verdict.IsDrift() && !f.FirstSeen.IsZero() {
		t.observeFirst(f.Severity, f.FirstSeen)
	}
}

// observeFirst lowers the oldest time of a severity to first.
func (t *tally) observeFirst(severity model.Severity, first time.Time) {
	if t.oldest == nil {
		t.oldest = map[model.Severity]time.Time{}
	}
	if oldest, ok := t.oldest[severity]; !ok || first.Before(oldest) {
		t.oldest[severity] = first
	}
}

// kindLabel returns the kind as a label value: valid UTF-8 of at most MaxKindLength bytes.
func kindLabel(kind string) string {
	kind = strings.ToValidUTF8(kind, "\uFFFD")
	if len(kind) <= MaxKindLength {
		return kind
	}
	const dots = "…"
	end := MaxKindLength - len(dots)
	for !utf8.RuneStart(kind[end]) {
		end--
	}
	return kind[:end] + dots
}

// fold returns the limit most severe series unchanged, and merges the others under OtherKind.
func fold(counts map[series]int, limit int) map[series]int {
	if len(counts) <= limit {
		return counts
	}
	folded := map[series]int{}
	for i, f := range slices.SortedFunc(maps.Keys(counts), worstFirst) {
		n := counts[f]
		if i >= limit {
			f.kind = OtherKind
		}
		folded[f] += n
	}
	return folded
}

func worstFirst(a, b series) int {
	return cmp.Or(cmp.Compare(a.severity.Rank(), b.severity.Rank()), cmp.Compare(a.source, b.source),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.verdict, b.verdict))
}
