package phrase

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

const (
	absentText = "(absent)"
	// unknownText stands for a side without any statement: a state alone records
	// what was applied, and not what is declared.
	unknownText = "(not known)"
	// noObjectText stands for the name of an object that does not exist.
	noObjectText = "no such object"
	arrow        = " → "
)

// A Field is a changed field in the form for display. All its text is visible; see Visible.
type Field struct {
	Path string
	// LivePath is the path of the field in the live system, if it differs.
	LivePath string
	// Sides are the expected and the live value, followed by other values that differ from both. If there
	// are Claims, the live value is the only side, labeled with its source. A field that fails a check has
	// one side.
	Sides []Side
	// Same reports whether both sides look the same because only a secret in them differs.
	Same bool
	// Lines are the difference between two texts with several lines, which replaces Sides. Tally describes
	// the numbers of removed and added lines.
	Lines []DiffLine
	Tally string
	// Claims are the values of conflicting declarations. In this case, LiveActor is the last writer of the
	// live value.
	Claims    []Claim
	LiveActor Phrase
	// Remark is the actor if it differs from that of the finding, and the reason why the difference
	// remains.
	Remark Phrase
}

// A Side is one value of a field: declared, recorded, live, or running. The running value is in effect
// until a restart.
type Side struct {
	Label, Text string
	// None reports whether Text represents the absence of a value, or an unknown value.
	None bool
}

// A Claim is the value that a declaration has for a field. Path is the name of the field in the
// declaration, if it differs. Actor is the last writer of the value. URL is the address of a web page that
// shows the claim, or "".
type Claim struct {
	Declaration, Address, Position, Path, Text, URL string
	Actor                                           Phrase
}

// At returns the address and position of the claim, and the name of the field in the declaration if it
// differs.
func (c Claim) At() Phrase {
	at := place(c.Address, c.Position)
	switch {
	case c.Path != "" && len(at) > 0:
		return append(Data(c.Path).Words(" at "), at...)
	case c.Path != "":
		return Data(c.Path)
	}
	return at
}

// place returns an address with the file and the line, if it has them.
func place(address, position string) Phrase {
	if position == "" {
		return Data(address)
	}
	return Data(address).Words(" in ").Data(position)
}

// Fields returns at most most fields of a finding, without secrets.
func (c Clock) Fields(f *model.Finding, most int) []Field {
	shown := f.Public()
	fields := make([]Field, min(most, len(shown.Changes)))
	for i := range fields {
		fields[i] = NewField(f, &f.Changes[i], &shown.Changes[i], c)
	}
	return fields
}

// NewField returns the field for a change of a finding. raw is the original change, and shown is the change
// as returned by Finding.Public.
func NewField(of *model.Finding, raw, shown *model.Change, c Clock) Field {
	f := Field{Path: Visible(shown.Path), LivePath: Visible(shown.LivePath)}
	if f.LivePath == f.Path {
		f.LivePath = ""
	}
	f.Remark = c.remark(shown)
	if len(shown.Claims) > 0 {
		f.disputed(of.Source, shown, c)
		return f
	}
	if of.Check != "" {
		f.checked(shown)
		return f
	}
	from := comparedWith(of.Verdict, shown)
	if f.Sides = sides(shown, from); shown.Secret && shown.Declared == nil && shown.Recorded == nil && shown.Live == nil {
		f.neverShown()
		return f
	}
	f.compare(pick(shown, from), shown.Live, shown.Secret || !model.SameValue(pick(raw, from), raw.Live))
	return f
}

// remark returns the actor of a change where it differs from the finding's, and why the tool that applies the field does not
// put it back.
func (c Clock) remark(shown *model.Change) Phrase {
	p := Phrase{}
	if shown.Actor != nil {
		p = c.Actor("", *shown.Actor)
	}
	if shown.Unenforced != "" {
		p = p.Then(Data(shown.Unenforced))
	}
	if len(p) == 0 {
		return nil
	}
	return p
}

// checked sets the side of a field that fails a check: its live or its declared value.
func (f *Field) checked(c *model.Change) {
	label := "live"
	if c.Live == nil {
		label = "declared"
	}
	f.Sides = []Side{newSide(label, textsOf(c.Names, pick(c, label))[0])}
}

// neverShown marks a field whose value the live system itself hides.
func (f *Field) neverShown() {
	for i := range f.Sides {
		f.Sides[i].Text = model.SecretText
	}
	f.Same = true
}

// NewStep returns the field for a change between two versions. raw and shown are as for NewField.
func NewStep(raw, shown *model.Change) Field {
	texts := textsOf(shown.Names, shown.Recorded, shown.Live)
	f := Field{Path: Visible(shown.Path), Sides: []Side{newSide("before", texts[0]), newSide("after", texts[1])}}
	f.compare(shown.Recorded, shown.Live, shown.Secret || !model.SameValue(raw.Recorded, raw.Live))
	return f
}

