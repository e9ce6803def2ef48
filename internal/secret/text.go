package secret

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A span is a secret part of a text.
type span struct{ from, to int }

// A scan finds the secrets in one text.
type scan struct {
	text  string
	names *rules
	spans []span
	// line is the line that was searched last.
	line span
}

func (s *scan) add(from, to int) {
	if from < to {
		s.spans = append(s.spans, span{from, to})
	}
}

// The format of the marks that replace the secret parts of a text: "(secret-", markDigits
// digits and ")". A mark contains no separator of URLs, property strings, command lines or
// YAML.
const (
	markBegin  = "(secret-"
	markDigits = 12
	markSize   = len(markBegin) + markDigits + 1
)

// markAt reports whether a mark begins at i.
func markAt(text string, i int) bool {
	if len(text)-i < markSize || text[i:i+len(markBegin)] != markBegin || text[i+markSize-1] != ')' {
		return false
	}
	for _, c := range []byte(text[i+len(markBegin) : i+markSize-1]) {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Marked reports whether a text contains a mark.
func Marked(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], markBegin)
		if i < 0 {
			return false
		}
		if markAt(text, at+i) {
			return true
		}
		at += i + len(markBegin)
	}
}

// HasMark reports whether the tree contains a digest or a text with a mark.
func HasMark(v model.Value) bool {
	return v.Kind() == model.Secret || Marked(v.Str()) || slices.ContainsFunc(v.Items(), HasMark) ||
		slices.ContainsFunc(v.Fields(), func(f model.Field) bool { return HasMark(f.Value) })
}

// mark returns the mark of a secret.
func (w *walker) mark(content string) string {
	return markBegin + w.room.sealer.Seal(content).Text()[:markDigits] + ")"
}

// inText returns the text with a mark in place of each secret part.
func (w *walker) inText(t string) string {
	if !w.inSecret && !suspicious(t) {
		return t
	}
	if sealed, isJSON := w.inJSON(t); isJSON {
		return sealed
	}
	if sealed, isBase64 := w.inBase64(t); isBase64 {
		return sealed
	}
	s := scan{text: t, names: w.room.rules, line: span{0, -1}}
	s.pem()
	s.tokens()
	s.schemes()
	s.urls()
	s.goDSNs()
	s.assignments()
	s.elements()
	s.netrc()
	s.commands()
	if !w.again {
		s.marks()
	}
	return w.replace(&s)
}

// marks finds text from outside that looks like a mark.
func (s *scan) marks() {
	for i := strings.Index(s.text, markBegin); i >= 0 && i < len(s.text); i++ {
		if markAt(s.text, i) {
			s.add(i, i+markSize)
		}
		next := strings.Index(s.text[i+1:], markBegin)
		if next < 0 {
			return
		}
		i += next
	}
}

// replace returns the text with its spans replaced by marks. Overlapping spans are merged.
func (w *walker) replace(s *scan) string {
	if len(s.spans) == 0 {
		return s.text
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var b strings.Builder
	b.Grow(len(s.text))
	at := 0
	for i := 0; i < len(s.spans); {
		whole := s.spans[i]
		for i++; i < len(s.spans) && s.spans[i].from < whole.to; i++ {
			whole.to = max(whole.to, s.spans[i].to)
		}
		content := s.text[whole.from:whole.to]
		if w.again && Marked(content) {
			continue
		}
		b.WriteString(s.text[at:whole.from])
		b.WriteString(w.mark(content))
		at = whole.to
	}
	b.WriteString(s.text[at:])
	return b.String()
}

// tail returns the end of the run of bytes that begins at i.
func tail(text string, i int, in func(byte) bool) int {
	for i < len(text) && in(text[i]) {
		i++
	}
	return i
}

// head returns the start of the run of bytes that ends at i, at most far bytes before i.
func head(text string, i, far int, in func(byte) bool) int {
	end := max(0, i-far)
	for i > end && in(text[i-1]) {
		i--
	}
	return i
}
