package report

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

const (
	absentText = "(absent)"
	// unknownText stands for a side that nobody says anything of: a state alone
	// tells what was applied, and not what is declared.
	unknownText = "(not known)"
	arrow       = " → "
)

// A Field is one changed field as people read it. All its text is visible.
type Field struct {
	Path string
	// LivePath is set where the live system calls the field something else.
	LivePath string
	// Sides are what should be and what is, and others that differ from both;
	// only what is, labeled with where, where Claims tell what should be.
	Sides []Side
	// Same tells that both sides read the same, since a secret in them differs.
	Same bool
	// Lines are the difference of a text of many lines, in place of Sides, and
	// Tally says how many lines came and went.
	Lines []Line
	Tally string
	// Claims are what each declaration says, where they dispute, and LiveWho is who
	// last wrote the live value then.
	Claims  []Claim
	LiveWho Phrase
	// Who is set where it differs from the finding's.
	Who Phrase
}

// A Side is one value of a field: declared, recorded, live, or in effect until a
// restart.
type Side struct {
	Label, Text string
	// None tells that Text stands for no value: it is absent, or not known.
	None bool
}

// A Claim is what one declaration says. Path is set where it has another word
// for the field. Who is who last set it there.
type Claim struct {
	Declaration, Address, Path, Text string
	Who                              Phrase
}

func (c Claim) same(d Claim) bool {
	return c.Declaration == d.Declaration && c.Address == d.Address && c.Path == d.Path && c.Text == d.Text && c.Who.String() == d.Who.String()
}

// At says where the declaration says it, and in which word of its own.
func (c Claim) At() Phrase {
	p := Phrase{}
	switch {
	case c.Path != "" && c.Address != "":
		return p.quote(c.Path).say(" at ").quote(c.Address)
	case c.Path != "":
		return p.quote(c.Path)
	case c.Address != "":
		return p.quote(c.Address)
	}
	return p
}

// newField makes a field of a change of a finding, as it is and as it may be
// shown.
func newField(of *model.Finding, raw, shown *model.Change, c clock) Field {
	f := Field{Path: visible(shown.Path), LivePath: visible(shown.LivePath)}
	if f.LivePath == f.Path {
		f.LivePath = ""
	}
	if shown.Actor != nil {
		f.Who = c.who(*shown.Actor)
	}
	if len(shown.Claims) > 0 {
		f.disputed(of.Source, shown, c)
		return f
	}
	from := comparedWith(of.Verdict, shown)
	if f.Sides = sides(shown, from); shown.Secret && shown.Declared == nil && shown.Recorded == nil && shown.Live == nil {
		f.neverShown()
		return f
	}
	f.compare(pick(shown, from), shown.Live, shown.Secret || !equal(pick(raw, from), raw.Live))
	return f
}

// neverShown makes the field one whose value the live system itself hides.
func (f *Field) neverShown() {
	for i := range f.Sides {
		f.Sides[i].Text = model.SecretText
	}
	f.Same = true
}

// newStep makes a field of a change over time.
func newStep(raw, shown *model.Change) Field {
	texts := textsOf(shown.Recorded, shown.Live)
	f := Field{Path: visible(shown.Path), Sides: []Side{newSide("before", texts[0]), newSide("after", texts[1])}}
	f.compare(shown.Recorded, shown.Live, shown.Secret || !equal(raw.Recorded, raw.Live))
	return f
}

// compare finds how the first two sides differ, given whether they do: a
// finding that is already public has lost what differs in a secret.
func (f *Field) compare(before, after *model.Value, differ bool) {
	if isText(before, after) {
		f.Lines = lines(before, after)
		f.Tally = tally(f.Lines)
	}
	f.Same = differ && f.Sides[0].Text == f.Sides[1].Text
}

func (f *Field) disputed(source string, c *model.Change, now clock) {
	values := []*model.Value{c.Live}
	for i := range c.Claims {
		values = append(values, &c.Claims[i].Value)
	}
	texts := textsOf(values...)
	f.Sides = []Side{newSide("live", texts[0])}
	if source != "" {
		f.Sides[0].Label += " in " + clip(visible(source), nameLimit)
	}
	for i, said := range c.Claims {
		claimed := Claim{visible(said.Declaration), visible(said.Address), visible(said.Path), texts[i+1], now.writer(said.Actor)}
		if claimed.Path == f.Path {
			claimed.Path = ""
		}
		f.Claims = append(f.Claims, claimed)
	}
	if f.LiveWho = now.writer(c.LiveActor); f.LiveWho != nil {
		f.Who = nil // It is one of the sides'.
	}
}

