package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one operator of a source file, replaced by another one.
type mutant struct {
	file string
	line int
	// change is the text of the line with the operator in «», and its replacement:
	// "return a «<» b -> <=".
	change string
}

func (m mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.change) }

// key returns the name of the mutant in equivalent.txt. It has no line number, because
// that changes with every edit above the line.
func (m mutant) key() string { return m.file + ": " + m.change }

// A pkg is the source of one package with all its mutants switched by number.
type pkg struct {
	name    string
	folder  string
	mutants []mutant
	// files maps absolute paths of source files to their rewritten text.
	files map[string][]byte
}

// load reads the package in a folder. Mutants are in the order of files and lines; the
// number of a mutant in the rewritten source is its index plus one.
func load(ctx context.Context, folder string) (*pkg, error) {
	names, exports, err := list(ctx, folder)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	var texts [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse source: %w", err)
		}
		parsed, texts = append(parsed, file), append(texts, text)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	checked, err := config.Check(folder, set, parsed, &info)
	if err != nil {
		return nil, fmt.Errorf("check types: %w", err)
	}
	p := &pkg{name: checked.Name(), folder: folder, files: map[string][]byte{}}
	for i, name := range names {
		r := rewriter{set: set, types: info.Types, file: filepath.ToSlash(filepath.Join(folder, filepath.Base(name))), text: texts[i], first: len(p.mutants)}
		ast.Inspect(parsed[i], r.visit)
		p.mutants = append(p.mutants, r.mutants...)
		p.files[name] = r.rewritten()
	}
	return p, nil
}

// list returns the absolute paths of the package's Go files, and the export data files
// of the packages that it depends on by import path.
func list(ctx context.Context, folder string) (files []string, exports map[string]string, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly", "./"+folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("list the files of %s: %w: %s", folder, err, bytes.TrimSpace(stderr.Bytes()))
	}
	exports = map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return files, exports, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("decode the output of go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			for _, name := range p.GoFiles {
				files = append(files, filepath.Join(p.Dir, name))
			}
		}
	}
}

// replacements are the operators that replace each operator. Each operator has one
// switch in runtime.go.txt, which must agree.
var replacements = map[token.Token][]token.Token{ //nolint:gochecknoglobals // a table
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
}

// switches are the functions of runtime.go.txt that replace an operator. The other
// operators give a truth value, which is negated.
var switches = map[token.Token]string{ //nolint:gochecknoglobals // a table
	token.LSS: "mutantLess", token.LEQ: "mutantLessEqual", token.GTR: "mutantGreater", token.GEQ: "mutantGreaterEqual",
	token.LAND: "mutantAnd", token.LOR: "mutantOr",
	token.ADD: "mutantAdd", token.SUB: "mutantSub", token.MUL: "mutantMul", token.QUO: "mutantQuo",
}

// A rewriter finds the mutants of one file, and rewrites it so that a number selects one
// of them. It only inserts text within lines, so line numbers stay.
type rewriter struct {
	set   *token.FileSet
	types map[ast.Expr]types.TypeAndValue
	file  string
	text  []byte
	// first is the number of mutants in earlier files.
	first   int
	mutants []mutant
	edits   []edit
}

// An edit replaces length bytes at an offset by text. Of the edits at one offset those
// with the lowest order come first.
type edit struct {
	offset, length, order int
	text                  string
}

func (r *rewriter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.IMPORT && n.Tok != token.CONST
	case *ast.ArrayType:
		return false
	case *ast.BinaryExpr:
		r.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			r.negate(n, n.OpPos, "!", "nothing")
		}
	case *ast.Ident:
		if v := r.types[n]; v.Value != nil && (n.Name == "true" || n.Name == "false") {
			r.negate(n, n.Pos(), n.Name, map[string]string{"true": "false", "false": "true"}[n.Name])
		}
	}
	return true
}

func (r *rewriter) binary(n *ast.BinaryExpr) {
	all := replacements[n.Op]
	of := r.types[n]
	if len(all) == 0 || of.Value != nil {
		return // constants have no operators at run time
	}
	call := switches[n.Op]
	if call == "" {
		r.negate(n, n.OpPos, n.Op.String(), all[0].String())
		return
	}
	if basic, ok := of.Type.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
		return // text has no other operator than +
	}
	number := r.add(n.OpPos, n.Op.String(), all[0].String())
	for _, other := range all[1:] {
		r.add(n.OpPos, n.Op.String(), other.String())
	}
	separator, end := ", ", ")"
	if n.Op == token.LAND || n.Op == token.LOR {
		separator, end = ", func() bool { return (", ") })"
	}
	r.wrap(n, fmt.Sprintf("%s(%d, ", call, number), end)
	r.edits = append(r.edits, edit{offset: r.set.Position(n.OpPos).Offset, length: len(n.Op.String()), text: separator})
}

// negate adds a mutant that gives the opposite truth value.
func (r *rewriter) negate(n ast.Expr, at token.Pos, old, replacement string) {
	r.wrap(n, "((", fmt.Sprintf(") != mutantIs(%d))", r.add(at, old, replacement)))
}

// add adds a mutant and returns its number.
func (r *rewriter) add(at token.Pos, old, replacement string) int {
	p := r.set.Position(at)
	line := string(bytes.Split(r.text, []byte("\n"))[p.Line-1])
	before, after := line[:p.Column-1], line[p.Column-1+len(old):]
	r.mutants = append(r.mutants, mutant{file: r.file, line: p.Line, change: strings.TrimSpace(before+"«"+old+"»"+after) + " -> " + replacement})
	return r.first + len(r.mutants)
}

// wrap inserts text before and after an expression. Outer expressions are wrapped first.
func (r *rewriter) wrap(n ast.Expr, before, after string) {
	depth := len(r.edits)
	r.edits = append(r.edits, edit{offset: r.set.Position(n.Pos()).Offset, order: depth, text: before},
		edit{offset: r.set.Position(n.End()).Offset, order: -depth - 1, text: after})
}

// rewritten returns the text of the file with all edits.
func (r *rewriter) rewritten() []byte {
	slices.SortStableFunc(r.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.order, b.order)) })
	var out []byte
	at := 0
	for _, e := range r.edits {
		out = append(append(out, r.text[at:e.offset]...), e.text...)
		at = e.offset + e.length
	}
	return append(out, r.text[at:]...)
}
