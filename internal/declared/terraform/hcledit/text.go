package hcledit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/literals"
)

// apply edits the text at a spot.
func (e *editor) apply(s spot, value *model.Value) ([]byte, error) {
	switch {
	case s.value == nil && value == nil:
		return nil, unsupported("the block does not set it")
	case s.value == nil:
		return e.insert(s, *value)
	case value == nil && s.argument == nil:
		return nil, unsupported("it is a part of a value")
	case value == nil:
		return e.remove(s.argument)
	}
	text, ok := expression(*value)
	r := s.value.Range()
	switch {
	case !ok:
		return nil, unsupported("its value cannot be written in Terraform's language")
	case bytes.ContainsRune(e.text[r.Start.Byte:r.End.Byte], '\n'):
		return nil, unsupported("it has several lines")
	}
	return e.splice(r.Start.Byte, r.End.Byte, text), nil
}

// splice replaces the bytes from start to end.
func (e *editor) splice(start, end int, text string) []byte {
	return slices.Concat(e.text[:start], []byte(text), e.text[end:])
}

// remove removes the line of an argument.
func (e *editor) remove(a *hclsyntax.Attribute) ([]byte, error) {
	start, end := e.lineStart(a.SrcRange.Start.Byte), e.lineEnd(a.SrcRange.End.Byte)
	if a.SrcRange.Start.Line != a.SrcRange.End.Line || len(bytes.TrimSpace(e.text[start:a.SrcRange.Start.Byte])) > 0 || !isRest(e.text[a.SrcRange.End.Byte:end]) {
		return nil, unsupported("it does not stand on a line of its own")
	}
	return e.splice(start, min(end+1, len(e.text)), ""), nil
}

// isRest reports whether the rest of a line is empty or a comment.
func isRest(text []byte) bool {
	rest := strings.TrimSpace(string(text))
	return rest == "" || strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "//")
}

func (e *editor) lineStart(at int) int { return bytes.LastIndexByte(e.text[:at], '\n') + 1 }

func (e *editor) lineEnd(at int) int {
	if n := bytes.IndexByte(e.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(e.text)
}

// insert adds an argument to the innermost block that exists. A nested block that does not exist is
// added if it is the first of its type, so that its position is known.
func (e *editor) insert(s spot, value model.Value) ([]byte, error) {
	text, ok := expression(value)
	if !ok {
		return nil, unsupported("its value cannot be written in Terraform's language")
	}
	brace := s.within.CloseBraceRange.Start.Byte
	start := e.lineStart(brace)
	outer := string(e.text[start:brace])
	if strings.TrimSpace(outer) != "" {
		return nil, unsupported("its block has only one line")
	}
	lines, err := nestedLines(s, text)
	if err != nil {
		return nil, err
	}
	end := "\n"
	if bytes.Contains(e.text, []byte("\r\n")) {
		end = "\r\n"
	}
	var added strings.Builder
	for _, line := range lines {
		added.WriteString(outer + "  " + line + end)
	}
	at := start
	if last := lastArgument(s.within.Body); len(lines) == 1 && last != nil {
		at = e.lineEnd(last.SrcRange.End.Byte-1) + 1
	}
	return e.splice(at, at, added.String()), nil
}

// lastArgument returns the last argument of a block; nil if it has none.
func lastArgument(body *hclsyntax.Body) *hclsyntax.Attribute {
	var last *hclsyntax.Attribute
	for _, a := range body.Attributes {
		if last == nil || last.SrcRange.Start.Byte < a.SrcRange.Start.Byte {
			last = a
		}
	}
	return last
}

// nestedLines returns the lines of an argument, in a block of its own if the rest of a path has
// one.
func nestedLines(s spot, text string) ([]string, error) {
	rest := s.rest
	argument := rest[len(rest)-1]
	first := len(rest) == 3 && rest[1].Kind == fieldpath.Index && rest[1].Index == 0
	has := func(name string) bool {
		return slices.ContainsFunc(s.within.Body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == name })
	}
	switch {
	case argument.Kind != fieldpath.Field || !hclsyntax.ValidIdentifier(argument.Name):
	case len(rest) == 1 && !has(argument.Name):
		return []string{argument.Name + " = " + text}, nil
	case first && hclsyntax.ValidIdentifier(rest[0].Name) && !has(rest[0].Name):
		return []string{rest[0].Name + " {", "  " + argument.Name + " = " + text, "}"}, nil
	}
	return nil, unsupported("the file does not have the block that contains it")
}

// expression returns a value in Terraform's language.
func expression(v model.Value) (text string, ok bool) {
	value, ok := ctyOf(v)
	if !ok {
		return "", false
	}
	return literals.Escape(string(hclwrite.TokensForValue(value).Bytes())), true
}

func ctyOf(v model.Value) (value cty.Value, ok bool) {
	switch v.Kind() {
	case model.Bool:
		return cty.BoolVal(v.Text() == "true"), true
	case model.Number:
		value, err := cty.ParseNumberVal(v.Text())
		return value, err == nil
	case model.String:
		return cty.StringVal(v.Text()), strings.ToValidUTF8(v.Text(), "") == v.Text()
	case model.List:
		items := make([]cty.Value, len(v.Items()))
		for i, item := range v.Items() {
			if items[i], ok = ctyOf(item); !ok {
				return value, false
			}
		}
		return cty.TupleVal(items), true
	case model.Map:
		fields := map[string]cty.Value{}
		for _, field := range v.Fields() {
			if fields[field.Name], ok = ctyOf(field.Value); !ok {
				return value, false
			}
		}
		return cty.ObjectVal(fields), true
	}
	return value, false
}

// literal returns the value of an expression that contains only literals.
func literal(e hclsyntax.Expression) (model.Value, bool) {
	if !isLiteral(e) {
		return model.Value{}, false
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || !v.IsWhollyKnown() {
		return model.Value{}, false
	}
	return valueOf(v)
}

// isLiteral reports whether an expression contains only literals.
func isLiteral(e hclsyntax.Expression) bool {
	only := true
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch t := n.(type) {
		case *hclsyntax.LiteralValueExpr, *hclsyntax.TemplateExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.ObjectConsKeyExpr:
		case *hclsyntax.UnaryOpExpr:
			only = only && t.Op == hclsyntax.OpNegate
		default:
			only = false
		}
		return nil
	})
	return only
}

func valueOf(v cty.Value) (model.Value, bool) {
	switch t := v.Type(); {
	case v.IsNull():
		return model.Value{}, true
	case t == cty.Bool:
		return model.BoolOf(v.True()), true
	case t == cty.Number:
		return model.NumberOf(v.AsBigFloat().Text('f', -1))
	case t == cty.String:
		return model.StringOf(v.AsString()), true
	case t.IsTupleType():
		var items []model.Value
		for _, item := range v.AsValueSlice() {
			below, ok := valueOf(item)
			if !ok {
				return below, false
			}
			items = append(items, below)
		}
		return model.ListOf(items...), true
	case t.IsObjectType():
		var fields []model.Field
		for name, item := range v.AsValueMap() {
			below, ok := valueOf(item)
			if !ok {
				return below, false
			}
			fields = append(fields, model.Field{Name: name, Value: below})
		}
		return model.MapOf(fields...), true
	}
	return model.Value{}, false
}
