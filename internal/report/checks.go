package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/discipline"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// ChecksVersion is the version of the JSON of checks.
const ChecksVersion = 1

// ChecksFormats returns the formats of WriteChecks.
func ChecksFormats() []string { return []string{"table", "json"} }

// WriteChecks writes the result of checks of declared files.
func WriteChecks(w io.Writer, format string, r *discipline.Result, o Options) error {
	return choose(w, format, "write checks", func(b *bufio.Writer) error { return checksTable(b, r, o) },
		func(b *bufio.Writer) error { return checksJSON(b, r) })
}

// A checkFinding is a finding of a check in JSON.
type checkFinding struct {
	Check    string         `json:"check"`
	Severity model.Severity `json:"severity"`
	File     string         `json:"file,omitempty"`
	Line     int            `json:"line,omitempty"`
	What     string         `json:"what"`
	Next     string         `json:"next"`
	Reason   string         `json:"reason,omitempty"`
}

func newCheckFinding(f *discipline.Finding, reason string) checkFinding {
	return checkFinding{f.Check, f.Severity, f.File, f.Line, f.What, f.Next, reason}
}

type checksSummary struct {
	Files      int `json:"files"`
	Findings   int `json:"findings"`
	Exempt     int `json:"exempt"`
	NotChecked int `json:"not_checked"`
}

type checksGap struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

func checksJSON(w *bufio.Writer, r *discipline.Result) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", ChecksVersion)
	e.value("complete", len(r.Gaps) == 0)
	e.value("summary", checksSummary{r.Files, len(r.Findings), len(r.Exempt), len(r.Gaps)})
	e.open("findings", "[")
	for i := range r.Findings {
		e.value("", newCheckFinding(&r.Findings[i], ""))
	}
	e.close("]")
	e.open("exempt", "[")
	for i := range r.Exempt {
		e.value("", newCheckFinding(&r.Exempt[i].Finding, r.Exempt[i].Reason))
	}
	e.close("]")
	e.open("not_checked", "[")
	for _, g := range r.Gaps {
		e.value("", checksGap(g))
	}
	e.close("]")
	e.open("left_out", "[")
	for _, dir := range r.LeftOut {
		e.value("", dir)
	}
	e.close("]")
	e.close("}")
	return e.err
}

func checksTable(w *bufio.Writer, r *discipline.Result, o Options) error {
	t := newTable(w, o)
	st := bold
	if len(r.Findings)+len(r.Gaps) == 0 {
		st = green
	}
	t.line(t.paint(st, checksHeadline(r)))
	var advice []string
	next := map[string]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if next[f.Check] == "" {
			advice = append(advice, f.Check)
		}
		next[f.Check] = f.Next
		t.line()
		t.line(t.paint(severityStyle(f.Severity), pad(strings.ToUpper(string(f.Severity)), len("critical"))), "  ", f.Check, "  ", t.paint(bold, checkPlace(f.File, f.Line)))
		t.prose(plain, "  ", phrase.Data(f.What))
		if err := t.emit(); err != nil {
			return err
		}
	}
	slices.Sort(advice)
	t.phrases("Next steps", phrasesOf(advice, func(check string) phrase.Phrase { return phrase.Words(check + ": " + next[check]) }))
	t.phrases("Exempt", phrasesOf(r.Exempt, func(e discipline.Exemption) phrase.Phrase {
		return phrase.Words(e.Check + " ").Data(checkPlace(e.File, e.Line)).Words(": ").Data(e.Reason)
	}))
	t.phrases("Not checked", phrasesOf(r.Gaps, func(g discipline.Gap) phrase.Phrase {
		if g.File == "" {
			return phrase.Data(g.Reason)
		}
		return phrase.Data(checkPlace(g.File, g.Line)).Words(": ").Data(g.Reason)
	}))
	t.phrases("Left out", phrasesOf(r.LeftOut, phrase.Data))
	return t.emit()
}

func phrasesOf[T any](list []T, phraseOf func(T) phrase.Phrase) []phrase.Phrase {
	phrases := make([]phrase.Phrase, len(list))
	for i := range list {
		phrases[i] = phraseOf(list[i])
	}
	return phrases
}

// checksHeadline returns the counts of a result in one line.
func checksHeadline(r *discipline.Result) string {
	text := "No findings"
	if len(r.Findings) > 0 {
		counts := map[model.Severity]int{}
		for i := range r.Findings {
			counts[r.Findings[i].Severity]++
		}
		var parts []string
		for _, s := range model.Severities() {
			if counts[s] > 0 {
				parts = append(parts, phrase.Number(counts[s])+" "+string(s))
			}
		}
		text = phrase.Count(len(r.Findings), "finding") + " (" + strings.Join(parts, ", ") + ")"
	}
	text += " in " + phrase.Count(r.Files, "file")
	if len(r.Exempt) > 0 {
		text += "; " + phrase.Number(len(r.Exempt)) + " exempt"
	}
	if len(r.Gaps) > 0 {
		text += "; " + phrase.Count(len(r.Gaps), "part") + " not checked"
	}
	return text
}

// checkPlace returns the position of a finding.
func checkPlace(file string, line int) string {
	if file = phrase.Visible(file); line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// WriteCheckList writes the list of available checks.
func WriteCheckList(w io.Writer, format string, checks []discipline.Check, o Options) error {
	return choose(w, format, "write list of checks", func(b *bufio.Writer) error {
		t := newTable(b, o)
		for _, c := range checks {
			title := c.Title
			if c.Optional {
				title += " (only with --checks " + c.ID + ")"
			}
			t.line(pad(c.ID, widestCheck), "  ", t.paint(severityStyle(c.Severity), pad(string(c.Severity), len("critical"))), "  ", title)
		}
		return t.emit()
	}, func(b *bufio.Writer) error {
		e := emitter{w: b}
		e.open("", "[")
		for _, c := range checks {
			e.value("", listedCheck{c.ID, c.Severity, c.Title, c.Advice, c.Optional})
		}
		e.close("]")
		return e.err
	})
}

// widestCheck is the width of the column of IDs.
const widestCheck = len("terraform/implicit-dependency")

// A listedCheck is a check in JSON.
type listedCheck struct {
	ID       string         `json:"id"`
	Severity model.Severity `json:"severity"`
	Title    string         `json:"title"`
	Next     string         `json:"next"`
	Optional bool           `json:"optional,omitempty"`
}
