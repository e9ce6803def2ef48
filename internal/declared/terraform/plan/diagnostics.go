package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The bounds of the stored errors. One cause may fail 5,000 resources, and providers determine the
// length of their errors.
const (
	maxDiagnostics = 1000
	// maxText bounds each text of one error, in bytes; maxTexts bounds all texts.
	maxText  = 64 << 10
	maxTexts = 16 << 20
)

// A stream parses the lines that `plan -json` prints.
type stream struct {
	// tool is the name of the program: "Terraform" or "OpenTofu".
	tool        string
	diagnostics []Diagnostic
	// bytes is the length of the texts in diagnostics.
	bytes int
}

// line parses one line. Lines that are not JSON are not from the CLI and are skipped.
func (s *stream) line(text []byte) {
	if !bytes.Contains(text, []byte(`"diagnostic"`)) && !bytes.Contains(text, []byte(`"version"`)) {
		return
	}
	var message struct {
		Type       string `json:"type"`
		Terraform  string `json:"terraform"`
		Tofu       string `json:"tofu"`
		Diagnostic struct {
			Severity string `json:"severity"`
			Summary  string `json:"summary"`
			Detail   string `json:"detail"`
			Address  string `json:"address"`
			Range    struct {
				Filename string `json:"filename"`
				Start    struct {
					Line int `json:"line"`
				} `json:"start"`
			} `json:"range"`
		} `json:"diagnostic"`
	}
	if json.Unmarshal(text, &message) != nil {
		return
	}
	switch d := message.Diagnostic; {
	case message.Type == "version" && message.Tofu != "":
		s.tool = "OpenTofu"
	case message.Type == "version" && message.Terraform != "":
		s.tool = "Terraform"
	case message.Type == "diagnostic" && d.Severity == "error":
		s.keep(Diagnostic{Address: d.Address, Summary: d.Summary, Detail: d.Detail, File: d.Range.Filename, Line: d.Range.Start.Line})
	}
}

// keep adds an error within the bounds. It replaces a text that exceeds them.
func (s *stream) keep(d Diagnostic) {
	if len(s.diagnostics) >= maxDiagnostics {
		return
	}
	take := func(text, otherwise string) string {
		if len(text) > maxText || s.bytes+len(text) > maxTexts {
			return otherwise
		}
		s.bytes += len(text)
		return text
	}
	d.Address, d.File = take(d.Address, ""), take(d.File, "")
	d.Summary = take(d.Summary, leftOut(d.Summary))
	d.Detail = take(d.Detail, leftOut(d.Detail))
	s.diagnostics = append(s.diagnostics, d)
}

// leftOut returns the replacement for a text that is not stored. It does not contain the beginning
// of the text, which may have half of a secret that masking would not find.
func leftOut(text string) string {
	return fmt.Sprintf("(driftd omitted a text of %d KiB)", (len(text)+1<<10-1)>>10)
}

// errorsOf returns the errors in the plain-text output of a CLI: paragraphs that begin with "Error:
// ".
func errorsOf(text string) []Diagnostic {
	var found []Diagnostic
	for _, part := range strings.Split("\n"+plainText(text), "\nError: ")[1:] {
		summary, detail, _ := strings.Cut(part, "\n")
		found = append(found, Diagnostic{Summary: strings.TrimSpace(summary), Detail: strings.TrimSpace(detail)})
	}
	return found
}

// plainText removes the frame that some versions draw around messages.
func plainText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "│╷╵| ")
	}
	return strings.Join(lines, "\n")
}
