package metrics

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// state holds the newest observations.
type state struct {
	// sources are the configured sources and the live sides of plans.
	sources      map[string]*source
	declarations map[string]*declaration
	receivers    map[string]*receiver
	findings     map[series]int
	// run is the last run, nil before the first, and unchecked are the open findings with the
	// verdict unchecked. Together they determine what was not checked.
	run       *model.Run
	unchecked []model.Finding
	// rules counts the ignore rules by state; nil before the first run.
	rules map[string]int
	// severityRules counts the severity rules by state; nil before the first run.
	severityRules map[string]int
	// notJudged counts the live objects that the last run did not judge.
	notJudged map[unjudged]int
	// scores are those of the last run.
	scores       []model.Score
	reloadFailed bool
	reloaded     time.Time
	// storeBytes is 0 until the size is measured.
	storeBytes int64
	// verified is when the store was last verified, zero if never. damaged is the result.
	verified time.Time
	damaged  bool
	// doubtful, unwitnessed and witnessUnread are the state of the audit log; nil before it is known.
	doubtful, unwitnessed, witnessUnread *bool
	// acting is the state of actions; nil before it is known.
	acting *Acting
}

// Acting is the state of actions.
type Acting struct {
	// States counts the stored actions by rule and state, and Refusals the refusals by guard.
	States   map[string]map[string]int
	Refusals map[string]int
	// Held counts the findings that rules would put back and that guards hold, by rule and guard.
	Held map[string]map[string]int
	// Stopped are the rules of the configuration, and whether they are stopped. Fights are the numbers of
	// resources over which driftd fought with another writer, by rule.
	Stopped map[string]bool
	Fights  map[string]int
	// Frozen counts the freezes of persons that hold, and Scheduled those of the configuration.
	Frozen, Scheduled int
}

// unjudged are the labels of driftd_objects_not_judged.
type unjudged struct{ declaration, source string }

type source struct {
	// every is 0 for the live side of a plan, whose declaration has the schedule.
	every time.Duration
	// since is when the source was first configured.
	since       time.Time
	lastSuccess time.Time
	// judged reports whether a run included the source, read whether a run could read it.
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
	// known reports whether status is set.
	known  bool
	status model.ReceiverStatus
}

// names of sources, declarations and receivers.
type names struct{ sources, declarations, receivers []string }

func newState() state {
	return state{sources: map[string]*source{}, declarations: map[string]*declaration{}, receivers: map[string]*receiver{},
		findings: map[series]int{}}
}

// configure keeps the state of everything that is still configured, and returns the names of
// everything that was removed.
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

// renew returns a map with the given names as keys: values of known are kept, others are new.
// It also returns the names of known that are not in the list.
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

// ofPlan reports whether a source is the live side of a plan.
func (s *state) ofPlan(source string) bool {
	declaration, ok := strings.CutPrefix(source, model.LiveSource(""))
	return ok && s.declarations[declaration] != nil
}

// source returns the state of a configured source or of the live side of a plan, or nil.
func (s *state) source(name string) *source {
	if s.sources[name] == nil && s.ofPlan(name) {
		s.sources[name] = &source{}
	}
	return s.sources[name]
}

// succeeded records a successful read at the given time. An earlier time than the recorded
// one is ignored, unless the recorded one is after now: then the clock was set back.
func (s *source) succeeded(at, now time.Time) {
	if at.After(s.lastSuccess) || s.lastSuccess.After(now) {
		s.lastSuccess = at
	}
}

// stale reports whether the last success, or the first configuration if there was none, is
// too far in the past. It also returns true if it is as far in the future: then the source was
// not read since the clock was set back.
func (s *source) stale(now time.Time) bool {
	last := s.lastSuccess
	if last.IsZero() {
		last = s.since
	}
	return now.Sub(last).Abs() > model.StaleIntervals*s.every
}

// observe records a run. A source that could not be read keeps its last count.
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
	s.scores = run.Scores
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

// countRules returns the number of active and dead rules.
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
