package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/discipline"
)

// TestChecksTable compares the table of checks with the code: the same checks in the same order, with their severities and titles.
func TestChecksTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/check.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Checks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, c := range discipline.Checks() {
		want = append(want, "| `"+c.ID+"` | "+string(c.Severity)+" | "+c.Title+" |")
	}
	if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("docs/check.md has other checks. The code has:\n%s", strings.Join(want, "\n"))
	}
}
