package plan

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzStream parses the output of a plan, parts of which are from its providers. The number of
// errors must be bounded, and only the version line may set the tool.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`{"@level":"info","@message":"Terraform 1.9.8","@module":"terraform.ui","terraform":"1.9.8","type":"version","ui":"1.2"}` + "\n" +
			`{"@level":"error","@message":"Error: no","type":"diagnostic","diagnostic":{"severity":"error","summary":"no","detail":"x\ny","address":"lab_server.a"}}`,
		`{"type":"version","tofu":"1.10.0"}` + "\n" + `{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"old"}}`,
		`{"type":"diagnostic","diagnostic":"error"}` + "\n" + `{"type":"diagnostic","diagnostic":{"severity":"error","address":["a"]}}` + "\nnot json \"diagnostic\"",
		"╷\n│ Error: Failed to query available provider packages\n│ \n│ Could not retrieve the list\n╵\n\nError: \nError: two\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s stream
		lines := bytes.Split(text, []byte("\n"))
		for range 1 + maxDiagnostics/len(lines) {
			for _, line := range lines {
				s.line(line)
			}
		}
		if len(s.diagnostics) > maxDiagnostics {
			t.Errorf("kept %d errors", len(s.diagnostics))
		}
		if s.tool != "" && (s.tool != "Terraform" && s.tool != "OpenTofu" || !bytes.Contains(text, []byte(`"version"`))) {
			t.Errorf("tool %q", s.tool)
		}
		found := errorsOf(string(text))
		if len(found) > strings.Count(string(text), "Error: ") {
			t.Errorf("found %d errors", len(found))
		}
		for _, d := range found {
			if strings.Contains(d.Summary, "\n") || strings.TrimSpace(d.Summary) != d.Summary {
				t.Errorf("got the summary %q", d.Summary)
			}
		}
	})
}
