package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/preview"
)

// PreviewVersion is the version of a preview's JSON.
const PreviewVersion = 1

// PreviewFormats returns the formats of WritePreview.
func PreviewFormats() []string { return []string{"table", "json", "markdown"} }

// WritePreview writes the changes that the next apply reverts, as a table, as JSON or as Markdown.
func WritePreview(w io.Writer, format string, p preview.Preview, o Options) error {
	write := map[string]func(*bufio.Writer, *preview.Preview, Options) error{"table": previewTable, "json": previewJSON, "markdown": previewMarkdown}[format]
	if write == nil {
		return unknownFormat(format, PreviewFormats())
	}
	return buffered(w, "write preview", func(b *bufio.Writer) error { return write(b, &p, o) })
}

// A previewSummary has the counts of a preview.
type previewSummary struct {
	Items     int `json:"items"`
	Bypassed  int `json:"bypassed"`
	Old       int `json:"old"`
	Accepted  int `json:"accepted"`
	Destroyed int `json:"destroyed"`
	Hidden    int `json:"hidden"`
	Kept      int `json:"kept"`
}

// A previewItem is an item without the times of a finding that only the plan shows.
type previewItem struct {
	preview.Item

	FirstSeen time.Time `json:"first_seen,omitzero"`
	LastSeen  time.Time `json:"last_seen,omitzero"`
}

func summarizePreview(p *preview.Preview) previewSummary {
	s := previewSummary{Items: len(p.Items), Hidden: p.Hidden, Kept: len(p.Kept)}
	for i := range p.Items {
		it := &p.Items[i]
		s.Bypassed += count(it.Verdict == model.Bypassed)
		s.Old += count(it.Old)
		s.Accepted += count(it.Accepted())
		s.Destroyed += count(it.Effect == preview.Destroy || it.Effect == preview.Replace)
	}
	return s
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func previewJSON(w *bufio.Writer, p *preview.Preview, _ Options) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", PreviewVersion)
	e.value("plan", p.Plan)
	e.value("ref", p.Ref)
	e.value("declaration", p.Declaration)
	if !phrase.UTC(p.Scanned).IsZero() {
		e.value("scanned", phrase.UTC(p.Scanned))
	}
	e.value("old_after_seconds", int64(p.Old/time.Second))
	e.value("plan_only", p.PlanOnly)
	e.value("complete", len(p.Gaps) == 0)
	e.value("summary", summarizePreview(p))
	e.open("items", "[")
	for i := range p.Items {
		it := p.Items[i]
		it.Finding, it.Since = public(&it.Finding), phrase.UTC(it.Since)
		e.value("", previewItem{it, it.FirstSeen, it.LastSeen})
	}
	e.close("]")
	e.open("kept", "[")
	for i := range p.Kept {
		e.value("", p.Kept[i])
	}
	e.close("]")
	e.open("not_checked", "[")
	for _, g := range p.Gaps {
		e.value("", g)
	}
	e.close("]")
	e.close("}")
	return e.err
}

// previewHeadline returns the counts of a preview in one line; calm reports that nothing is
// erased and everything was checked.
func previewHeadline(p *preview.Preview) (text string, calm bool) {
	s := summarizePreview(p)
	text = erasedText(p)
	if s.Items > 0 {
		var parts []string
		for _, part := range []struct {
			n    int
			text string
		}{{s.Bypassed, "bypassed"}, {s.Destroyed, "destroyed or replaced"}, {s.Old, "older than " + ageText(p.Old)}, {s.Accepted, "accepted"}} {
			if part.n > 0 {
				parts = append(parts, phrase.Number(part.n)+" "+part.text)
			}
		}
		if len(parts) > 0 {
			text += " (" + strings.Join(parts, ", ") + ")"
		}
	}
	if len(p.Gaps) > 0 {
		text += "; " + phrase.Count(len(p.Gaps), "part") + " not checked"
	}
	return text, s.Items == 0 && len(p.Gaps) == 0
}

