package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// Reconcile configures whether, and with which credentials, live resources are put back to their declared
// state. Without it, driftd only reads.
type Reconcile struct {
	// Writers are the credentials for writing to sources, and for applying declarations. A source without
	// one is never written to. A writer of a declaration takes precedence over that of a source.
	Writers []Writer `mapstructure:"writers"`
	// Rules select the findings that may be put back; the first that matches applies. They have distinct
	// names.
	Rules []ReconcileRule `mapstructure:"rules"`
	// Freezes are parts of the week without actions. `driftd thaw` does not end them.
	Freezes []CalendarFreeze `mapstructure:"freezes"`
}

// A Writer is the account with which driftd writes to a source, or applies a declaration. It should differ
// from the one for reading.
type Writer struct {
	// Source is the name of the source.
	Source string `mapstructure:"source"`
	// Declaration is the name of a declaration instead of a source. It has the type terraform and makes
	// plans, and its resources are put back with an apply that a person must approve; or it has the type
	// netbox, and rules with changes: declaration write into it.
	Declaration string `mapstructure:"declaration"`
	// Settings depend on the type of the source or declaration; see its section below.
	Settings `mapstructure:"settings"`
}

// name names the writer.
func (w *Writer) name() string {
	if w.Declaration != "" {
		return "declaration " + w.Declaration
	}
	return "source " + w.Source
}

// carriesOut reports whether the writer can carry out a rule.
func (w *Writer) carriesOut(r *ReconcileRule) bool {
	m := &r.Match
	if r.Changes == string(reconcile.Declared) && w.Declaration == "" {
		return false
	}
	if w.Declaration != "" {
		return len(m.Declaration) == 0 || model.GlobName(m.Declaration, w.Declaration)
	}
	return len(m.Source) == 0 || model.GlobName(m.Source, w.Source)
}

// A ReconcileRule allows driftd to put findings back, within limits.
type ReconcileRule struct {
	// Name identifies the rule.
	Name string `mapstructure:"name"`
	// Mode is off, suggest, approve or auto: no actions, only suggestions, actions that a person approves,
	// or actions without approval. A bypassed finding always requires a person.
	Mode string `mapstructure:"mode"`
	// Match selects the findings.
	Match ReconcileMatch `mapstructure:"match"`
	// Changes is live or declaration: the live resource gets the declared values, or the declaration, which
	// has the type netbox, gets the live values.
	Changes string `mapstructure:"changes"`
	// MinAge is the minimum age of a drift, because an apply may be running.
	MinAge time.Duration `mapstructure:"min_age"`
	// MaxAge is the maximum age of a drift that is put back automatically, because other systems may depend
	// on an older one.
	MaxAge time.Duration `mapstructure:"max_age"`
	// Approvals is the number of persons who must approve, in addition to the person who requested the
	// action and the one who caused the drift.
	Approvals int `mapstructure:"approvals"`
	// Expires is the time after which a proposal expires unless it is approved.
	Expires time.Duration `mapstructure:"expires"`
	// PerScan is the maximum number of actions after one scan, for a rule with the mode auto.
	PerScan int `mapstructure:"per_scan"`
	// PerHour is the maximum number of actions per source and hour.
	PerHour int `mapstructure:"per_hour"`
	// Share is the maximum part of the resources of one kind in a declaration that are changed in an hour,
	// in percent. One resource is always allowed.
	Share float64 `mapstructure:"share"`
	// Soak is the time that the rule pauses after its first action.
	Soak time.Duration `mapstructure:"soak"`
	// Create allows the rule to create missing resources.
	Create bool `mapstructure:"create"`
	// Delete allows the rule to delete unmanaged resources of kinds that driftd can delete. A person must
	// approve.
	Delete bool `mapstructure:"delete"`
}

// ReconcileMatch selects findings: all given lists must match, and a list matches if one of its items does.
// All items except verdicts are patterns. There are no labels and actors, because everyone with write
// access to the live system can set them.
type ReconcileMatch struct {
	// Source matches the source's name.
	Source []string `mapstructure:"source"`
	// Kind matches the kind, as in kubernetes/*.
	Kind []string `mapstructure:"kind"`
	// Resource matches the resource, as in shop/*.
	Resource []string `mapstructure:"resource"`
	// Namespace matches the namespace.
	Namespace []string `mapstructure:"namespace"`
	// Declaration matches the declaration's name.
	Declaration []string `mapstructure:"declaration"`
	// Path matches the path of a changed field, with or without the keys in brackets. All changed
	// fields of a finding must match one.
	Path []string `mapstructure:"path"`
	// Verdict is the full name of a verdict: changed, undeclared, bypassed, missing or unmanaged.
	Verdict []string `mapstructure:"verdict"`
}

