package docs

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSamplesParse parses the other samples of pages: JSON and Go.
func TestSamplesParse(t *testing.T) {
	t.Parallel()
	for _, page := range readAll(t) {
		for _, b := range page.Blocks {
			switch b.Lang {
			case "json":
				if !json.Valid([]byte(b.Text)) {
					t.Errorf("%s:%d: it is no JSON", page.Name, b.Line)
				}
			case "go":
				whole := "package p\n" + b.Text
				if page.Name == "docs/writing-a-collector.md" {
					continue // TestCollector compiles it
				}
				if _, err := parser.ParseFile(token.NewFileSet(), page.Name, whole, 0); err != nil {
					t.Errorf("%s:%d: it is no Go: %v", page.Name, b.Line, err)
				}
			}
		}
	}
}

// TestLinksLead checks that links of a page to files of the repository have a file, and the
// heading that the link names.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range readAll(t) {
		for _, link := range page.Links {
			if strings.Contains(link.Text, ":") {
				continue // a link to another site
			}
			n++
			name, anchor, _ := strings.Cut(link.Text, "#")
			path := filepath.Join(root, filepath.Dir(page.Name), name)
			if name == "" {
				path = filepath.Join(root, page.Name)
			}
			text, err := os.ReadFile(path)
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				continue
			}
			switch {
			case err != nil:
				t.Errorf("%s:%d: the link %s leads nowhere", page.Name, link.Line, link.Text)
			case anchor != "" && !anchors(text)[anchor]:
				t.Errorf("%s:%d: the link %s names a heading that is not there", page.Name, link.Line, link.Text)
			}
		}
	}
	if n < 80 {
		t.Errorf("%d links were found: they are not looked for where they are", n)
	}
}

// anchors returns the names that GitHub gives the headings of a page.
func anchors(text []byte) map[string]bool {
	found := map[string]bool{}
	for _, heading := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllSubmatch(text, -1) {
		name := strings.ToLower(string(heading[1]))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}