// erasedText counts the findings with manual changes that are erased, and the resources that are
// destroyed although no manual change of them is known.
func erasedText(p *preview.Preview) string {
	others := 0
	for i := range p.Items {
		others += count(p.Items[i].Verdict == model.Pending && !p.Items[i].IsUnproven())
	}
	text := "The next apply erases "
	if manual := len(p.Items) - others; manual > 0 {
		text += phrase.Count(manual, "manual change")
	} else {
		text += "no known manual change"
	}
	if others > 0 {
		text += ", and destroys or replaces " + phrase.Count(others, "resource") + " without one"
	}
	return text
}

// previewOrigin returns what a preview was made from.
func previewOrigin(p *preview.Preview) phrase.Phrase {
	var from phrase.Phrase
	if p.Plan != "" {
		from = phrase.Words("plan ").Data(p.Plan)
	}
	if p.Ref != "" {
		from = phrase.Words("ref ").Data(p.Ref)
	}
	if p.Declaration != "" {
		from = from.Then(phrase.Words("declaration ").Data(p.Declaration))
	}
	if phrase.UTC(p.Scanned).IsZero() {
		return from.Then(phrase.Words("no scan"))
	}
	return from.Then(phrase.Words("scan at ").Time(phrase.Clock{}, p.Scanned))
}

// effectText returns what happens to an item, and how old it is.
func effectText(it *preview.Item) phrase.Phrase {
	text := map[preview.Effect]string{preview.Overwrite: "would be overwritten", preview.Reset: "would be reset, because no declaration sets it",
		preview.Create: "was removed, and would be created again", preview.Replace: "would be destroyed and created again",
		preview.Destroy: "would be destroyed"}[it.Effect]
	if !it.Since.IsZero() {
		age := ageText(time.Duration(it.AgeSeconds) * time.Second)
		if it.SinceFirstSeen {
			age = "at least " + age
		}
		text += "; " + age + " old"
	}
	if it.Old {
		text += ": other things may depend on it"
	}
	return phrase.Words(text).Sentence()
}

// ageText returns an age as "3 days".
func ageText(age time.Duration) string {
	if age < time.Second {
		return "0 seconds"
	}
	return strings.TrimSuffix(phrase.Ago(age), " ago")
}

// unstored returns what stands in the place of the ID of an item that no stored finding shows.
func unstored(p *preview.Preview) string {
	if p.Ref != "" {
		return "new"
	}
	return "plan"
}

// previewBlock returns the block of an item, with its effect before its place, and without an ID
// if only the plan shows it.
func previewBlock(it *preview.Item, c phrase.Clock) Block {
	most := mostFields
	if it.ID == "" { // No other command shows the rest.
		most = len(it.Changes)
	}
	b := newBlock(&it.Finding, c, most)
	where := effectText(it)
	if it.Declaration != "" && len(b.Where) > 0 {
		where = append(where.Words(". "), b.Where...)
	}
	b.Where = where
	var ignored phrase.Phrase
	for _, rule := range phrase.Ignored(&it.Finding) {
		ignored = ignored.Then(rule)
	}
	if len(ignored) > 0 && len(b.Standing) > 0 {
		ignored = ignored.Words(". ")
	}
	b.Standing = append(ignored, b.Standing...)
	if it.Verdict == model.Pending && !it.IsUnproven() && it.ID == "" {
		b.Who = nil
	}
	return b
}

// keptPhrases returns one phrase for the findings of each reason that an apply leaves alone.
func keptPhrases(p *preview.Preview) []phrase.Phrase {
	type reason struct {
		text    string
		verdict model.Verdict
	}
	names := map[reason][]string{}
	var order []reason
	for i := range p.Kept {
		k := &p.Kept[i]
		r := reason{k.Reason, k.Verdict}
		if names[r] == nil {
			order = append(order, r)
		}
		names[r] = append(names[r], phrase.Kind(k.Kind)+" "+k.Key.ID)
	}
	phrases := make([]phrase.Phrase, len(order))
	for i, r := range order {
		phrases[i] = phrase.Words(phrase.Number(len(names[r]))+" "+string(r.verdict)+", "+r.text+": ").List(names[r], 5)
	}
	return phrases
}

