package hcledit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// generatedName is the name of generated configuration in errors.
const generatedName = "generated.tf"

// WithoutEmpty returns the resource blocks of generated configuration without comments, and without
// arguments and nested blocks that are null or empty. It returns an error if text cannot be parsed.
func WithoutEmpty(text []byte) ([]byte, error) {
	return rewrite(text, func(a *hclsyntax.Attribute) bool {
		v, ok := literal(a.Expr)
		return ok && (v.IsNull() || v.Kind() == model.List && len(v.Items()) == 0 || v.Kind() == model.Map && len(v.Fields()) == 0)
	}, func(*hclsyntax.Block) bool { return false })
}

// WithoutLines returns the resource blocks of generated configuration without the arguments that include
// one of the lines, and without the nested blocks that begin on one. It also removes nested blocks that
// become empty. If there is nothing to remove, WithoutLines returns an error.
func WithoutLines(text []byte, lines []int) ([]byte, error) {
	removed := false
	on := func(start, end int) bool {
		found := slices.ContainsFunc(lines, func(line int) bool { return start <= line && line <= end })
		removed = removed || found
		return found
	}
	edited, err := rewrite(text, func(a *hclsyntax.Attribute) bool { return on(a.SrcRange.Start.Line, a.SrcRange.End.Line) },
		func(b *hclsyntax.Block) bool { return on(b.TypeRange.Start.Line, b.TypeRange.Start.Line) })
	if err == nil && !removed {
		err = unsupported("the provider requires what it does not generate")
	}
	return edited, err
}

// rewrite writes resource blocks again, without the arguments and nested blocks that are dropped.
func rewrite(text []byte, argument func(*hclsyntax.Attribute) bool, block func(*hclsyntax.Block) bool) ([]byte, error) {
	file, err := syntax.Parse(generatedName, text)
	if err != nil {
		return nil, err
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok || len(body.Blocks) == 0 {
		return nil, unsupported("it has no resource block")
	}
	w := writer{text: text, argument: argument, block: block}
	for _, b := range body.Blocks {
		w.write(b, "")
	}
	return []byte(w.out.String()), nil
}

type writer struct {
	text     []byte
	argument func(*hclsyntax.Attribute) bool
	block    func(*hclsyntax.Block) bool
	out      strings.Builder
}

// write writes a block with its arguments in their order, followed by its nested blocks.
func (w *writer) write(b *hclsyntax.Block, indent string) {
	header := strings.TrimSpace(string(w.text[b.TypeRange.Start.Byte:b.OpenBraceRange.Start.Byte]))
	w.out.WriteString(indent + header + " {\n")
	arguments := w.kept(b.Body)
	width := 0
	for _, a := range arguments {
		width = max(width, len(a.Name))
	}
	for _, a := range arguments {
		value := w.text[a.Expr.Range().Start.Byte:a.Expr.Range().End.Byte]
		w.out.WriteString(indent + "  " + a.Name + strings.Repeat(" ", width-len(a.Name)) + " = " + string(value) + "\n")
	}
	for _, below := range b.Body.Blocks {
		if !w.block(below) && !w.isEmpty(below.Body) {
			w.write(below, indent+"  ")
		}
	}
	w.out.WriteString(indent + "}\n")
}

// kept returns the arguments that are not dropped, in their order.
func (w *writer) kept(body *hclsyntax.Body) []*hclsyntax.Attribute {
	var kept []*hclsyntax.Attribute
	for _, a := range body.Attributes {
		if !w.argument(a) {
			kept = append(kept, a)
		}
	}
	slices.SortFunc(kept, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte)
	})
	return kept
}

// isEmpty reports whether nothing of a nested block is kept.
func (w *writer) isEmpty(body *hclsyntax.Body) bool {
	return len(w.kept(body)) == 0 && !slices.ContainsFunc(body.Blocks, func(b *hclsyntax.Block) bool { return !w.block(b) && !w.isEmpty(b.Body) })
}
