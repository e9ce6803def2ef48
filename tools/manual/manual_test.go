package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMan writes the manual pages. Their date is that of SOURCE_DATE_EPOCH.
func TestMan(t *testing.T) {
	t.Parallel()
	example := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(example, []byte("# it's a \\ \"quoted\" ~/x ^y\n.dot: 1\n'tick: `2`\nplain-key: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := write("1.2.3", dir, example, "1795000000"); err != nil {
		t.Fatal(err)
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
		t.Errorf("hidden commands have pages: %v, %v", hidden, err)
	}

	if err := write("1.2.3", t.TempDir(), example, "yesterday"); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("without a date: got %v, want an error that names the variable", err)
	}
}
