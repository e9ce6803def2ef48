package classify

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A SeverityRule sets the severity of the findings that it matches. Of a list of rules, the first
// that matches the proven evidence applies, or else a worse one before it that matches only the
// evidence of the live side.
type SeverityRule struct {
	// Selector may set only Sources, Kinds, Namespaces, Verdicts and Labels.
	model.Selector
	// Paths and Actors are globs as in Selector. A rule with Paths rates only the matching fields.
	Paths, Actors []string
	// Checks lists globs of the IDs of failed checks. A rule with Checks matches only findings of
	// checks.
	Checks []string
	// OlderThan is the minimum age of a finding; zero matches every age. A rule with OlderThan only
	// raises severities, since a field that changes in an old finding is new.
	OlderThan time.Duration
	Set       model.Severity
	// Reason is shown with the findings.
	Reason string
}

// String returns the patterns as text, such as "source=lab label:tier=gold".
func (r *SeverityRule) String() string {
	var parts []string
	for _, p := range []struct {
		name     string
		patterns []string
	}{
		{"source", r.Sources}, {"kind", r.Kinds}, {"namespace", r.Namespaces}, {"path", r.Paths}, {"verdict", texts(r.Verdicts)},
		{"actor", r.Actors}, {"check", r.Checks},
	} {
		if len(p.patterns) > 0 {
			parts = append(parts, p.name+"="+strings.Join(p.patterns, ","))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		parts = append(parts, "label:"+name+"="+r.Labels[name])
	}
	if r.OlderThan > 0 {
		parts = append(parts, "older_than="+r.OlderThan.String())
	}
	return strings.Join(parts, " ")
}

func texts(verdicts []model.Verdict) []string {
	list := make([]string, len(verdicts))
	for i, v := range verdicts {
		list[i] = string(v)
	}
	return list
}

// evidence is what rules compare labels, namespaces and actors with. The author of an edit
// can write the labels of a live object, choose its place, and, in some logs, choose the
// actor. A rule that matches only because of these must not make a finding milder.
type evidence struct {
	// labels and places are those of the live side and of each claim.
	labels []map[string]string
	places []string
	// proven reports whether they are only those that the live side cannot choose: there
	// must be some, and all must match. Otherwise one match is sufficient.
	proven bool
}

// A findingEvidence has the proven evidence for one finding, and all of it.
type findingEvidence struct{ proven, claimed evidence }

// newFindingEvidence returns the evidence for a finding about a subject and a claim. The claim may
// be nil.
func newFindingEvidence(s *model.Subject, claim *model.Claim) findingEvidence {
	claims := s.Claims
	if claim != nil {
		claims = []*model.Claim{claim}
	}
	w := findingEvidence{proven: evidence{proven: true}}
	for _, c := range claims {
		w.proven.labels = append(w.proven.labels, declaredLabels(s, c))
	}
	w.claimed.labels = append(w.claimed.labels, w.proven.labels...)
	w.proven.places, w.claimed.places = places(s, claims)
	if s.Live != nil && s.Kind != nil && s.Kind.Labels != "" {
		w.claimed.labels = append(w.claimed.labels, labelsOf(s.Live.Value.At(strings.Split(s.Kind.Labels, ".")...)))
	}
	return w
}

// places returns the proven places of a subject, and all of its places. The place of a live
// resource is proven if it is part of the resource's identity, as a namespace is. Any other place,
// such as the node of a guest, is proven if every claim declares it.
func places(s *model.Subject, claims []*model.Claim) (proven, all []string) {
	fixed := s.Kind != nil && s.Kind.Namespaced
	sure := fixed || len(claims) > 0
	for _, c := range claims {
		if c.Place != "" {
			all = append(all, c.Place)
		} else if !fixed {
			sure = false
		}
	}
	if s.Live != nil {
		all = append(all, s.Live.Place)
	}
	if sure {
		proven = all
	}
	return proven, all
}

// declaredLabels returns the labels that a claim declares.
func declaredLabels(s *model.Subject, c *model.Claim) map[string]string {
	if s.Kind == nil || s.Kind.Labels == "" {
		return nil
	}
	if c.Lens == nil {
		return labelsOf(c.Value.At(strings.Split(s.Kind.Labels, ".")...))
	}
	var live model.Value
	if s.Live != nil {
		live = s.Live.Value
	}
	return labelsIn(c.Value, "", 0, func(path string) bool { return c.Lens.LivePath(live, path) == s.Kind.Labels })
}

// deepestLabels bounds how deep in a claim labels are looked for.
const deepestLabels = 3

// labelsIn returns the labels in a value whose path is that of labels.
func labelsIn(v model.Value, at string, depth int, isLabels func(path string) bool) map[string]string {
	if at != "" && isLabels(at) {
		return labelsOf(v)
	}
	if depth > deepestLabels {
		return nil
	}
	if items := v.Items(); len(items) == 1 {
		return labelsIn(items[0], at+"[0]", depth+1, isLabels)
	}
	for _, f := range v.Fields() {
		if found := labelsIn(f.Value, strings.TrimPrefix(at+"."+f.Name, "."), depth+1, isLabels); found != nil {
			return found
		}
	}
	return nil
}

// fit reports whether a condition holds for a list of evidence.
func fit[T any](e *evidence, list []T, holds func(T) bool) bool {
	if !e.proven {
		return slices.ContainsFunc(list, holds)
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(one T) bool { return !holds(one) })
}

// fits reports whether the rule matches a finding, or, with a change, that field of it.
func (r *SeverityRule) fits(f *model.Finding, c *model.Change, e *evidence) bool {
	rest := r.Selector
	rest.Labels, rest.Namespaces = nil, nil
	if !rest.Fits(f) || !r.fitsCheck(f) || e.proven && !r.provesVerdict(f, c) || !r.fitsPath(c, e.proven) || !r.fitsActor(f, c, e) {
		return false
	}
	if len(r.Namespaces) > 0 && !fit(e, e.places, func(place string) bool { return model.GlobAny(r.Namespaces, place) }) {
		return false
	}
	for name, pattern := range r.Labels {
		if !fit(e, e.labels, func(labels map[string]string) bool {
			value, ok := labels[name]
			return ok && model.Glob(pattern, value)
		}) {
			return false
		}
	}
	return true
}

// fitsCheck reports whether the rule's checks match.
func (r *SeverityRule) fitsCheck(f *model.Finding) bool {
	return len(r.Checks) == 0 || f.Check != "" && model.GlobAny(r.Checks, f.Check)
}

// isLasting reports whether a finding, or, with a change, that field of it, has lasted as long as the rule requires: since a scan
// first found it, or since its actor caused it, if that was earlier.
func (r *SeverityRule) isLasting(f *model.Finding, c *model.Change, now time.Time) bool {
	who := &f.Actor
	if c != nil {
		who = actorOf(f, c)
	}
	return slices.ContainsFunc([]time.Time{f.FirstSeen, who.At}, func(since time.Time) bool {
		return !since.IsZero() && now.Sub(since) >= r.OlderThan
	})
}

// provesVerdict reports whether the verdict is proven to be one of the rule's. An unproven
// one may be bypassed.
func (r *SeverityRule) provesVerdict(f *model.Finding, c *model.Change) bool {
	unproven := f.Unproven || c != nil && c.Unproven
	return len(r.Verdicts) == 0 || f.Verdict != model.Pending || !unproven || slices.Contains(r.Verdicts, model.Bypassed)
}

// fitsPath reports whether the rule's paths match. It does not compare the keys of an element that
// only the live side contains, since the author of the element chose them.
func (r *SeverityRule) fitsPath(c *model.Change, proven bool) bool {
	if len(r.Paths) == 0 {
		return true
	}
	if c == nil {
		return false
	}
	fits := fitsPath
	if proven && c.Declared == nil && c.Recorded == nil && len(c.Claims) == 0 {
		fits = func(pattern, path string) bool { return model.Glob(pattern, model.WithoutKeys(path)) }
	}
	return slices.ContainsFunc(r.Paths, func(pattern string) bool {
		return fits(pattern, c.Path) || c.LivePath != "" && fits(pattern, c.LivePath)
	})
}

// fitsActor reports whether the rule's actors match. Only an actor from the system's own
// log is proven.
func (r *SeverityRule) fitsActor(f *model.Finding, c *model.Change, e *evidence) bool {
	if len(r.Actors) == 0 {
		return true
	}
	who := &f.Actor
	if c != nil {
		who = actorOf(f, c)
	}
	return (!e.proven || who.Confidence == model.Exact) && model.GlobAny(r.Actors, who.Name)
}

// A rater applies severity rules and counts the findings that each one rates.
type rater struct {
	rules []SeverityRule
	runs  []model.RuleRun
	now   time.Time
}

func newRater(rules []SeverityRule, now time.Time) *rater {
	r := &rater{rules: rules, now: now}
	for i := range rules {
		r.runs = append(r.runs, model.RuleRun{Rule: rules[i].String(), Reason: rules[i].Reason, Set: rules[i].Set})
	}
	return r
}

// rate sets the severity of a finding and of its changes.
func (r *rater) rate(f *model.Finding, w *findingEvidence) {
	if len(f.Changes) == 0 {
		if i := r.first(f, nil, w, f.Severity); i >= 0 {
			f.Rated = &model.Rating{Was: f.Severity, Reason: r.rules[i].Reason}
			f.Severity = r.rules[i].Set
			r.runs[i].Findings++
		}
		return
	}
	f.Changes = slices.Clone(f.Changes)
	rated := map[int]bool{}
	for k := range f.Changes {
		c := &f.Changes[k]
		was := f.SeverityOf(c)
		if i := r.first(f, c, w, was); i >= 0 {
			c.Severity, c.Rated = r.rules[i].Set, &model.Rating{Was: was, Reason: r.rules[i].Reason}
			r.runs[i].Fields++
			rated[i] = true
		}
	}
	for i := range rated {
		r.runs[i].Findings++
	}
	if len(rated) > 0 {
		summarize(f)
	}
	f.Exposure = f.WorstFirst().Changes[0].Exposure
}

// first returns the position of the rule that rates a finding, or one of its changes, with
// the severity was; -1 if there is none. It is the first that matches the proven evidence.
// An earlier rule that matches the other evidence only applies if it is worse; of several,
// the worst: an added label must not prevent a stricter rule. A rule for lasting findings
// only applies if it is worse, too.
func (r *rater) first(f *model.Finding, c *model.Change, w *findingEvidence, was model.Severity) int {
	first := slices.IndexFunc(r.rules, func(rule SeverityRule) bool { return rule.OlderThan == 0 && rule.fits(f, c, &w.proven) })
	before := r.rules
	if first >= 0 {
		was, before = r.rules[first].Set, r.rules[:first]
	}
	for i := range before {
		rule := &before[i]
		if rule.Set.Rank() < was.Rank() && rule.fits(f, c, &w.claimed) && (rule.OlderThan == 0 || rule.isLasting(f, c, r.now)) {
			first, was = i, rule.Set
		}
	}
	return first
}

// reapply resets the severities of an earlier finding that no configured rule sets any more, and
// counts the others.
func (r *rater) reapply(f *model.Finding) {
	keeps := func(set model.Severity, rated *model.Rating) bool {
		i := slices.IndexFunc(r.rules, func(rule SeverityRule) bool { return rule.Set == set && rule.Reason == rated.Reason })
		if i >= 0 {
			r.runs[i].Fields++
		}
		return i >= 0
	}
	if len(f.Changes) == 0 {
		if f.Rated != nil && !keeps(f.Severity, f.Rated) {
			f.Severity, f.Rated = f.Rated.Was, nil
		}
		return
	}
	f.Changes = slices.Clone(f.Changes)
	touched := false
	for k := range f.Changes {
		if c := &f.Changes[k]; c.Rated != nil {
			touched = true
			if !keeps(c.Severity, c.Rated) {
				c.Severity, c.Rated = c.Rated.Was, nil
			}
		}
	}
	if touched {
		summarize(f)
	}
}

// summarize sets the severity of a finding to that of its worst change, and Rated to the rule that
// set it or that lowered the change that was the worst.
func summarize(f *model.Finding) {
	before := func(c *model.Change) model.Severity {
		if c.Rated != nil {
			return c.Rated.Was
		}
		return f.SeverityOf(c)
	}
	was, now := worstOf(f, before), worstOf(f, f.SeverityOf)
	base, rated := before(was), now.Rated
	if f.Severity = f.SeverityOf(now); rated == nil && f.Severity != base {
		rated = was.Rated
	}
	f.Rated = nil
	if rated != nil {
		f.Rated = &model.Rating{Was: base, Reason: rated.Reason}
	}
}

// worstOf returns the first of the changes with the worst severity.
func worstOf(f *model.Finding, of func(*model.Change) model.Severity) *model.Change {
	worst := &f.Changes[0]
	for i := range f.Changes {
		if c := &f.Changes[i]; of(c).Rank() < of(worst).Rank() {
			worst = c
		}
	}
	return worst
}

// exposure returns the exposure of a changed field, or, with path "", of a whole resource.
// An unmanaged one has that of any of its fields.
func exposure(kind *model.Kind, verdict model.Verdict, path string) model.Exposure {
	if kind == nil {
		return ""
	}
	for _, e := range kind.Exposed {
		if e.Path == "" || path == "" && verdict == model.Unmanaged || path != "" && model.Overlap(path, e.Path) {
			return e.What
		}
	}
	return ""
}

// expose sets the exposure of a finding and its changes.
func expose(s *model.Subject, f *model.Finding) {
	for i := range f.Changes {
		c := &f.Changes[i]
		c.Exposure = exposure(s.Kind, f.Verdict, model.WithoutKeys(cmp.Or(c.LivePath, c.Path)))
	}
	if len(f.Changes) == 0 {
		f.Exposure = exposure(s.Kind, f.Verdict, "")
	}
}
