package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMan writes the manual pages. Their date is that of SOURCE_DATE_EPOCH.
func TestMan(t *testing.T) {
	example := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(example, []byte("# it's a \\ \"quoted\" ~/x ^y\n.dot: 1\n'tick: `2`\nplain-key: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(dir string) (errs string, code int) {
		var out, said bytes.Buffer
		code = Run(t.Context(), Build{Version: "1.2.3"}, []string{"man", dir, example}, Streams{Out: &out, Err: &said})
		return said.String(), code
	}

	t.Setenv("SOURCE_DATE_EPOCH", "1795000000")
	dir := t.TempDir()
	if errs, code := run(dir); code != exitInSync {
		t.Fatalf("driftd man: exit code %d: %s", code, errs)
	}
	tests := map[string]struct{ reason, want string }{
		"driftd.1":              {"the program has a page with the commit's date and the version", `.TH "DRIFTD" "1" "Nov 2026" "driftd 1.2.3" "driftd"`},
		"driftd-scan.1":         {"so has each command", "driftd scan [PATH…] [flags]"},
		"driftd-config-check.1": {"and each below it", "driftd config check"},
		"driftd.yaml.5":         {"the example is escaped", "# it\\(aqs a \\e \\(dqquoted\\(dq \\(ti/x \\(hay\n\\&.dot: 1\n\\(aqtick: \\(ga2\\(ga\nplain\\-key: 3\n"},
	}
	for name, tt := range tests {
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(page), tt.want) {
			t.Errorf("%s: %s: %v: want %q in:\n%s", tt.reason, name, err, tt.want, page)
		}
	}
	hidden, err := filepath.Glob(filepath.Join(dir, "*shoutrrr*"))
	if err != nil || len(hidden) > 0 {
		t.Errorf("what nobody calls by hand has pages: %v, %v", hidden, err)
	}

	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if errs, code := run(t.TempDir()); code != exitError || !strings.Contains(errs, "SOURCE_DATE_EPOCH") {
		t.Errorf("driftd man without a date: exit code %d: %s", code, errs)
	}
}
