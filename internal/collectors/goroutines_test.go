package collectors_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoroutines checks that a panic in a goroutine of a collector or a loader ends its
// scan and not driftd: goroutines are started by package conc, or catch panics themselves.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	for _, root := range []string{".", filepath.Join("..", "declared")} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && n.Sel.Name == "WaitGroup" {
						t.Errorf("%s: use conc.WaitGroup", fset.Position(n.Pos()))
					}
				case *ast.GoStmt:
					if !catches(n) {
						t.Errorf("%s: catch panics", fset.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// catches reports whether the statement contains a call of a method Try.
func catches(s *ast.GoStmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Try" {
			found = true
		}
		return true
	})
	return found
}
