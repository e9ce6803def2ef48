package report

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"maps"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// junitLimit is how many columns of a value a failure shows.
const junitLimit = 240

type junitCase struct {
	XMLName xml.Name      `xml:"testcase"`
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Skipped *junitSkipped `xml:"skipped"`
	Error   *junitFailure `xml:"error"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// A suite is the part of a report about one source.
type suite struct {
	name     string
	findings []*model.Finding
	unread   []phrase.Phrase
}

// A caseCount counts the cases of a suite by their result.
type caseCount struct{ tests, failures, errors, skipped int }

// attributes are those of a suite, or of all of them.
func (c caseCount) attributes(name string) []string {
	return []string{"name", name, "tests", strconv.Itoa(c.tests), "failures", strconv.Itoa(c.failures), "errors", strconv.Itoa(c.errors)}
}

// counts counts the cases of the suite. An unchecked finding is an error, or skipped if
// it is accepted or hidden.
func (s *suite) counts() caseCount {
	c := caseCount{tests: len(s.findings) + len(s.unread), errors: len(s.unread)}
	for _, f := range s.findings {
		switch {
		case !f.Resolved.IsZero():
		case f.Verdict == model.Unchecked && !f.Shown():
			c.skipped++
		case f.Verdict == model.Unchecked:
			c.errors++
		default:
			c.failures++
		}
	}
	return c
}

func writeJUnit(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	suites := suitesOf(out)
	total := summaryCount(out)
	for i := range suites {
		c := suites[i].counts()
		total.tests, total.failures, total.errors = total.tests+c.tests, total.failures+c.failures, total.errors+c.errors
	}
	if _, err := w.WriteString(xml.Header); err != nil {
		return err
	}
	x := xml.NewEncoder(w)
	x.Indent("", "  ")
	root := element("testsuites", total.attributes("driftd")...)
	return wrapped(x, root, func() error {
		if err := summarySuite(x, out); err != nil {
			return err
		}
		for i := range suites {
			if err := suites[i].write(x, out); err != nil {
				return err
			}
		}
		return nil
	})
}

// suitesOf returns a suite for each source of the report, by name.
func suitesOf(out *outline) []suite {
	bySource := map[string]*suite{}
	of := func(source string) *suite {
		if bySource[source] == nil {
			bySource[source] = &suite{name: source}
		}
		return bySource[source]
	}
	for _, findings := range [][]*model.Finding{out.open, out.unseen, out.resolved} {
		for _, f := range findings {
			of(f.Source).findings = append(of(f.Source).findings, f)
		}
	}
	for _, c := range out.report.Coverage {
		of(c.Source)
	}
	for _, gap := range out.gaps() {
		of(gap.source).unread = append(of(gap.source).unread, gap.text)
	}
	suites := make([]suite, 0, len(bySource))
	for _, name := range slices.Sorted(maps.Keys(bySource)) {
		suites = append(suites, *bySource[name])
	}
	return suites
}

// summaryCount counts the one case of summarySuite.
func summaryCount(out *outline) caseCount {
	c := caseCount{tests: 1}
	if out.notChecked() != "" {
		c.errors = 1
	}
	return c
}

// summarySuite writes one case for the whole scan. It is an error where not everything
// was checked.
func summarySuite(x *xml.Encoder, out *outline) error {
	text, _ := out.headline()
	whole := junitCase{Class: "driftd", Name: "in sync", Out: text}
	if missing := out.notChecked(); missing != "" {
		whole.Error = &junitFailure{Message: missing, Type: string(model.Unchecked)}
	}
	attributes := append(summaryCount(out).attributes("driftd"), "skipped", "0", "timestamp", phrase.Stamp(out.report.Scan.Started))
	return wrapped(x, element("testsuite", attributes...), func() error { return x.Encode(whole) })
}

func (s *suite) write(x *xml.Encoder, out *outline) error {
	c := s.counts()
	attributes := append(c.attributes(phrase.Visible(s.name)), "skipped", strconv.Itoa(c.skipped), "timestamp", phrase.Stamp(out.report.Scan.Started))
	return wrapped(x, element("testsuite", attributes...), func() error {
		for _, f := range s.findings {
			if err := x.Encode(newJUnitCase(f, out.clock)); err != nil {
				return err
			}
		}
		for _, p := range s.unread {
			if err := x.Encode(junitCase{Class: phrase.Visible(s.name), Name: "read " + p.String(),
				Error: &junitFailure{Message: "not fully read", Type: string(model.Unchecked)}}); err != nil {
				return err
			}
		}
		return nil
	})
}

func newJUnitCase(f *model.Finding, c phrase.Clock) junitCase {
	b := newBlock(f, c, mostFields)
	of := junitCase{Class: phrase.Visible(f.Source) + "." + b.Kind, Name: b.Resource + ": " + b.VerdictText}
	if f.Declaration != "" {
		of.Name += " (" + phrase.Visible(f.Declaration) + ")"
	}
	switch {
	case !f.Resolved.IsZero():
		of.Out = details(&b)
	case f.Verdict == model.Unchecked && !f.Shown():
		of.Skipped = &junitSkipped{b.Reason}
	case f.Verdict == model.Unchecked:
		of.Error = &junitFailure{Message: b.Reason, Type: string(b.Verdict)}
	default:
		of.Failure = &junitFailure{Message: b.Meaning, Type: string(b.Verdict), Text: details(&b)}
	}
	return of
}

// details returns a finding as plain text, without color and with values cut.
func details(b *Block) string {
	t := &table{Buffer: new(bytes.Buffer), whole: true}
	t.line(string(b.Severity), " ", b.VerdictText, ": ", b.Kind, " ", b.Resource, " (finding ", b.ID, ")")
	t.prose(plain, "", b.Where)
	t.prose(plain, "", b.Who)
	t.prose(plain, "", b.Standing)
	if b.Reason != "" {
		t.line("note: ", b.Reason)
	}
	for i := range b.Fields {
		f := b.Fields[i].Cut(junitLimit)
		t.field("", &f)
	}
	t.prose(plain, "", b.Rest())
	return t.String()
}

func element(name string, attributes ...string) xml.StartElement {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	return start
}

// wrapped writes an element around the output of write.
func wrapped(x *xml.Encoder, start xml.StartElement, write func() error) error {
	if err := x.EncodeToken(start); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	if err := x.EncodeToken(start.End()); err != nil {
		return err
	}
	return x.Flush()
}
