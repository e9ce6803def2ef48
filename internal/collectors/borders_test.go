package collectors_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestBorders checks that collectors import no other collector, only their own
// packages and those that all of them share.
func TestBorders(t *testing.T) {
	t.Parallel()
	const prefix = "github.com/driftd/driftd/internal/collectors/"
	checked := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		own, _, nested := strings.Cut(filepath.ToSlash(path), "/")
		if err != nil || !nested || own == "all" || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			below, ok := strings.CutPrefix(name, prefix)
			if other, _, _ := strings.Cut(below, "/"); ok && other != own && other != "table" && other != "pinned" {
				t.Errorf("%s imports %s: a collector imports no other collector", path, name)
			}
			checked++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("%d imports were checked", checked)
	}
}
