package plan

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiagnosticsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct {
		reason string
		each   Diagnostic
		// of is the number of errors that are stored unchanged.
		of int
	}{
		"short":     {"ordinary errors are kept as they are", Diagnostic{Address: "lab_server.a", Summary: "no", Detail: "it is gone"}, maxDiagnostics},
		"detail":    {"a detail of 1 MiB", Diagnostic{Address: "lab_server.a", Summary: "no", Detail: long}, 0},
		"summary":   {"a summary of 1 MiB", Diagnostic{Address: "lab_server.a", Summary: long, Detail: "it is gone"}, 0},
		"address":   {"an address of 1 MiB", Diagnostic{Address: long, Summary: "no", Detail: "it is gone"}, 0},
		"many":      {"many errors of nearly the most", Diagnostic{Address: "lab_server.a", Summary: "no", Detail: long[:maxText]}, maxTexts / (maxText + len("lab_server.a") + len("no"))},
		"addresses": {"many long addresses", Diagnostic{Address: long[:maxText], Summary: "no", Detail: ""}, maxTexts / (maxText + len("no"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s stream
			line, err := json.Marshal(map[string]any{"type": "diagnostic", "diagnostic": map[string]string{
				"severity": "error", "summary": tt.each.Summary, "detail": tt.each.Detail, "address": tt.each.Address}})
			if err != nil {
				t.Fatal(err)
			}
			s.line(line)
			for range maxDiagnostics {
				s.keep(tt.each)
			}
			whole, size := 0, 0
			for _, d := range s.diagnostics {
				size += len(d.Address) + len(d.Summary) + len(d.Detail)
				if d == tt.each {
					whole++
				} else if !strings.Contains(d.Summary+d.Detail, "(driftd omitted a text of ") && d.Address != "" {
					t.Fatalf("%s: %d bytes of %q were cut without a note", tt.reason, len(d.Detail), d.Summary)
				}
			}
			if most := maxTexts + maxDiagnostics*200; size > most || len(s.diagnostics) != maxDiagnostics {
				t.Errorf("%s: kept %d bytes of %d errors, want %d at most", tt.reason, size, len(s.diagnostics), most)
			}
			if whole != tt.of {
				t.Errorf("%s: kept %d errors as they are, want %d", tt.reason, whole, tt.of)
			}
		})
	}
}
