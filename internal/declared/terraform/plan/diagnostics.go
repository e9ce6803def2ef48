package plan

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxDiagnostics bounds the errors that are kept: 5,000 resources may fail for
// one reason.
const maxDiagnostics = 1000

// A stream reads what `plan -json` prints, a line at a time.
type stream struct {
	// tool is the program, "Terraform" or "OpenTofu".
	tool        string
	diagnostics []Diagnostic
}

// line takes one line in. What is no JSON is not the CLI's.
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
	case message.Type == "diagnostic" && d.Severity == "error" && len(s.diagnostics) < maxDiagnostics:
		s.diagnostics = append(s.diagnostics, Diagnostic{Address: d.Address, Summary: d.Summary, Detail: d.Detail})
	}
}

// errorsOf returns the errors in what a CLI prints for people: paragraphs that
// begin with "Error: ".
func errorsOf(text string) []Diagnostic {
	var found []Diagnostic
	for _, part := range strings.Split("\n"+plainText(text), "\nError: ")[1:] {
		summary, detail, _ := strings.Cut(part, "\n")
		found = append(found, Diagnostic{Summary: strings.TrimSpace(summary), Detail: strings.TrimSpace(detail)})
	}
	return found
}

// plainText drops the frame that some versions draw around messages.
func plainText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "│╷╵| ")
	}
	return strings.Join(lines, "\n")
}