// comparedWith names the side that the live one stands against: the declared,
// or the recorded where no declaration is known beyond the record, and where
// live and declared agree.
func comparedWith(verdict model.Verdict, c *model.Change) string {
	switch {
	case verdict == model.Codified:
		return "recorded"
	case c.Declared == nil && c.Recorded != nil && verdict != model.Pending && verdict != model.Bypassed && verdict != model.Conflict:
		return "recorded"
	}
	return "declared"
}

func pick(c *model.Change, label string) *model.Value {
	switch label {
	case "declared":
		return c.Declared
	case "recorded":
		return c.Recorded
	}
	return c.Live
}

func sides(c *model.Change, from string) []Side {
	before := pick(c, from)
	labels, values := []string{from, "live"}, []*model.Value{before, c.Live}
	if from == "declared" && c.Recorded != nil && !equal(c.Recorded, before) && !equal(c.Recorded, c.Live) {
		labels, values = append(labels, "recorded"), append(values, c.Recorded)
	}
	if c.Running != nil {
		labels, values = append(labels, "running"), append(values, c.Running)
	}
	texts := textsOf(values...)
	all := make([]Side, len(labels))
	for i := range all {
		all[i] = newSide(labels[i], texts[i])
	}
	return all
}

func newSide(label, text string) Side {
	return Side{label, text, text == absentText || text == unknownText}
}

func equal(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// textsOf returns the values as people read them. Values that differ read
// differently: where bare text would not tell them apart, as 80 and "80", all
// of them are written as JSON.
func textsOf(values ...*model.Value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = bareText(v)
	}
	for i := range values {
		for j := range i {
			if texts[i] == texts[j] && !equal(values[i], values[j]) {
				return jsonTexts(values)
			}
		}
	}
	return texts
}

func jsonTexts(values []*model.Value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = absentText; v != nil {
			texts[i] = visible(string(v.AppendJSON(nil)))
		}
	}
	return texts
}

// bareText writes a string without quotes where nothing is lost by it.
func bareText(v *model.Value) string {
	switch {
	case v == nil:
		return absentText
	case v.Kind() == model.String && isBare(v.Str()):
		return visible(v.Str())
	}
	return visible(string(v.AppendJSON(nil)))
}

func isBare(s string) bool {
	return s != "" && s != absentText && s != unknownText && strings.TrimSpace(s) == s && s[0] != '"' && !strings.Contains(s, strings.TrimSpace(arrow))
}

// isText tells whether the sides are texts of which one has many lines.
func isText(sides ...*model.Value) bool {
	many := false
	for _, v := range sides {
		if v != nil && v.Kind() != model.String {
			return false
		}
		many = many || v != nil && strings.Contains(strings.TrimSuffix(v.Str(), "\n"), "\n")
	}
	return many
}

// Others returns the Sides beside the first two.
func (f Field) Others() []Side { return f.Sides[min(2, len(f.Sides)):] }

// aside says something of each of the other sides, in parentheses.
func (f *Field) aside(say func(Side) string) string {
	var b strings.Builder
	for _, s := range f.Others() {
		b.WriteString(" (" + say(s) + ")")
	}
	return b.String()
}

// short returns a copy of the field with its values cut.
func (f *Field) short(limit int) Field {
	short := *f
	same := 0
	if len(f.Sides) > 1 {
		same = shared(f.Sides[0].Text, f.Sides[1].Text)
	}
	short.Sides, short.Claims = slices.Clone(f.Sides), slices.Clone(f.Claims)
	for i := range short.Sides {
		short.Sides[i].Text = cut(f.Sides[i].Text, limit, same)
	}
	for i := range short.Claims {
		short.Claims[i].Text = cut(f.Claims[i].Text, limit, 0)
	}
	short.Lines = shorten(f.Lines, mostLines)
	for i := range short.Lines {
		short.Lines[i].Text = cut(short.Lines[i].Text, limit, short.Lines[i].From)
	}
	return short
}

// fieldsOf makes the first fields of a finding, as it is and as it may be shown.
func fieldsOf(raw, shown *model.Finding, most int, c clock) []Field {
	fields := make([]Field, min(most, len(shown.Changes)))
	for i := range fields {
		fields[i] = newField(shown, &raw.Changes[i], &shown.Changes[i], c)
	}
	return fields
}
