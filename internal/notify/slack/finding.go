package slack

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

// Limits of the text about the fields of a finding: the number of fields, the number of
// declarations in a dispute, the length of their names in characters, and the length of
// the whole text in characters.
const (
	maxFields = 3
	maxClaims = 4
	maxClaim  = 40
	maxLines  = 1300
)

// describe returns the text about the finding of it. The text is a single line if brief is
// set or if the finding is ended or muted.
func describe(it model.Item, address string, brief bool) *slack.RichTextBlock {
	f, clock := &it.Finding, phrase.Clock{}
	f.Actor = phrase.WithoutEvidence(f.Actor)
	notice := model.Notified{News: it.News}
	text := &richText{struck: notice.Ended()}
	if word := phrase.News(&it); word != "" && notice.Open() {
		text.bold(word)
		if it.Why != "" {
			text.words(": ").data(it.Why, maxReason)
		}
		text.words(" · ")
	}
	text.phrase(phrase.Subject(f).Then(phrase.Where(f)))
	text.struck = false
	switch {
	case notice.Ended():
		text.words(" ").phrase(ended(f))
		return block(text.section())
	case notice.Muted():
		text.words(". ").phrase(clock.Muted(f).Sentence())
		return block(text.section())
	case brief:
		text.words(". ").phrase(clock.Seen(f).Sentence())
		addNext(text.words(" · "), f, address)
		return block(text.section())
	}
	text.words("\n").phrase(clock.ActorOf(f).Then(clock.Seen(f)).Sentence())
	if why := f.Why(); why != "" {
		text.words("\n").data(why, maxReason)
	}
	if f.Flapping || it.News == model.StartsToFlap {
		text.words("\n").phrase(phrase.Words(phrase.Flapping).Sentence())
	}
	if len(f.Changes) == 0 {
		addStep(text.words("\nNext: "), f, address)
		return block(text.section())
	}
	after := (&richText{}).words("Next: ")
	addStep(after, f, address)
	return block(text.section(), lines(fields(it)), after.section())
}

// ended returns how and when f ended.
func ended(f *model.Finding) phrase.Phrase {
	p := phrase.Closed(f.MergedInto)
	if f.MergedInto == "" && !f.Resolved.IsZero() {
		p = p.Words(" ").Time(phrase.Clock{}, f.Resolved)
	}
	return p
}

// addStep adds the ways out of f, the command that prints them, and links to its pages.
func addStep(p *richText, f *model.Finding, address string) {
	if !f.Verdict.IsDrift() {
		addNext(p, f, address)
		return
	}
	p.words(phrase.NextStep(f) + ": ").code("driftd suggest " + f.ID)
	addPages(p, f, address)
}

// addNext adds the command that shows f, and links to its pages.
func addNext(p *richText, f *model.Finding, address string) {
	p.code("driftd findings show " + f.ID)
	addPages(p, f, address)
}

// addPages adds links to driftd's page of f, to the live resource, and to its declaration. Those to the sides of a dispute
// have the names of their declarations.
func addPages(p *richText, f *model.Finding, address string) {
	add := func(address, words string) {
		if address != "" {
			p.words(" · ")
			p.link(address, words)
		}
	}
	add(plain.Page(address, f), "details")
	add(webPage(f.Link(model.LinkLive)), "live")
	sides := sidesOf(f)
	for _, c := range sides {
		add(webPage(c.URL), cmp.Or(literal(c.Declaration, maxWord), "declared"))
	}
	if len(sides) == 0 {
		add(webPage(f.Link(model.LinkDeclared)), "declared")
	}
}

// sidesOf returns one claim with a page for each declaration of a dispute.
func sidesOf(f *model.Finding) []model.ClaimedValue {
	var sides []model.ClaimedValue
	for i := range f.Changes {
		for _, c := range f.Changes[i].Claims {
			same := func(s model.ClaimedValue) bool { return s.Declaration == c.Declaration }
			if c.URL != "" && len(sides) < maxClaims && !slices.ContainsFunc(sides, same) {
				sides = append(sides, c)
			}
		}
	}
	return sides
}

// maxPage bounds the address of a page of another system, in bytes.
const maxPage = 300

// webPage returns an address if a message can link to it, otherwise "".
func webPage(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(address) > maxPage ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>|\"`", r) }) {
		return ""
	}
	return address
}

// fields returns the worst fields of a finding, one per line, up to the limits.
func fields(it model.Item) string {
	f := &it.Finding
	var lines []string
	room := maxLines
	for _, field := range (phrase.Clock{}).Fields(f, maxFields) {
		line := fieldText(field.Cut(maxValue))
		if room -= utf8.RuneCountInString(line); room < 0 && len(lines) > 0 {
			break
		}
		lines = append(lines, line)
	}
	if more := max(it.Fields, len(f.Changes)) - len(lines); more > 0 {
		lines = append(lines, "…"+andMore(more))
	}
	return strings.Join(lines, "\n")
}

// fieldText returns the values of f in one line. The values of a dispute are in one line
// each.
func fieldText(f phrase.Field) string {
	line := clean(f.Path, maxName) + ": "
	if len(f.Claims) > 0 {
		return line + claims(&f)
	}
	line += f.Inline(func(value string) string { return clean(value, maxName) })
	if len(f.Remark) > 0 {
		line += ", " + clean(f.Remark.String(), maxName)
	}
	return line
}

// authorText returns the author of a value in parentheses. It returns "" if author is
// empty.
func authorText(author phrase.Phrase) string {
	if len(author) == 0 {
		return ""
	}
	return " (" + clean(author.String(), maxWord) + ")"
}

// claims returns the declared values of a dispute and the live value, aligned in columns.
func claims(f *phrase.Field) string {
	rows := [][2]string{}
	for _, c := range f.Claims[:min(len(f.Claims), maxClaims)] {
		value := clean(c.Text, maxValue)
		if c.Path != "" {
			value += " (" + clean(c.Path, maxClaim) + ")"
		}
		rows = append(rows, [2]string{clean(c.Declaration, maxClaim), value + authorText(c.Actor)})
	}
	rows = append(rows, [2]string{clean(f.Sides[0].Label, maxClaim), clean(f.Sides[0].Text, maxValue) + authorText(f.LiveActor)})
	widest := 0
	for _, row := range rows {
		widest = max(widest, utf8.RuneCountInString(row[0]))
	}
	lines := []string{f.Disagreement()}
	for _, row := range rows {
		lines = append(lines, "  "+row[0]+strings.Repeat(" ", widest-utf8.RuneCountInString(row[0]))+"  "+row[1])
	}
	return strings.Join(lines, "\n")
}
