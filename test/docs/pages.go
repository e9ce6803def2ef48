// Package docs tests the documentation. A test runs every command of README.md, CONTRIBUTING.md
// and docs/*.md in a prepared place, or checks it in another way for a stated reason, and
// checks every configuration on these pages with driftd.
package docs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// A Page is a file of the documentation.
type Page struct {
	// Name is the file's path in the repository.
	Name   string
	Blocks []Block
	// Spans are the inline pieces of code, in order.
	Spans []Span
	// Links are the targets of links, in order.
	Links []Span
}

// A Block is a fenced piece of code.
type Block struct {
	Lang, Text string
	// Line is the line of the file where the text begins.
	Line int
}

// A Span is a piece of a line of the file.
type Span struct {
	Text string
	Line int
}

// ReadPages reads the documentation below the top folder of the repository, without the
// decisions, which describe the past.
func ReadPages(root string) ([]Page, error) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	names = append(names, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	pages := make([]Page, 0, len(names))
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read page: %w", err)
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return nil, fmt.Errorf("name page: %w", err)
		}
		pages = append(pages, parse(filepath.ToSlash(short), source))
	}
	return pages, nil
}

func parse(name string, source []byte) Page {
	page := Page{Name: name}
	document := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	walk(document, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			page.Blocks = append(page.Blocks, block(n, source))
		case *ast.CodeSpan:
			page.Spans = append(page.Spans, span(n, source))
		case *ast.Link:
			page.Links = append(page.Links, Span{Text: string(n.Destination), Line: lineOf(n, source)})
		}
	})
	return page
}

func walk(n ast.Node, visit func(ast.Node)) {
	visit(n)
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		walk(child, visit)
	}
}

func block(n *ast.FencedCodeBlock, source []byte) Block {
	b := Block{Lang: string(n.Language(source))}
	var lines strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		if i == 0 {
			b.Line = lineAt(source, line.Start)
		}
		lines.Write(line.Value(source))
	}
	b.Text = lines.String()
	return b
}

func span(n *ast.CodeSpan, source []byte) Span {
	var s Span
	var parts strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			if s.Line == 0 {
				s.Line = lineAt(source, t.Segment.Start)
			}
			parts.Write(t.Segment.Value(source))
		}
	}
	s.Text = strings.Join(strings.Fields(parts.String()), " ")
	return s
}

// lineOf returns the line of the first text in a node.
func lineOf(n ast.Node, source []byte) int {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			return lineAt(source, t.Segment.Start)
		}
	}
	return 0
}

func lineAt(source []byte, offset int) int { return 1 + bytes.Count(source[:offset], []byte("\n")) }
