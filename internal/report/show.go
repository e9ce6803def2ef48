package report

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A Version is a state of a finding, valid from a time.
type Version struct {
	At      time.Time     `json:"at"`
	Finding model.Finding `json:"finding"`
}

// WriteFinding writes one finding with all its data, as a table or as JSON: actor, times, evidence, each
// field with all sides, and the former values, newest first.
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
		e.value("", Version{phrase.UTC(versions[i].At), public(&versions[i].Finding)})
	}
	e.close("]")
	e.close("}")
	return e.err
}

func showFinding(t *table, raw *model.Finding, versions []Version, c phrase.Clock) error {
	ordered := raw.WorstFirst()
	f, b := public(&ordered), newBlock(&ordered, c, len(raw.Changes))
	t.title(&b)
	t.line()
	t.facts(factsOf(&f, c))
	t.section("Fields", len(b.Fields))
	t.whole = true
	for i := range b.Fields {
		t.fullField(phrase.NewSheet(f.Verdict, &f.Changes[i], &b.Fields[i]))
	}
	t.ignored(&f, raw, c)
	t.whole = false
	t.section("History", len(versions))
	t.past(versions, c)
	return t.emit()
}

// title writes the first line of a finding.
func (t *table) title(b *Block) {
	severity := strings.ToUpper(string(b.Severity))
	name := ""
	if b.Name != "" {
		name = " (" + b.Name + ")"
	}
	t.line(t.paint(severityStyle(b.Severity), severity), "  ", b.VerdictText, "  ",
		b.Kind, " ", t.paint(bold, b.Resource), name)
}

// wholeMessage bounds the message of a change in columns, where a finding is shown in
// full.
const wholeMessage = 2000

// A Fact is a property of a finding. Part reports whether it belongs to the fact before it.
type Fact struct {
	Name string
	Text phrase.Phrase
	Part bool
	// URL is the address of a web page if Text is one.
	URL string
}

// A factsheet collects facts that are not empty.
type factsheet []Fact

func (s *factsheet) note(name, value string) {
	if value != "" {
		*s = append(*s, Fact{Name: name, Text: phrase.Phrase{}.Data(value)})
	}
}

// part adds a part of the fact before.
func (s *factsheet) part(name string, text phrase.Phrase) {
	if len(text) > 0 && text.String() != "" {
		*s = append(*s, Fact{Name: name, Text: text, Part: true})
	}
}

func (s *factsheet) moment(name string, c phrase.Clock, at time.Time) {
	if !at.IsZero() {
		*s = append(*s, Fact{Name: name, Text: c.ExactPhrase(at)})
	}
}

// factsOf returns the properties of a finding that are not empty.
func factsOf(f *model.Finding, c phrase.Clock) []Fact {
	s := &factsheet{}
	s.note("id", f.ID)
	s.note("verdict", f.VerdictText())
	s.part("meaning", phrase.Words(phrase.Meaning(f.VerdictText())))
	if f.Was != nil {
		s.part("was", phrase.Phrase{}.Data(string(f.Was.Verdict)).Words(", reclassified ").Time(c, f.Was.At))
	}
	s.note("source", f.Source)
	s.note("kind", f.Kind)
	s.note("resource", f.Key.ID)
	s.note("name", f.Name)
	s.note("namespace", f.Place)
	switch all := phrase.Disputants(f); {
	case f.Verdict == model.Unmanaged:
		s.note("not in", f.Declaration)
	case len(all) > 1: // each claim has its address
		s.note("declared by", strings.Join(all, ", "))
	default:
		s.note("declared by", f.Declaration)
		s.note("declared at", f.Address)
		s.note("declared in", f.Position)
	}
	s.note("note", f.Why())
	for _, l := range f.Links {
		*s = append(*s, Fact{Name: string(l.To) + " page", Text: phrase.Data(l.URL), URL: l.URL})
	}
	s.moment("first seen", c, f.FirstSeen)
	s.moment("last seen", c, f.LastSeen)
	if f.MergedInto != "" {
		s.note("merged into", f.MergedInto)
		s.moment("merged", c, f.Resolved)
	} else {
		s.moment("resolved", c, f.Resolved)
	}
	s.note("owner", f.Owner)
	s.note("labels", labels(f.Labels))
	s.note("hidden by", f.Hidden)
	if f.Flapping {
		s.note("flapping", strings.TrimPrefix(phrase.Flapping, "flapping: "))
	}
	s.decision(f.Decision, c)
	s.actor(&f.Actor, c)
	return *s
}

