package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is a source file with one small mistake.
type mutant struct {
	file string
	line int
	// offset is where old stands in the file's text, and new takes its place.
	offset   int
	old, new string
	// source is the line, without spaces around it.
	source string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s -> %s", m.file, m.line, m.source, m.old, m.new)
}

// key names the mutant as equivalent.txt does: without the line's number, which
// changes with every edit above it.
func (m mutant) key() string {
	return fmt.Sprintf("%s: %s: %s -> %s", m.file, m.source, m.old, m.new)
}

// swaps returns what each operator is mistaken for.
func swaps(op token.Token) []token.Token {
	return map[token.Token][]token.Token{
		token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
		token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR},
		token.LAND: {token.LOR}, token.LOR: {token.LAND},
		token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	}[op]
}

// mutants returns the mutants of a package, in the order of its files.
func mutants(folder string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", folder, err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no Go files: name the folder of a package", folder)
	}
	var all []mutant
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		found, err := mutantsOf(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// mutantsOf returns the mutants of one file.
func mutantsOf(name string, text []byte) ([]mutant, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse source: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	var all []mutant
	add := func(at token.Pos, old, replacement string) {
		p := set.Position(at)
		all = append(all, mutant{file: filepath.ToSlash(name), line: p.Line, offset: p.Offset, old: old, new: replacement,
			source: strings.TrimSpace(lines[p.Line-1])})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			for _, op := range swaps(n.Op) {
				add(n.OpPos, n.Op.String(), op.String())
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				add(n.OpPos, "!", "")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n.Pos(), n.Name, map[string]string{"true": "false", "false": "true"}[n.Name])
			}
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		}
		return true
	})
	return all, nil
}

// sample returns n mutants, chosen by what they are: the same ones at every run,
// and others only where the code changed. 0 returns all.
func sample(all []mutant, n int) []mutant {
	if n <= 0 || n >= len(all) {
		return all
	}
	rank := func(m mutant) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(m.key()))
		return h.Sum64()
	}
	chosen := slices.Clone(all)
	slices.SortStableFunc(chosen, func(a, b mutant) int { return cmp.Compare(rank(a), rank(b)) })
	return chosen[:n]
}
