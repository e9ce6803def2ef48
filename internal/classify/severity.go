package classify

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A SeverityRule sets the severity of the findings that it fits. Of a list, the first
// rule counts that fits by what is proven, or the worst before it that fits by what the
// live side claims.
type SeverityRule struct {
	// Selector has Sources, Kinds, Namespaces, Verdicts and Labels only.
	model.Selector
	// Paths and Actors are globs like those of the Selector. A rule with Paths rates
	// only the fields that one of them fits.
	Paths, Actors []string
	Set           model.Severity
	// Reason is shown with the findings.
	Reason string
}

// String names the rule by what it fits: "source=lab label:tier=gold".
func (r *SeverityRule) String() string {
	var parts []string
	for _, p := range []struct {
		name     string
		patterns []string
	}{
		{"source", r.Sources}, {"kind", r.Kinds}, {"namespace", r.Namespaces}, {"path", r.Paths}, {"verdict", texts(r.Verdicts)},
		{"actor", r.Actors},
	} {
		if len(p.patterns) > 0 {
			parts = append(parts, p.name+"="+strings.Join(p.patterns, ","))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		parts = append(parts, "label:"+name+"="+r.Labels[name])
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

// evidence is what rules compare with labels, namespaces and actors. Whoever edits
// a live object writes its labels, may choose its place, and names himself to some
// logs. A rule that fits only by these must not make a finding milder.
type evidence struct {
	// labels and places are those of the live side and of each claim.
	labels []map[string]string
	places []string
	// proven reports whether they are only those that the live side cannot choose:
	// all of them must fit, and there must be some. Otherwise one is enough.
	proven bool
}

// A witness has the evidence for one finding.
type witness struct{ proven, claimed evidence }

// testify returns the evidence for a finding about a subject and a claim, which may
// be nil.
func testify(s *model.Subject, claim *model.Claim) witness {
	claims := s.Claims
	if claim != nil {
		claims = []*model.Claim{claim}
	}
	w := witness{proven: evidence{proven: true}}
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

// places returns the places of a subject that are proven, and all. The place of a
// live resource is proven if the kind has it in the resource's identity, as a
// namespace; another one, such as the node of a guest, if every claim declares it.
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

// fit reports whether a condition holds for the evidence that a list is.
func fit[T any](e *evidence, list []T, holds func(T) bool) bool {
	if !e.proven {
		return slices.ContainsFunc(list, holds)
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(one T) bool { return !holds(one) })
}

// fits reports whether the rule fits a finding, or with a change that field of it,
// by the evidence.
func (r *SeverityRule) fits(f *model.Finding, c *model.Change, e *evidence) bool {
	rest := r.Selector
	rest.Labels, rest.Namespaces = nil, nil
	if !rest.Fits(f) || e.proven && !r.provesVerdict(f, c) || !r.fitsPath(c, e.proven) || !r.fitsActor(f, c, e) {
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

// provesVerdict reports whether the verdict is proven to be one of the rule's. What
// is pending or bypassed is not proven to be pending.
func (r *SeverityRule) provesVerdict(f *model.Finding, c *model.Change) bool {
	unproven := f.Unproven || c != nil && c.Unproven
	return len(r.Verdicts) == 0 || f.Verdict != model.Pending || !unproven || slices.Contains(r.Verdicts, model.Bypassed)
}

// fitsPath reports whether the rule's paths match. The keys of an element that only the
// live side has are not compared: whoever created the element chose them, so they are no
// evidence.
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

// fitsActor reports whether the rule's actors fit. Only an actor that the system's
// own log names is proven.
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

// A rater applies severity rules, and counts what each rates.
type rater struct {
	rules []SeverityRule
	runs  []model.RuleRun
}

func newRater(rules []SeverityRule) *rater {
	r := &rater{rules: rules}
	for i := range rules {
		r.runs = append(r.runs, model.RuleRun{Rule: rules[i].String(), Reason: rules[i].Reason, Set: rules[i].Set})
	}
	return r
}

// rate sets the severity of a finding and of its changes.
func (r *rater) rate(f *model.Finding, w *witness) {
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
		sum(f)
	}
	f.Exposure = f.WorstFirst().Changes[0].Exposure
}

// first returns the position of the rule that rates a finding, or one of its
// changes, whose severity is was without rules; -1 without one. It is the first
// that fits by what is proven. A rule before that one, which fits only by what is
// claimed, counts where it is worse; of several, the worst: a label that was added
// must not stand before a stricter rule.
func (r *rater) first(f *model.Finding, c *model.Change, w *witness, was model.Severity) int {
	first := slices.IndexFunc(r.rules, func(rule SeverityRule) bool { return rule.fits(f, c, &w.proven) })
	before := r.rules
	if first >= 0 {
		was, before = r.rules[first].Set, r.rules[:first]
	}
	for i := range before {
		if rule := &before[i]; rule.Set.Rank() < was.Rank() && rule.fits(f, c, &w.claimed) {
			first, was = i, rule.Set
		}
	}
	return first
}

// again drops from a finding that was not judged again what no rule of the
// configuration says any more, and counts what the others rate.
func (r *rater) again(f *model.Finding) {
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
		sum(f)
	}
}

// sum makes the severity of a finding of that of its changes: the worst, and the
// rule that set it, or that made milder what was worse.
func sum(f *model.Finding) {
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

// exposure returns what a changed field exposes, or with path "" a resource as a
// whole: one that nobody declares exposes what any of its fields does.
func exposure(kind *model.Kind, verdict model.Verdict, path string) model.Exposure {
	if kind == nil {
		return ""
	}
	for _, e := range kind.Exposed {
		if e.Path == "" || path == "" && verdict == model.Unmanaged || path != "" && (isBelow(path, e.Path) || isBelow(e.Path, path)) {
			return e.What
		}
	}
	return ""
}

// expose notes on a finding and its changes what they expose.
func expose(s *model.Subject, f *model.Finding) {
	for i := range f.Changes {
		c := &f.Changes[i]
		c.Exposure = exposure(s.Kind, f.Verdict, model.WithoutKeys(cmp.Or(c.LivePath, c.Path)))
	}
	if len(f.Changes) == 0 {
		f.Exposure = exposure(s.Kind, f.Verdict, "")
	}
}
