package report

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Version is what a finding said from a moment on.
type Version struct {
	At      time.Time     `json:"at"`
	Finding model.Finding `json:"finding"`
}

// WriteFinding writes one finding in full, as a table or as JSON: who, since
// when, on which evidence, every field with every side uncut, and the values
// that it had, newest first.
func WriteFinding(w io.Writer, format string, f model.Finding, versions []Version, o Options) error {
	versions = slices.Clone(versions)
	slices.SortStableFunc(versions, func(a, b Version) int { return b.At.Compare(a.At) })
	return choose(w, format, "write finding",
		func(b *bufio.Writer) error { return showFinding(newTable(b, o), &f, versions, newClock(o)) },
		func(b *bufio.Writer) error { return findingJSON(b, &f, versions) })
}

func findingJSON(w *bufio.Writer, f *model.Finding, versions []Version) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.value("finding", public(f))
	e.open("versions", "[")
	for i := range versions {
		e.value("", Version{utc(versions[i].At), public(&versions[i].Finding)})
	}
	e.close("]")
	e.close("}")
	return e.err
}

func showFinding(t *table, raw *model.Finding, versions []Version, c clock) error {
	f, b := public(raw), newBlock(raw, c, len(raw.Changes))
	t.title(&b)
	t.line()
	t.facts(&f, c)
	t.section("Fields", len(b.Fields))
	t.whole = true
	for i := range b.Fields {
		t.fullField(&f.Changes[i], &b.Fields[i])
	}
	t.ignored(&f, raw, c)
	t.whole = false
	t.section("History", len(versions))
	t.past(versions, c)
	return t.emit()
}

// title writes the first line of a finding.
func (t *table) title(b *block) {
	severity := strings.ToUpper(string(b.Severity))
	name := ""
	if b.Name != "" {
		name = " (" + b.Name + ")"
	}
	t.line(t.paint(severityStyle(b.Severity), severity), "  ", string(b.Verdict), "  ",
		b.Kind, " ", t.paint(bold, b.Resource), name)
}

// wholeMessage bounds what somebody wrote beside a change, in columns, where a
// finding is shown in full.
const wholeMessage = 2000

// facts writes a finding's own fields, those that say something.
func (t *table) facts(f *model.Finding, c clock) {
	moment := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return c.both(at)
	}
	t.fact("id", f.ID)
	t.fact("verdict", string(f.Verdict)+": "+meaning(f.Verdict))
	t.fact("source", f.Source)
	t.fact("kind", f.Kind)
	t.fact("resource", f.Key.ID)
	t.fact("name", f.Name)
	t.fact("namespace", f.Place)
	switch all := disputants(f); {
	case f.Verdict == model.Unmanaged:
		t.fact("not in", f.Declaration)
	case len(all) > 1: // Where each says so stands beside what it says.
		t.fact("declared by", strings.Join(all, ", "))
	default:
		t.fact("declared by", f.Declaration)
		t.fact("declared at", f.Address)
	}
	t.fact("note", f.Reason)
	t.fact("first seen", moment(f.FirstSeen))
	t.fact("last seen", moment(f.LastSeen))
	t.fact("resolved", moment(f.Resolved))
	t.fact("owner", f.Owner)
	t.fact("labels", labels(f.Labels))
	t.fact("hidden by", f.Hidden)
	if f.Flapping {
		t.fact("flapping", "it goes back and forth: single changes are not told")
	}
	if d := f.Decision; d != nil {
		t.fact(d.Kind.Participle(), c.decision(d))
		t.fact("  reason", d.Reason)
		t.fact("  owner", d.Owner)
		t.fact("  decision", d.ID+", "+d.Via)
	}
	t.actor(&f.Actor, moment(f.Actor.At))
}

// actor writes who did it, and how that is known.
func (t *table) actor(a *model.Actor, at string) {
	t.fact("changed by", a.Name)
	t.fact("  at", at)
	t.fact("  via", a.Via)
	t.fact("  evidence", a.Evidence)
	t.fact("  request", a.Request)
	t.fact("  message", clip(visible(a.Message), wholeMessage))
	if a.Confidence != model.Unknown {
		t.fact("  confidence", string(a.Confidence))
	}
	t.fact("  reason", a.Reason)
}

// decision says who decided, when and until when.
func (c clock) decision(d *model.Decision) string {
	said := "by " + d.By
	if !d.At.IsZero() {
		said += " " + c.at(d.At)
	}
	return said + ", " + until(d)
}

// labels writes labels by name: "team=shop, tier".
func labels(all map[string]string) string {
	said := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			name += "=" + all[name]
		}
		said = append(said, name)
	}
	return strings.Join(said, ", ")
}

// ignored writes the fields that ignore rules took out of a finding.
func (t *table) ignored(f, raw *model.Finding, c clock) {
	t.section("Ignored", len(f.Ignored))
	for i := range f.Ignored {
		shown := &f.Ignored[i].Change
		said := newField(f, &raw.Ignored[i].Change, shown, c)
		t.fullField(shown, &said)
		t.prose(dim, "    ", phrase{}.say("ignored: ").quote(f.Ignored[i].Reason))
	}
}

func (t *table) fact(name, value string) {
	if value == "" {
		return
	}
	label := "  " + pad(name, len("  confidence")) + "  "
	for i, line := range wrap(visible(value), t.width, label, strings.Repeat(" ", len(label))) {
		if i == 0 {
			line = t.paint(dim, label) + line[len(label):]
		}
		t.line(line)
	}
}

// fullField writes every side of one field, uncut.
func (t *table) fullField(shown *model.Change, f *field) {
	t.line("  ", t.paint(bold, f.Path))
	if f.LivePath != "" {
		t.line("    live path  ", f.LivePath)
	}
	switch {
	case len(f.Claims) > 0:
		t.claims("    ", f)
	case len(f.Lines) > 0:
		t.fullText(shown, f)
	default:
		t.fullSides(shown, f)
	}
	t.prose(dim, "    ", f.Who)
}

func (t *table) fullSides(shown *model.Change, f *field) {
	texts := textsOf(shown.Declared, shown.Recorded, shown.Live, shown.Running)
	labels := []string{"declared", "recorded", "live", "running"}
	if shown.Running == nil {
		labels = labels[:3]
	}
	for i, label := range labels {
		t.line("    ", pad(label, len("declared")), "  ", texts[i])
	}
	if f.Same {
		t.line("    a secret in it changed")
	}
}

// fullText writes the whole difference of a text, and that of its record where
// that is another one.
func (t *table) fullText(shown *model.Change, f *field) {
	t.line("    ", legend(f))
	t.lines("    ", f.Lines)
	if len(f.Others()) > 0 && isText(shown.Recorded, shown.Live) {
		t.line("    - recorded, + live")
		t.lines("    ", lines(shown.Recorded, shown.Live))
	}
}
