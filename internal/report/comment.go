package report

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

const (
	// CommentMarker is the first line of a comment body, by which a pipeline finds its previous comment.
	// Foreign text is quoted as code and cannot contain it.
	CommentMarker = "<!-- driftd scan -->"
	// commentSize bounds a comment body in bytes, below GitHub's limit of 65,536 characters.
	commentSize = 60000
	// commentFields and commentLimit bound the fields of a finding, and their values in columns.
	commentFields, commentLimit = 3, 80
	// commentReasons bounds the reasons why something was not checked.
	commentReasons = 10
)

// writeComment writes a bounded Markdown body for a comment on a pull request or a merge request.
func writeComment(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	m, tail := &markdown{}, &markdown{}
	text, _ := out.headline()
	m.printf("%s\n**driftd: %s** — %s\n", CommentMarker, text, out.scan().Render(code))
	if missing := out.notChecked(); missing != "" {
		m.printf("\n%s\n", missing)
	}
	tail.reasons(append(out.unchecked(), out.unread()...))
	rest := 0
	head := "\n| severity | verdict | resource | declared → live | by |\n| --- | --- | --- | --- | --- |\n"
	for _, f := range out.open {
		if !f.Shown() {
			continue
		}
		b := newBlock(f, out.clock, commentFields)
		row := head + commentRow(&b, o.file(f))
		if rest > 0 || m.Len()+len(row)+tail.Len() > commentSize {
			rest++
			continue
		}
		m.WriteString(row)
		head = ""
	}
	if rest > 0 {
		m.printf("\nAnd %s.\n", phrase.Count(rest, "more finding"))
	}
	m.WriteString(tail.String())
	return m.emit(w)
}

// reasons writes why something was not checked, without reasons that would not fit.
func (m *markdown) reasons(all []phrase.Phrase) {
	for i, p := range all {
		line := "- " + p.Render(code) + "\n"
		if i == 0 {
			line = "\nNot checked:\n\n" + line
		}
		if i == commentReasons || m.Len()+len(line) > commentSize/4 {
			m.printf("\nAnd %s.\n", phrase.Count(len(all)-i, "more reason"))
			return
		}
		m.WriteString(line)
	}
}

// commentRow returns a finding as a row of a table, with the file and the line that declare it unless
// at is nil.
func commentRow(b *Block, at *Location) string {
	var fields []string
	for i := range b.Fields {
		f := b.Fields[i].Cut(commentLimit)
		fields = append(fields, pathCode(&f)+": "+commentValue(&f))
	}
	if b.More > 0 {
		fields = append(fields, phrase.Count(b.More, "more field"))
	}
	cells := []string{word(string(b.Severity)), word(b.VerdictText), code(b.Kind+" "+b.Resource) + declaredIn(b, at), strings.Join(fields, "<br>"), b.Who.Render(code)}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// declaredIn returns a line with a location, and a link to it if the finding has one.
func declaredIn(b *Block, at *Location) string {
	if at == nil {
		return ""
	}
	text := phrase.Clip(phrase.Visible(at.Path), commentLimit)
	if at.Line > 0 {
		text += ":" + strconv.Itoa(at.Line)
	}
	for _, l := range b.Links {
		if l.To == model.LinkDeclared {
			return fmt.Sprintf("<br>[%s](<%s>)", code(text), l.URL)
		}
	}
	return "<br>" + code(text)
}

// commentValue returns the values of a field. Those of a dispute are only counted: Inline writes
// the name of the live source as it is.
func commentValue(f *phrase.Field) string {
	switch {
	case len(f.Claims) > 0:
		return f.Disagreement()
	case len(f.Lines) > 0:
		return f.Tally
	}
	return f.Inline(code)
}
