// Package phrase generates the sentences about findings that reports, pages and notifications display: the
// finding and its place, who changed it and when, the evidence, the decisions, and the difference of each
// field. Each output renders the phrases with its own markup. The package is pure.
package phrase

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Phrase is a sentence, or a part of one, that consists of fixed words and foreign data. Each output
// marks the data in its own way. All text is visible; see Visible.
type Phrase []Span

// A Span is a piece of a Phrase.
type Span struct {
	Text string
	// Data reports whether the text is foreign data. Strong reports whether it is the name of the resource
	// or actor that the phrase is about.
	Data, Strong bool
	// At is the time that Text represents, or zero if it represents none.
	At time.Time
}

// Words returns a Phrase of fixed words.
func Words(words string) Phrase { return Phrase{{Text: words}} }

// Data returns a Phrase of foreign data, or nil if data is "".
func Data(data string) Phrase {
	if data == "" {
		return nil
	}
	return Phrase{}.Data(data)
}

// Words appends fixed words.
func (p Phrase) Words(words string) Phrase { return append(p, Span{Text: words}) }

// Data appends foreign data.
func (p Phrase) Data(data string) Phrase { return append(p, Span{Text: Visible(data), Data: true}) }

// Short appends foreign data, shortened to limit columns.
func (p Phrase) Short(data string, limit int) Phrase {
	return append(p, Span{Text: Line(data, limit), Data: true})
}

// quoted appends text between quotation marks, clipped to limit columns. A
// quotation mark in the text is escaped.
func (p Phrase) quoted(text string, limit int) Phrase {
	text = strings.ReplaceAll(Visible(text), `"`, `\"`)
	return append(p, Span{Text: `"` + Clip(text, limit) + `"`, Data: true})
}

// Then appends q. If neither phrase is empty, they are separated by a comma.
func (p Phrase) Then(q Phrase) Phrase {
	if len(p) > 0 && len(q) > 0 {
		p = p.Words(", ")
	}
	return append(p, q...)
}

// List appends names separated by commas. If there are more than most, it appends the first ones and the
// number of the others.
func (p Phrase) List(names []string, most int) Phrase {
	shown := names
	if len(names) > most {
		shown = names[:most-1]
	}
	for i, name := range shown {
		if i > 0 {
			p = p.Words(", ")
		}
		p = p.Data(name)
	}
	if more := len(names) - len(shown); more > 0 {
		p = p.Words(" and " + Number(more) + " more")
	}
	return p
}

// Sentence returns the phrase with its first letter capitalized, unless it begins with foreign data.
func (p Phrase) Sentence() Phrase {
	if len(p) == 0 || p[0].Data {
		return p
	}
	first, size := utf8.DecodeRuneInString(p[0].Text)
	capital := p[0]
	capital.Text = string(unicode.ToUpper(first)) + capital.Text[size:]
	return append(Phrase{capital}, p[1:]...)
}

// Bound returns the phrase with its data limited to a total of columns columns.
func (p Phrase) Bound(columns int) Phrase {
	bound := append(Phrase(nil), p...)
	for i := range bound {
		if bound[i].Data {
			bound[i].Text = Clip(bound[i].Text, max(columns, 1))
			columns -= min(columns, Columns(bound[i].Text))
		}
	}
	return bound
}

// parentheses returns the phrase after a space in parentheses; "" of an empty one.
func (p Phrase) parentheses(mark func(string) string) string {
	if len(p) == 0 {
		return ""
	}
	return " (" + p.Render(mark) + ")"
}

// String returns the text of the phrase without markup.
func (p Phrase) String() string { return p.Render(func(data string) string { return data }) }

// Render returns the text of the phrase, with each piece of data passed through mark.
func (p Phrase) Render(mark func(data string) string) string {
	var b strings.Builder
	for _, s := range p {
		if s.Data {
			b.WriteString(mark(s.Text))
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}
