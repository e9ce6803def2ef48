package metrics

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// state is the newest that is known.
type state struct {
	// sources are those that are configured, and the live sides of plans.
	sources      map[string]*source
	declarations map[string]*declaration
	receivers    map[string]*receiver
	findings     map[series]int
	// run is the last one, nil before it, and unchecked the open findings of the
	// verdict unchecked: together they hold what was not checked.
	run       *model.Run
	unchecked []model.Finding
	// rules counts the ignore rules by state; nil before the first run.
	rules map[string]int
	// severityRules counts the severity rules in the same way.
	severityRules map[string]int
	// notJudged counts the live objects that the last run did not judge.
	notJudged    map[unjudged]int
	reloadFailed bool
	reloaded     time.Time
	// storeBytes is 0 before it was measured.
	storeBytes int64
	// verified is when the store was last verified, zero before; damaged tells that it
	// was found damaged then.
	verified time.Time
	damaged  bool
}

// unjudged are the labels of driftd_objects_not_judged.
type unjudged struct{ declaration, source string }

type source struct {
	// every is 0 for the live side of a plan: its declaration has the schedule.
	every time.Duration
	// since is when it was first configured.
	since       time.Time
	lastSuccess time.Time
	// judged tells that a run spoke of it, read that one could read it.
	judged, read         bool
	resources            int
	complete, incomplete int
	tally                tally
}

type declaration struct {
	lastSuccess time.Time
	read        bool
	claims      int
}

type receiver struct {
	// told tells that status was given once.
	told   bool
	status model.ReceiverStatus
}

// names of sources, declarations and receivers.
type names struct{ sources, declarations, receivers []string }

func newState() state {
	return state{sources: map[string]*source{}, declarations: map[string]*declaration{}, receivers: map[string]*receiver{},
		findings: map[series]int{}}
}

// configure keeps what is known of those that are configured, and returns the
// names of those that are no more.
func (s *state) configure(sources []Source, declarations, receivers []string, now time.Time) (gone names) {
	s.declarations, gone.declarations = renew(s.declarations, declarations)
	s.receivers, gone.receivers = renew(s.receivers, receivers)
	var kept []string
	for _, c := range sources {
		kept = append(kept, c.Name)
	}
	for name := range s.sources {
		if s.ofPlan(name) {
			kept = append(kept, name)
		}
	}
	s.sources, gone.sources = renew(s.sources, kept)
	for _, c := range sources {
		src := s.sources[c.Name]
		src.every = c.Every
		if src.since.IsZero() {
			src.since = now
		}
	}
	maps.DeleteFunc(s.findings, func(f series, _ int) bool { return s.sources[f.source] == nil })
	return gone
}

// renew returns the things of these names, the known ones as they were, and the
// names of those that are left out.
func renew[T any](known map[string]*T, list []string) (kept map[string]*T, gone []string) {
	kept = make(map[string]*T, len(list))
	for _, name := range list {
		kept[name] = cmp.Or(known[name], new(T))
	}
	for name := range known {
		if kept[name] == nil {
			gone = append(gone, name)
		}
	}
	return kept, gone
}

// ofPlan tells whether a source is the live side that a declaration's own
// engine sees, by the name that package declared gives it.
func (s *state) ofPlan(source string) bool {
	declaration, ok := strings.CutPrefix(source, "plan:")
	return ok && s.declarations[declaration] != nil
}

// source returns a source of the configuration, or the live side of one of its
// plans; nil for another.
func (s *state) source(name string) *source {
	if s.sources[name] == nil && s.ofPlan(name) {
		s.sources[name] = &source{}
	}
	return s.sources[name]
}

// succeeded takes in a read at some time. A later one is known better, unless it lies
// after now: then the clock was set back.
func (s *source) succeeded(at, now time.Time) {
	if at.After(s.lastSuccess) || s.lastSuccess.After(now) {
		s.lastSuccess = at
	}
}

// stale reports whether the last success, or the beginning, is too long ago, or lies in
// the future as far: the source was not read since the clock was set back.
func (s *source) stale(now time.Time) bool {
	last := s.lastSuccess
	if last.IsZero() {
		last = s.since
	}
	return now.Sub(last).Abs() > model.StaleIntervals*s.every
}

// observe takes in a run. What a source could not read this time keeps its
// last count.
func (s *state) observe(run model.Run, now time.Time) {
	for _, r := range run.Sources {
		src := s.source(r.Name)
		if src == nil {
			continue
		}
		if src.judged = true; r.Err == "" {
			src.read, src.resources = true, r.Resources
			src.succeeded(r.Taken, now)
		}
	}
	for _, r := range run.Declarations {
		if d := s.declarations[r.Name]; d != nil && r.Err == "" {
			d.read, d.claims = true, r.Claims
		}
	}
	s.run = &model.Run{Sources: run.Sources, Declarations: run.Declarations, Coverage: run.Coverage}
	s.countCoverage(run.Coverage)
	s.notJudged = map[unjudged]int{}
	for i := range run.NotJudged {
		n := &run.NotJudged[i]
		s.notJudged[unjudged{n.Declaration, n.Source}] += n.Count
	}
	s.rules, s.severityRules = countRules(run.Rules), countRules(run.SeverityRules)
}

func (s *state) countCoverage(coverage []model.Coverage) {
	for _, src := range s.sources {
		src.complete, src.incomplete = 0, 0
	}
	for _, c := range coverage {
		switch src := s.source(c.Source); {
		case src == nil:
		case c.Skipped:
		case c.Complete:
			src.complete++
		default:
			src.incomplete++
		}
	}
}

// countRules counts rules by whether they do anything.
func countRules(rules []model.RuleRun) map[string]int {
	counts := map[string]int{"active": 0, "dead": 0}
	for i := range rules {
		if rules[i].Dead() {
			counts["dead"]++
		} else {
			counts["active"]++
		}
	}
	return counts
}