// newReconcileRule returns a rule with the defaults.
func newReconcileRule() ReconcileRule {
	l := reconcile.DefaultLimits()
	return ReconcileRule{Changes: string(reconcile.Live), MinAge: l.MinAge, MaxAge: l.MaxAge, Approvals: l.Approvals, Expires: l.Expiry, PerScan: l.PerScan,
		PerHour: l.PerHour, Share: 100 * l.Share, Soak: l.Soak}
}

// Rule returns the rule in the form of package reconcile.
func (r *ReconcileRule) Rule() reconcile.Rule {
	m := &r.Match
	verdicts := make([]model.Verdict, len(m.Verdict))
	for i, v := range m.Verdict {
		verdicts[i] = model.Verdict(v)
	}
	changes := reconcile.Side(r.Changes)
	if changes == reconcile.Live {
		changes = "" // the digest of a rule without it is the same
	}
	return reconcile.Rule{Name: r.Name, Mode: reconcile.Mode(r.Mode), Paths: m.Path, Changes: changes,
		Match: model.Selector{Sources: m.Source, Kinds: m.Kind, Resources: m.Resource, Namespaces: m.Namespace, Declarations: m.Declaration, Verdicts: verdicts},
		Limits: reconcile.Limits{MinAge: r.MinAge, MaxAge: r.MaxAge, Approvals: r.Approvals, Expiry: r.Expires, PerScan: r.PerScan,
			PerHour: r.PerHour, Share: r.Share / 100, Soak: r.Soak, Create: r.Create, Delete: r.Delete}}
}

// common returns the lists that Match has too.
func (m *ReconcileMatch) common() Match {
	return Match{Source: m.Source, Kind: m.Kind, Resource: m.Resource, Namespace: m.Namespace, Declaration: m.Declaration, Verdict: m.Verdict}
}

// checkReconcile validates reconcile, in a configuration with a number of people.
func (d *document) checkReconcile(c *Reconcile, known known, people int) {
	var writers []string
	for i := range c.Writers {
		w := &c.Writers[i]
		d.checkWriter(fmt.Sprintf("reconcile.writers[%d]", i), w, writers, known)
		writers = append(writers, w.name())
	}
	var names []string
	var order sieve
	for i := range c.Rules {
		r, at := &c.Rules[i], fmt.Sprintf("reconcile.rules[%d]", i)
		if slices.Contains(names, r.Name) && r.Name != "" {
			d.add(at+".name", "duplicate rule name %q", r.Name)
		}
		names = append(names, r.Name)
		m := r.Match.common()
		order.pass(d, at, "rule", len(r.Match.Path) == 0 && m.everything())
		d.checkReconcileRule(at, r, known)
		d.checkUseful(at, r, c.Writers, people)
	}
	for i := range c.Freezes {
		d.checkFreeze(fmt.Sprintf("reconcile.freezes[%d]", i), &c.Freezes[i], known)
	}
}

