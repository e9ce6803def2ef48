package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// module is the import path of the repository.
const module = "github.com/driftd/driftd"

// A described struct is the comments of its declaration.
type described struct {
	text   string
	fields map[string]string
}

// comments reads the comments on types from the source code.
type comments struct {
	root string
	// read are the structs of the packages read so far, by package and name.
	read map[string]map[string]described
}

// of returns the comments on a struct type of this repository.
func (c *comments) of(t reflect.Type) (described, error) {
	path := t.PkgPath()
	if c.read[path] == nil {
		found, err := readPackage(filepath.Join(c.root, strings.TrimPrefix(path, module)))
		if err != nil {
			return described{}, fmt.Errorf("read the comments of %s: %w", path, err)
		}
		c.read[path] = found
	}
	d, ok := c.read[path][t.Name()]
	if !ok {
		return d, fmt.Errorf("find %s in %s: struct not found", t.Name(), path)
	}
	return d, nil
}

// readPackage reads the structs of a folder, without its tests.
func readPackage(dir string) (map[string]described, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	found := map[string]described{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := readFile(found, file, text); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no structs found: run docgen in the top folder of the repository")
	}
	return found, nil
}

func readFile(found map[string]described, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range general.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if body, ok := spec.Type.(*ast.StructType); ok {
				found[spec.Name.Name] = describe(general, spec, body)
			}
		}
	}
	return nil
}

func describe(general *ast.GenDecl, spec *ast.TypeSpec, body *ast.StructType) described {
	d := described{text: spec.Doc.Text(), fields: map[string]string{}}
	if d.text == "" {
		d.text = general.Doc.Text()
	}
	for _, field := range body.Fields.List {
		// The comment over several names describes the first: each needs its own.
		for i, name := range field.Names {
			if i == 0 {
				d.fields[name.Name] = field.Doc.Text()
			}
		}
		if len(field.Names) == 0 {
			d.fields[embeddedName(field.Type)] = field.Doc.Text()
		}
	}
	return d
}

// embeddedName returns the name of an embedded field, which is that of its type.
func embeddedName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
