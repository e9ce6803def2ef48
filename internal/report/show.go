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
	ordered := raw.WorstFirst()
	f, b := public(&ordered), newBlock(&ordered, c, len(raw.Changes))
	t.title(&b)
	t.line()
	t.facts(factsOf(&f, c))
	t.section("Fields", len(b.Fields))
	t.whole = true
	for i := range b.Fields {
		t.fullField(newSheet(f.Verdict, &f.Changes[i], &b.Fields[i]))
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

// wholeMessage bounds what somebody wrote beside a change, in columns, where a
// finding is shown in full.
const wholeMessage = 2000

// A Fact is one thing that is known of a finding. Part tells that it belongs to
// the fact before it.
type Fact struct {
	Name string
	Said Phrase
	Part bool
}

// A factsheet gathers the facts that say something.
type factsheet []Fact

func (s *factsheet) note(name, value string) {
	if value != "" {
		*s = append(*s, Fact{Name: name, Said: Phrase{}.quote(value)})
	}
}

// part notes something of the fact before.
func (s *factsheet) part(name string, said Phrase) {
	if len(said) > 0 && said.String() != "" {
		*s = append(*s, Fact{Name: name, Said: said, Part: true})
	}
}

func (s *factsheet) moment(name string, c clock, at time.Time) {
	if !at.IsZero() {
		*s = append(*s, Fact{Name: name, Said: c.moment(at)})
	}
}

// moment says both a time and how long ago it was, where that is wanted.
func (c clock) moment(at time.Time) Phrase { return Phrase{{Text: c.both(at), At: utc(at)}} }

// factsOf are a finding's own fields, those that say something.
func factsOf(f *model.Finding, c clock) []Fact {
	s := &factsheet{}
	s.note("id", f.ID)
	s.note("verdict", f.VerdictText()+": "+meaning(f.VerdictText()))
	if f.Was != nil {
		s.part("was", Phrase{}.quote(string(f.Was.Verdict)).say(", reclassified ").at(c, f.Was.At))
	}
	s.note("source", f.Source)
	s.note("kind", f.Kind)
	s.note("resource", f.Key.ID)
	s.note("name", f.Name)
	s.note("namespace", f.Place)
	switch all := disputants(f); {
	case f.Verdict == model.Unmanaged:
		s.note("not in", f.Declaration)
	case len(all) > 1: // Where each says so stands beside what it says.
		s.note("declared by", strings.Join(all, ", "))
	default:
		s.note("declared by", f.Declaration)
		s.note("declared at", f.Address)
	}
	s.note("note", f.Why())
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
		s.note("flapping", "it goes back and forth: single changes are not told")
	}
	s.decision(f.Decision, c)
	s.actor(&f.Actor, c)
	return *s
}

// decision notes who decided, when and until when.
func (s *factsheet) decision(d *model.Decision, c clock) {
	if d == nil {
		return
	}
	said := Phrase{}.say("by ").quote(d.By)
	if !d.At.IsZero() {
		said = said.say(" ").at(c, d.At)
	}
	*s = append(*s, Fact{Name: d.Kind.Participle(), Said: said.say(", ").until(d)})
	s.part("reason", quoted(d.Reason))
	s.part("owner", quoted(d.Owner))
	s.part("decision", Phrase{}.quote(d.ID).say(", ").quote(d.Via))
}

// actor notes who did it, and how that is known.
func (s *factsheet) actor(a *model.Actor, c clock) {
	s.note("changed by", a.Name)
	if !a.At.IsZero() {
		s.part("at", c.moment(a.At))
	}
	s.part("via", quoted(a.Via))
	s.part("evidence", quoted(a.Evidence))
	s.part("request", quoted(a.Request))
	s.part("message", Phrase{}.brief(a.Message, wholeMessage))
	if a.Confidence != model.Unknown {
		s.part("confidence", quoted(string(a.Confidence)))
	}
	s.part("reason", quoted(a.Reason))
}

// quoted is a Phrase of data alone; nothing of none.
func quoted(data string) Phrase {
	if data == "" {
		return nil
	}
	return Phrase{}.quote(data)
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
		t.fullField(newSheet(f.Verdict, shown, &said))
		t.prose(dim, "    ", Phrase{}.say("ignored: ").quote(f.Ignored[i].Reason))
	}
}

func (t *table) facts(all []Fact) {
	for i := range all {
		name := all[i].Name
		if all[i].Part {
			name = "  " + name
		}
		label := "  " + pad(name, len("  confidence")) + "  "
		for i, line := range wrap(all[i].Said.String(), t.width, label, strings.Repeat(" ", len(label))) {
			if i == 0 {
				line = t.paint(dim, label) + line[len(label):]
			}
			t.line(line)
		}
	}
}

// A Sheet is a field with every side of it, uncut.
type Sheet struct {
	Field
	// All are the declared, the recorded and the live side, and what is in effect
	// until a restart, where that is another one. None where Claims tell.
	All []Side
	// Record is the difference of the record and the live side, where Lines are
	// that of a text that the record has otherwise.
	Record []Line
}

func newSheet(verdict model.Verdict, shown *model.Change, f *Field) *Sheet {
	s := &Sheet{Field: *f}
	if len(f.Claims) > 0 {
		return s
	}
	texts := textsOf(shown.Declared, shown.Recorded, shown.Live, shown.Running)
	labels := []string{"declared", "recorded", "live", "running"}
	if shown.Running == nil {
		labels = labels[:3]
	}
	// What was changed differs from both of them, or from the one that is known.
	if oneSided := (shown.Declared == nil) != (shown.Recorded == nil); oneSided && verdict == model.Changed {
		for i := range texts[:2] {
			if texts[i] == absentText {
				texts[i] = unknownText
			}
		}
	}
	for i, label := range labels {
		s.All = append(s.All, newSide(label, texts[i]))
	}
	if len(f.Lines) > 0 && len(f.Others()) > 0 && isText(shown.Recorded, shown.Live) {
		s.Record = lines(shown.Recorded, shown.Live)
	}
	return s
}

// fullField writes every side of one field, uncut.
func (t *table) fullField(f *Sheet) {
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
	t.prose(dim, "    ", f.Who)
}

func (t *table) fullSides(f *Sheet) {
	for _, s := range f.All {
		t.line("    ", pad(s.Label, len("declared")), "  ", s.Text)
	}
	if f.Same {
		t.line("    a secret in it changed")
	}
}

// fullText writes the whole difference of a text, and that of its record where
// that is another one.
func (t *table) fullText(f *Sheet) {
	t.line("    ", legend(&f.Field))
	t.lines("    ", f.Lines)
	if len(f.Record) > 0 {
		t.line("    - recorded, + live")
		t.lines("    ", f.Record)
	}
}