// compare sets how the first two sides differ. differ reports whether they do: a
// finding that is already public has lost the values of secrets.
func (f *Field) compare(before, after *model.Value, differ bool) {
	if IsText(before, after) {
		f.Lines = Lines(before, after)
		f.Tally = tally(f.Lines)
	}
	f.Same = differ && f.Sides[0].Text == f.Sides[1].Text
}

func (f *Field) disputed(source string, c *model.Change, now Clock) {
	values := []*model.Value{c.Live}
	for i := range c.Claims {
		values = append(values, &c.Claims[i].Value)
	}
	texts := textsOf(c.Names, values...)
	f.Sides = []Side{newSide("live", texts[0])}
	if source != "" {
		f.Sides[0].Label += " in " + Line(source, NameLimit)
	}
	for i, text := range c.Claims {
		claimed := Claim{Visible(text.Declaration), Visible(text.Address), Visible(text.Position), Visible(text.Path), texts[i+1], text.URL, now.Writer(text.Actor)}
		if claimed.Path == f.Path {
			claimed.Path = ""
		}
		f.Claims = append(f.Claims, claimed)
	}
	if f.LiveActor = now.Writer(c.LiveActor); f.LiveActor != nil {
		f.Remark = nil // the actor is one of the writers of the sides
	}
}

// comparedWith returns the label of the side that the live one is compared with:
// declared, or recorded where the record is all that is known of the declaration, or
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
	if from == "declared" && c.Recorded != nil && !model.SameValue(c.Recorded, before) && !model.SameValue(c.Recorded, c.Live) {
		labels, values = append(labels, "recorded"), append(values, c.Recorded)
	}
	if c.Running != nil {
		labels, values = append(labels, "running"), append(values, c.Running)
	}
	texts := textsOf(c.Names, values...)
	all := make([]Side, len(labels))
	for i := range all {
		all[i] = newSide(labels[i], texts[i])
	}
	return all
}

func newSide(label, text string) Side {
	return Side{label, text, text == absentText || text == unknownText}
}

// textsOf returns the values as people read them, with the names of the objects to which
// they refer. Different values have different texts: where bare text is ambiguous, as 80 and
// "80", all are written as JSON.
func textsOf(names map[string]string, values ...*model.Value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = bareText(v) + named(v, names)
	}
	for i := range values {
		for j := range i {
			if texts[i] == texts[j] && !model.SameValue(values[i], values[j]) {
				return jsonTexts(names, values)
			}
		}
	}
	return texts
}

func jsonTexts(names map[string]string, values []*model.Value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = absentText; v != nil {
			texts[i] = Visible(string(v.AppendJSON(nil))) + named(v, names)
		}
	}
	return texts
}