// gapPhrases returns one phrase for the parts of each declaration and reason: during an outage, all
// of them have one reason.
func gapPhrases(p *preview.Preview) []phrase.Phrase {
	type reason struct{ declaration, text string }
	addresses := map[reason][]string{}
	var order []reason
	for _, g := range p.Gaps {
		r := reason{g.Declaration, g.Reason}
		if _, known := addresses[r]; !known {
			order = append(order, r)
		}
		addresses[r] = append(addresses[r], g.Address)
	}
	phrases := make([]phrase.Phrase, len(order))
	for i, r := range order {
		at := phrase.Data(r.declaration)
		names := slices.DeleteFunc(addresses[r], func(name string) bool { return name == "" })
		if len(names) > 1 {
			at = at.Then(phrase.Words(phrase.Number(len(names))+" parts (").List(names, 5).Words(")"))
		} else if len(names) == 1 {
			at = at.Then(phrase.Data(names[0]))
		}
		if len(at) > 0 {
			at = at.Words(": ")
		}
		phrases[i] = at.Short(r.text, phrase.ReasonLimit)
	}
	return phrases
}

// planOnlyText is the line about what a preview of a plan alone does not compare.
const planOnlyText = "Only the plan was read: changes that were applied from elsewhere (bypassed), and authors, are not known."

func hiddenText(p *preview.Preview) string {
	if p.Hidden == 0 {
		return ""
	}
	return phrase.Count(p.Hidden, "more manual change") + " hidden by ignore rules: see --hidden"
}

func previewTable(w *bufio.Writer, p *preview.Preview, o Options) error {
	t, c := newTable(w, o), newClock(o)
	for i := range p.Items {
		t.verdicts = max(t.verdicts, len(p.Items[i].VerdictText()))
	}
	text, calm := previewHeadline(p)
	st := bold
	if calm {
		st = green
	}
	t.line(t.paint(st, text), " — ", previewOrigin(p).String())
	if p.PlanOnly {
		t.line(planOnlyText)
	}
	for i := range p.Items {
		it := &p.Items[i]
		b := previewBlock(it, c)
		b.ID = cmp.Or(b.ID, unstored(p))
		t.line()
		t.block(&b)
		if err := t.emit(); err != nil {
			return err
		}
	}
	t.phrases("Left alone", keptPhrases(p))
	t.phrases("Not checked", gapPhrases(p))
	if hidden := hiddenText(p); hidden != "" {
		t.line()
		t.line(hidden)
	}
	return t.emit()
}

func previewMarkdown(w *bufio.Writer, p *preview.Preview, o Options) error {
	m, c := &markdown{}, newClock(o)
	text, _ := previewHeadline(p)
	m.printf("**%s** — %s\n", text, previewOrigin(p).Render(code))
	if p.PlanOnly {
		m.printf("\n%s\n", planOnlyText)
	}
	for i := range p.Items {
		it := &p.Items[i]
		b := previewBlock(it, c)
		m.previewed(&b)
		if err := m.emit(w); err != nil {
			return err
		}
	}
	m.phrases("Left alone", keptPhrases(p))
	m.phrases("Not checked", gapPhrases(p))
	if hidden := hiddenText(p); hidden != "" {
		m.printf("\n%s\n", hidden)
	}
	return m.emit(w)
}

// previewed writes a block, without an ID where only the plan shows the change.
func (m *markdown) previewed(b *Block) {
	if b.ID != "" {
		m.block(b)
		return
	}
	var part markdown
	part.block(b)
	m.WriteString(strings.Replace(part.String(), fmt.Sprintf(" (finding %s)", code("")), "", 1))
}
