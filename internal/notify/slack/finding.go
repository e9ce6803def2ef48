package slack

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
)

const (
	maxFields = 3
	// maxClaims bounds the declarations that a dispute shows, maxClaim what they
	// and their words are called, and maxLines all that fields say, in characters.
	maxClaims  = 4
	maxClaim   = 40
	maxLines   = 1300
	absentText = "(absent)"
	arrow      = " → "
)

// describe says what there is to know of a finding: in full where somebody is
// to look after it, in a line where not.
func describe(it model.Item, address string, brief bool) *slack.RichTextBlock {
	f := &it.Finding
	ended := model.Told{News: it.News}.Ended()
	text := &prose{struck: ended}
	if word := newsWord(it); word != "" && !ended {
		text.stress(word)
		if it.Why != "" {
			text.say(": ").quote(it.Why, maxReason)
		}
		text.say(" · ")
	}
	what(text, f)
	text.struck = false
	switch {
	case it.News == model.WasMerged:
		text.say(" merged into ").code(f.MergedInto)
		return block(text.section())
	case it.News == model.Over:
		text.say(" resolved")
		if !f.Resolved.IsZero() {
			text.say(" ")
			text.at(f.Resolved)
		}
		return block(text.section())
	case !isOpen(it):
		decided(text, f)
		return block(text.section())
	case brief:
		since(text.say(" "), f)
		next(text.say(" · "), f, address)
		return block(text.section())
	}
	since(text.say("\n"), f)
	who(text, f)
	if why := f.Why(); why != "" {
		text.say("\n").quote(why, maxReason)
	}
	if f.Flapping || it.News == model.StartsToFlap {
		text.say("\n" + plain.Flapping)
	}
	if len(f.Changes) == 0 {
		next(text.say("\nNext: "), f, address)
		return block(text.section())
	}
	after := (&prose{}).say("Next: ")
	next(after, f, address)
	return block(text.section(), lines(fields(it)), after.section())
}

// newsWord says what became of a finding; "" for nothing.
func newsWord(it model.Item) string {
	switch it.News {
	case model.Standing:
		return ""
	case model.Again:
		return "came back"
	case model.Altered:
		return "different now"
	case model.Reclassified:
		return "now " + it.Finding.VerdictText()
	case model.StartsToFlap:
		return "flapping"
	case model.Steady:
		return "steady again"
	case model.Returned:
		return "open again"
	}
	return string(it.News)
}

// what says what is found of which resource, where it is, and where it is
// declared.
func what(p *prose, f *model.Finding) {
	if f.Kind == plain.PartKind && f.Address == f.Declaration {
		p.say("declaration ").quote(f.Declaration, maxWord).say(" could not be read")
		return
	}
	if f.Kind == plain.PartKind {
		p.say("a part of ").quote(f.Declaration, maxWord).say(" could not be read: ").code(f.Address)
		return
	}
	p.say(f.VerdictText()+" ").quote(path.Base(f.Kind), maxWord).say(" ").name(nameOf(f), maxName)
	if f.Name != "" && f.Name != path.Base(f.Key.ID) {
		p.say(" (").quote(f.Key.ID, maxWord).say(")")
	}
	before := " in "
	for _, place := range []string{f.Source, f.Place} {
		if place != "" {
			p.say(before).quote(place, maxWord)
			before = "/"
		}
	}
	switch {
	case f.Verdict == model.Unmanaged && f.Declaration != "":
		p.say(", but not in ").quote(f.Declaration, maxWord)
		return
	case f.Declaration == "":
		return
	}
	p.say(", declared in ").quote(f.Declaration, maxWord)
	if f.Address != "" {
		p.say(" ").code(f.Address)
	}
}

func nameOf(f *model.Finding) string {
	if f.Name != "" {
		return f.Name
	}
	return f.Key.ID
}

func since(p *prose, f *model.Finding) {
	if !f.FirstSeen.IsZero() {
		p.say("first seen ")
		p.at(f.FirstSeen)
	}
}

// who says who did it, how sure that is, which log says so, and what they wrote
// beside it.
func who(p *prose, f *model.Finding) {
	a := f.Actor
	if plain.Nobody(f) {
		return
	}
	p.say(", by ")
	if a.Confidence == model.Unknown {
		p.say("unknown")
		when(p, a)
		if a.Via != "" {
			p.say(" via ").quote(a.Via, maxWord)
		}
		if a.Reason != "" {
			p.say(" (").quote(a.Reason, maxReason).say(")")
		}
		return
	}
	p.name(a.Name, maxWord).say(" (" + string(a.Confidence))
	if a.Via != "" {
		p.say(", ").quote(a.Via, maxWord)
	}
	p.say(")")
	when(p, a)
	if a.Message != "" {
		p.say(": “").quote(a.Message, maxSaid).say("”")
	}
}