// checkWriter validates a writer that follows others.
func (d *document) checkWriter(at string, w *Writer, before []string, known known) {
	key, value, names := "source", w.Source, known.sources
	if w.Declaration != "" {
		key, value, names = "declaration", w.Declaration, known.declarations
	}
	switch {
	case value == "":
		d.missing(at, "source", "a writer without a source or a declaration: name one, as in source: prod")
	case w.Source != "" && w.Declaration != "":
		d.add(at+".declaration", "a writer of a source and of a declaration: make two of it")
	case slices.Contains(before, w.name()):
		d.add(at+"."+key, "a second writer of %s %q: keep one", key, value)
	case strings.ContainsAny(value, `*?[\`):
		d.add(at+"."+key, "%s %q: patterns are not supported, name the %s", key, value, key)
	default:
		d.checkNamed(at+"."+key, "writer of an unknown", key, value, names)
	}
}

// checkUseful reports a rule with the mode approve or auto that allows no action, ever.
func (d *document) checkUseful(at string, r *ReconcileRule, writers []Writer, people int) {
	if r.Mode != string(reconcile.Approve) && r.Mode != string(reconcile.Auto) {
		return
	}
	if !slices.ContainsFunc(writers, func(w Writer) bool { return w.carriesOut(r) }) {
		what := "sources"
		if r.Changes == string(reconcile.Declared) {
			what = "declarations"
		}
		d.add(at, "a rule with mode %s whose %s have no writer: add one to reconcile.writers, or set mode suggest", r.Mode, what)
	}
	if r.Mode == string(reconcile.Approve) && r.Approvals > people {
		d.add(at+".approvals", "a rule that needs the approval of %d persons, and people has %d: add them to people", r.Approvals, people)
	}
	if r.Mode == string(reconcile.Auto) && r.MinAge >= r.MaxAge && r.MaxAge > 0 {
		d.add(at+".min_age", "min_age %s is not below max_age %s: such a rule carries nothing out without a person", r.MinAge, r.MaxAge)
	}
	d.checkVerdicts(at, r)
}

// checkVerdicts reports verdicts in the match of a rule whose findings it never acts on.
func (d *document) checkVerdicts(at string, r *ReconcileRule) {
	actionable := []string{string(model.Changed), string(model.Undeclared), string(model.Bypassed), string(model.Missing), string(model.PendingRestart)}
	if r.Delete {
		actionable = append(actionable, string(model.Unmanaged))
	}
	never := "put back"
	if r.Changes == string(reconcile.Declared) {
		never = "written into a declaration"
		actionable = []string{string(model.Changed), string(model.Moved), string(model.Disputed)}
	}
	for i, v := range r.Match.Verdict {
		switch place := fmt.Sprintf("%s.match.verdict[%d]", at, i); {
		case slices.Contains(actionable, v) || !slices.Contains(model.Verdicts(), model.Verdict(v)):
		case v == string(model.Unmanaged) && r.Changes != string(reconcile.Declared):
			d.add(place, "unmanaged findings are put back by deleting the resource: set delete: true, or remove the verdict")
		default:
			d.add(place, "%s findings are never %s: want one of %s", v, never, strings.Join(actionable, ", "))
		}
	}
}

// checkSide validates what a rule changes.
func (d *document) checkSide(at string, r *ReconcileRule) {
	if sides := words(reconcile.Sides()); !slices.Contains(sides, r.Changes) {
		d.add(at+".changes", "unknown side %q: %s", r.Changes, oneOf(r.Changes, sides))
	}
	if r.Changes == string(reconcile.Declared) && r.Create {
		d.add(at+".create", "create with changes: declaration: driftd creates nothing in a declaration, remove it")
	}
	switch {
	case !r.Delete:
	case r.Changes == string(reconcile.Declared):
		d.add(at+".delete", "delete with changes: declaration: driftd deletes nothing from a declaration, remove it")
	case len(r.Match.Path) > 0:
		d.add(at+".delete", "delete with match.path: a deletion concerns the whole resource, make two rules of it")
	}
}

func (d *document) checkReconcileRule(at string, r *ReconcileRule, known known) {
	if strings.TrimSpace(r.Name) == "" {
		d.missing(at, "name", "a rule without a name: give it one, actions record it")
	}
	if modes := words(reconcile.Modes()); r.Mode == "" {
		d.missing(at, "mode", "a rule without a mode: set it, as in mode: approve")
	} else if !slices.Contains(modes, r.Mode) {
		d.add(at+".mode", "unknown mode %q: %s", r.Mode, oneOf(r.Mode, modes))
	}
	d.checkSide(at, r)
	m := r.Match.common()
	if r.Mode == string(reconcile.Auto) && m.everything() && len(r.Match.Path) == 0 {
		d.add(at, "a rule with mode auto that matches everything: give it a match")
	}
	d.checkMatch(at+".match", &m, known)
	for i, pattern := range r.Match.Path {
		d.checkListed(fmt.Sprintf("%s.match.path[%d]", at, i), pattern)
	}
	for key, value := range map[string]time.Duration{"min_age": r.MinAge, "soak": r.Soak} {
		d.notNegative(at+"."+key, value)
	}
	for key, value := range map[string]time.Duration{"max_age": r.MaxAge, "expires": r.Expires} {
		if value <= 0 {
			d.add(at+"."+key, "%s: want a duration above zero, such as 1h", key)
		}
	}
	for key, value := range map[string]int{"approvals": r.Approvals, "per_scan": r.PerScan, "per_hour": r.PerHour} {
		if value < 1 {
			d.add(at+"."+key, "%s: want a number from 1", key)
		}
	}
	if r.Share < 0 || r.Share > 100 {
		d.add(at+".share", "share: want a percentage from 0 to 100")
	}
}
