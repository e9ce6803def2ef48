package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// state is the newest that is known.
type state struct {
	sources      map[string]*source
	declarations map[string]*declaration
	findings     map[series]int
	reloadFailed bool
	reloaded     time.Time
	storeBytes   int64
}

type source struct {
	every time.Duration
	// since is when it was first configured.
	since       time.Time
	lastSuccess time.Time
	// judged tells that a run spoke of it, read that one could read it.
	judged, read         bool
	resources, unchecked int
	complete, incomplete int
}

type declaration struct {
	lastSuccess time.Time
	read        bool
	claims      int
}

// series are the labels of driftd_findings.
type series struct {
	source, kind string
	verdict      model.Verdict
	severity     model.Severity
}

func newState() state {
	return state{sources: map[string]*source{}, declarations: map[string]*declaration{}, findings: map[series]int{}}
}

// configure returns the names of the sources that are no more.
func (s *state) configure(sources []Source, declarations []string, now time.Time) (gone []string) {
	kept := map[string]*source{}
	for _, c := range sources {
		kept[c.Name] = cmp.Or(s.sources[c.Name], &source{since: now})
		kept[c.Name].every = c.Every
	}
	for name := range s.sources {
		if kept[name] == nil {
			gone = append(gone, name)
		}
	}
	s.sources = kept
	maps.DeleteFunc(s.findings, func(f series, _ int) bool { return kept[f.source] == nil })

	loaders := map[string]*declaration{}
	for _, name := range declarations {
		loaders[name] = cmp.Or(s.declarations[name], &declaration{})
	}
	s.declarations = loaders
	return gone
}

func (s *source) succeeded(at time.Time) {
	if at.After(s.lastSuccess) {
		s.lastSuccess = at
	}
}

// stale tells that the last success, or the beginning, is too long ago.
func (s *source) stale(now time.Time) bool {
	last := s.lastSuccess
	if last.IsZero() {
		last = s.since
	}
	return now.Sub(last) > staleAfter*s.every
}

// observe takes in a run. What a source could not read this time keeps its
// last count.
func (s *state) observe(run model.Run, open []model.Finding) {
	for _, r := range run.Sources {
		src := s.sources[r.Name]
		if src == nil {
			continue
		}
		if src.judged = true; r.Err == "" {
			src.read, src.resources = true, r.Resources
			src.succeeded(r.Taken)
		}
	}
	for _, r := range run.Declarations {
		if d := s.declarations[r.Name]; d != nil && r.Err == "" {
			d.read, d.claims = true, r.Claims
		}
	}
	s.countCoverage(run.Coverage)
	s.countFindings(open)
}

func (s *state) countCoverage(coverage []model.Coverage) {
	for _, src := range s.sources {
		src.complete, src.incomplete = 0, 0
	}
	for _, c := range coverage {
		switch src := s.sources[c.Source]; {
		case src == nil:
		case c.Skipped:
		case c.Complete:
			src.complete++
		default:
			src.incomplete++
		}
	}
}

// countFindings counts what is shown: a finding that a rule hides is nobody's
// alarm.
func (s *state) countFindings(open []model.Finding) {
	counts, unchecked := map[series]int{}, map[model.Key]bool{}
	for _, f := range open {
		if s.sources[f.Source] == nil || !f.Shown() {
			continue
		}
		counts[series{f.Source, strings.ToValidUTF8(f.Kind, "\uFFFD"), f.Verdict, f.Severity}]++
		if f.Verdict == model.Unchecked {
			unchecked[f.Key] = true
		}
	}
	s.findings = fold(counts, MaxFindingSeries)
	for _, src := range s.sources {
		src.unchecked = 0
	}
	for key := range unchecked {
		s.sources[key.Source].unchecked++
	}
}

// fold keeps the worst limit of the series and adds the others up under
// OtherKind.
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