// when says when somebody did it.
func when(p *prose, a model.Actor) {
	if !a.At.IsZero() {
		p.say(" ")
		p.at(a.At)
	}
}

// decided says who decided about a finding, until when and why.
func decided(p *prose, f *model.Finding) {
	d := f.Decision
	switch {
	case f.Hidden != "":
		p.say(", hidden by a rule: ").quote(f.Hidden, maxReason)
		return
	case d == nil:
		return
	}
	p.say(", by ").quote(d.By, maxWord)
	if d.Owner != "" && d.Owner != d.By {
		p.say(", owner ").quote(d.Owner, maxWord)
	}
	switch {
	case !d.Until.IsZero():
		p.say(", until ")
		p.at(d.Until)
	case d.Kind == model.Accept:
		p.say(", forever")
	}
	if d.Reason != "" {
		p.say(": ").quote(d.Reason, maxReason)
	}
}

// next says what to do.
func next(p *prose, f *model.Finding, address string) {
	p.code("driftd findings show " + f.ID)
	if page := plain.Page(address, f); page != "" {
		p.say(" · ")
		p.link(page, "details")
	}
}

// fields says how the worst fields differ: as many as there is room for.
func fields(it model.Item) string {
	f := &it.Finding
	var lines []string
	shown, room := 0, maxLines
	for i := range f.Changes[:min(len(f.Changes), maxFields)] {
		line := field(f, &f.Changes[i])
		if room -= utf8.RuneCountInString(line); room < 0 && shown > 0 {
			break
		}
		lines, shown = append(lines, line), shown+1
	}
	if more := max(it.Fields, len(f.Changes)) - shown; more > 0 {
		lines = append(lines, "…"+andMore(more))
	}
	return strings.Join(lines, "\n")
}

// field says what should be and what is.
func field(f *model.Finding, c *model.Change) string {
	line := clean(c.Path, maxName) + ": "
	if len(c.Claims) > 0 {
		return line + claims(f.Source, c)
	}
	want := c.Declared
	if want == nil || f.Verdict == model.Codified && c.Recorded != nil {
		want = c.Recorded
	}
	switch from, to := value(want, c.Secret, textOf(c.Live)), value(c.Live, c.Secret, textOf(want)); {
	case from == model.SecretText && to == model.SecretText:
		line += from + " changed"
	default:
		line += from + arrow + to
	}
	if c.Running != nil {
		line += " (" + value(c.Running, c.Secret, "") + " until a restart)"
	}
	return line + by(c.Actor)
}

// by returns who changed one side of a field, in parentheses; "" for nil.
func by(a *model.Actor) string {
	if a == nil {
		return ""
	}
	return " (by " + clean(a.Name, maxWord) + ")"
}

// claims says what each declaration says, where they dispute, and what is live:
// the values below one another.
func claims(source string, c *model.Change) string {
	live := "live"
	if source != "" {
		live += " in " + clean(source, maxClaim)
	}
	sides := [][2]string{{live, value(c.Live, c.Secret, "") + by(c.LiveActor)}}
	for i := range c.Claims[:min(len(c.Claims), maxClaims)] {
		claim := &c.Claims[i]
		said := value(&claim.Value, c.Secret, "")
		if claim.Path != "" && claim.Path != c.Path {
			said += " (" + clean(claim.Path, maxClaim) + ")"
		}
		sides = slices.Insert(sides, i, [2]string{clean(claim.Declaration, maxClaim), said + by(claim.Actor)})
	}
	widest := 0
	for _, side := range sides {
		widest = max(widest, utf8.RuneCountInString(side[0]))
	}
	names := map[string]bool{}
	for i := range c.Claims {
		names[c.Claims[i].Declaration] = true
	}
	said := []string{strconv.Itoa(len(names)) + " declarations disagree"}
	for _, side := range sides {
		said = append(said, "  "+side[0]+strings.Repeat(" ", widest-utf8.RuneCountInString(side[0]))+"  "+side[1])
	}
	return strings.Join(said, "\n")
}

func textOf(v *model.Value) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// value writes one side of a field; of a long one the part from where it
// differs from the other. What could be taken for something else is quoted.
func value(v *model.Value, secret bool, other string) string {
	switch {
	case v == nil:
		return absentText
	case secret:
		return model.SecretText
	}
	text := v.String()
	if v.Kind() == model.String && (text == "" || text == absentText || text == model.SecretText ||
		strings.TrimSpace(text) != text || strings.ContainsAny(text, "→\"")) {
		text = strconv.Quote(text)
	}
	if len(text) > maxValue {
		text = from(text, other)
	}
	return clean(text, maxValue)
}

// from drops what a text begins with like another, but for a few characters.
func from(text, other string) string {
	const before = 10
	same := 0
	a, b := []rune(text), []rune(other)
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if same > maxValue/2 {
		return "…" + string(a[same-before:])
	}
	return text
}