// named returns the names of the objects to which a value refers, in parentheses with a
// blank before: " (storage)", or " (22 storage, 23 backup)" for a list. It returns "" if
// none is known.
func named(v *model.Value, names map[string]string) string {
	if v == nil || len(names) == 0 {
		return ""
	}
	var known []string
	for _, id := range v.IDs() {
		if name, ok := names[id]; ok {
			text := nameText(name)
			if v.Kind() == model.List {
				text = Visible(id) + " " + text
			}
			known = append(known, text)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + strings.Join(known, ", ") + ")"
}

// nameText returns the name of an object in parentheses after its ID: quoted if it could be
// taken for more than a name.
func nameText(name string) string {
	switch {
	case name == "":
		return noObjectText
	case name == noObjectText || !isBare(name) || strings.ContainsAny(name, "(),") || sideLabel().MatchString(name):
		quoted := model.StringOf(name)
		return Visible(string(quoted.AppendJSON(nil)))
	}
	return Visible(name)
}

// sideLabel matches names that could be taken for the label of a side, or for an ID.
var sideLabel = lazyregexp.New(`(?i)^(declared|recorded|live|running|before|after|unknown|absent)\b|^[0-9]+$`)

// bareText returns a string without quotes where that is unambiguous, and other
// values as JSON.
func bareText(v *model.Value) string {
	switch {
	case v == nil:
		return absentText
	case v.Kind() == model.String && isBare(v.Str()):
		return Visible(v.Str())
	}
	return Visible(string(v.AppendJSON(nil)))
}

func isBare(s string) bool {
	return s != "" && s != absentText && s != unknownText && strings.TrimSpace(s) == s && s[0] != '"' && !strings.Contains(s, strings.TrimSpace(arrow))
}

// IsText reports whether all sides that are set are strings, and at least one of them has several lines.
func IsText(sides ...*model.Value) bool {
	many := false
	for _, v := range sides {
		if v != nil && v.Kind() != model.String {
			return false
		}
		many = many || v != nil && strings.Contains(strings.TrimSuffix(v.Str(), "\n"), "\n")
	}
	return many
}

// Others returns the sides after the first two.
func (f Field) Others() []Side { return f.Sides[min(2, len(f.Sides)):] }

// others returns describe of each of the other sides, in parentheses.
func (f *Field) others(describe func(Side) string) string {
	var b strings.Builder
	for _, s := range f.Others() {
		b.WriteString(" (" + describe(s) + ")")
	}
	return b.String()
}

// Inline returns the sides on one line: "3 → 5 (recorded 4)". It passes each value through mark.
func (f *Field) Inline(mark func(string) string) string {
	if len(f.Claims) > 0 {
		return f.inlineClaims(mark)
	}
	if len(f.Sides) == 1 {
		return mark(f.Sides[0].Text)
	}
	from, live := f.Sides[0], f.Sides[1]
	switch {
	case f.Same && live.Text == model.SecretText:
		return mark(live.Text) + " changed"
	case f.Same:
		return mark(live.Text) + " (a secret in it changed)"
	}
	text := mark(from.Text)
	if from.Label == "recorded" {
		text += " (" + from.Label + ")"
	}
	text += arrow + mark(live.Text)
	return text + f.others(func(s Side) string { return s.Label + " " + mark(s.Text) })
}

func (f *Field) inlineClaims(mark func(string) string) string {
	text := make([]string, len(f.Claims), len(f.Claims)+1)
	for i, c := range f.Claims {
		text[i] = mark(c.Declaration) + " " + mark(c.Text)
		text[i] += c.At().Then(c.Actor).parentheses(mark)
	}
	live := f.Sides[0].Label + " " + mark(f.Sides[0].Text) + f.LiveActor.parentheses(mark)
	return strings.Join(append(text, live), ", ")
}

// Legend returns an explanation of the signs in a difference of lines, with the sides that they represent.
func (f *Field) Legend() string {
	text := "- " + f.Sides[0].Label + ", + " + f.Sides[1].Label
	return text + f.others(func(s Side) string { return s.Label + " differs from both" })
}

// Disagreement returns the number of declarations with a claim for the field: "2 declarations disagree", or, of one that
// declares the resource twice, "declared with 2 values".
func (f *Field) Disagreement() string {
	names := map[string]bool{}
	for _, c := range f.Claims {
		names[c.Declaration] = true
	}
	if len(names) == 1 {
		return "declared with " + Count(len(f.Claims), "value")
	}
	return Count(len(names), "declaration") + " disagree"
}

// Equal reports whether two fields look the same.
func (f *Field) Equal(g *Field) bool {
	return f.Path == g.Path && f.LivePath == g.LivePath && f.Same == g.Same && slices.Equal(f.Sides, g.Sides) &&
		slices.Equal(f.Lines, g.Lines) && slices.EqualFunc(f.Claims, g.Claims, Claim.equal) &&
		f.LiveActor.String() == g.LiveActor.String() && f.Remark.String() == g.Remark.String()
}

func (c Claim) equal(d Claim) bool {
	return c.Declaration == d.Declaration && c.Address == d.Address && c.Position == d.Position && c.Path == d.Path && c.Text == d.Text &&
		c.URL == d.URL && c.Actor.String() == d.Actor.String()
}

// MostLines is the maximum number of removed lines, and of added lines, that are displayed for a text.
const MostLines = 8

// Cut returns the field with its values shortened to about limit columns. Each shortened value includes the
// number of omitted characters.
func (f *Field) Cut(limit int) Field {
	short := *f
	short.Sides, short.Claims = slices.Clone(f.Sides), slices.Clone(f.Claims)
	for i := range short.Sides {
		short.Sides[i].Text = f.CutSide(i, limit)
	}
	for i := range short.Claims {
		short.Claims[i].Text = Cut(f.Claims[i].Text, limit, 0)
	}
	short.Lines = Shorten(f.Lines, MostLines)
	for i := range short.Lines {
		short.Lines[i].Text = Cut(short.Lines[i].Text, limit, short.Lines[i].From)
	}
	return short
}

// CutSide returns the text of side i, shortened as by Cut. The first two sides are compared with each
// other, and the others with the first.
func (f *Field) CutSide(i, limit int) string {
	if len(f.Sides) < 2 {
		return Cut(f.Sides[i].Text, limit, 0)
	}
	other := 0
	if i == 0 {
		other = 1
	}
	return Cut(f.Sides[i].Text, limit, Shared(f.Sides[i].Text, f.Sides[other].Text))
}

// Bound returns the field with its values shortened as by Cut, and its other texts limited to a similar
// length.
func (f *Field) Bound(columns int) Field {
	s := f.Cut(columns)
	s.Path, s.LivePath = Clip(s.Path, columns), Clip(s.LivePath, columns)
	s.Remark, s.LiveActor = s.Remark.Bound(2*columns), s.LiveActor.Bound(2*columns)
	for i := range s.Sides {
		s.Sides[i].Text = Clip(s.Sides[i].Text, 2*columns)
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.Actor = c.Actor.Bound(2 * columns)
		for _, text := range []*string{&c.Declaration, &c.Address, &c.Position, &c.Path} {
			*text = Clip(*text, columns)
		}
		c.Text = Clip(c.Text, 2*columns)
	}
	for i := range s.Lines {
		s.Lines[i].Text = Clip(s.Lines[i].Text, 2*columns)
	}
	return s
}