// decision adds the facts about a decision.
func (s *factsheet) decision(d *model.Decision, c phrase.Clock) {
	if d == nil {
		return
	}
	text := phrase.Words("by ").Person(d.By)
	if !d.At.IsZero() {
		text = text.Words(" ").Time(c, d.At)
	}
	*s = append(*s, Fact{Name: d.Kind.Participle(), Text: text.Words(", ").Until(d.Until)})
	s.part("reason", phrase.Data(d.Reason))
	s.part("owner", phrase.Phrase{}.Person(d.Owner))
	s.part("decision", phrase.Phrase{}.Data(d.ID).Words(", ").Data(d.Via))
}

// actor adds the facts about an actor.
func (s *factsheet) actor(a *model.Actor, c phrase.Clock) {
	s.note("changed by", a.Name)
	if !a.At.IsZero() {
		s.part("at", c.ExactPhrase(a.At))
	}
	s.part("via", phrase.Data(a.Via))
	s.part("evidence", phrase.Data(a.Evidence))
	s.part("request", phrase.Data(a.Request))
	s.part("message", phrase.Phrase{}.Short(a.Message, wholeMessage))
	if a.Confidence != model.Unknown {
		s.part("confidence", phrase.Data(string(a.Confidence)))
	}
	s.part("reason", phrase.Data(a.Reason))
}

// labels writes labels by name: "team=shop, tier".
func labels(all map[string]string) string {
	text := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			name += "=" + all[name]
		}
		text = append(text, name)
	}
	return strings.Join(text, ", ")
}

// ignored writes the fields of a finding that ignore rules hide.
func (t *table) ignored(f, raw *model.Finding, c phrase.Clock) {
	t.section("Ignored", len(f.Ignored))
	for i := range f.Ignored {
		shown := &f.Ignored[i].Change
		text := phrase.NewField(f, &raw.Ignored[i].Change, shown, c)
		t.fullField(phrase.NewSheet(f.Verdict, shown, &text))
		t.prose(dim, "    ", phrase.Words("ignored: ").Data(f.Ignored[i].Reason))
	}
}

func (t *table) facts(all []Fact) {
	for i := range all {
		name := all[i].Name
		if all[i].Part {
			name = "  " + name
		}
		label := "  " + pad(name, len("  confidence")) + "  "
		for i, line := range wrap(all[i].Text.String(), t.width, label, strings.Repeat(" ", len(label))) {
			if i == 0 {
				line = t.paint(dim, label) + line[len(label):]
			}
			t.line(line)
		}
	}
}

// fullField writes all sides of one field in full.
func (t *table) fullField(f *phrase.Sheet) {
	t.line("  ", t.paint(bold, f.Path))
	if f.LivePath != "" {
		t.line("    live path  ", f.LivePath)
	}
	switch {
	case len(f.Claims) > 0:
		t.claims("    ", &f.Field)
	case len(f.Lines) > 0:
		t.fullText(f)
	default:
		t.fullSides(f)
	}
	t.prose(dim, "    ", f.Remark)
}

func (t *table) fullSides(f *phrase.Sheet) {
	for _, s := range f.All {
		t.line("    ", pad(s.Label, len("declared")), "  ", s.Text)
	}
	if f.Same {
		t.line("    a secret in it changed")
	}
}

// fullText writes the whole difference of a text, and that of its record where it
// differs.
func (t *table) fullText(f *phrase.Sheet) {
	t.line("    ", f.Legend())
	t.lines("    ", f.Lines)
	if len(f.Record) > 0 {
		t.line("    - recorded, + live")
		t.lines("    ", f.Record)
	}
}
