package literal

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Former returns the addresses from which moved blocks move a resource to the given address. It reads the
// moved blocks of the root module and of the modules in the address.
func (r *Root) Former(address string) []string {
	a, err := parseAddress(address)
	if err != nil {
		return nil
	}
	former := formerBy(r.module(r.dir), "", address)
	dir, prefix := r.dir, ""
	for _, call := range a.calls {
		s, _, err := r.enter(newScope(r.module(dir), nil), call)
		if s == nil || err != nil {
			break
		}
		dir = s.module.dir
		next, rest, found := cutCall(address[len(prefix):])
		if !found {
			break
		}
		prefix += next
		former = append(former, formerBy(s.module, prefix, rest)...)
	}
	return former
}

// formerBy returns the addresses that the moved blocks of one module move to an
// address. The prefix is the address of the module, and rest the address within it.
func formerBy(m *module, prefix, rest string) []string {
	var former []string
	for _, body := range m.moved {
		attributes := attributesOf(body)
		from, to := addressOf(attributes["from"]), addressOf(attributes["to"])
		if from == "" || to == "" {
			continue
		}
		after, is := strings.CutPrefix(rest, to)
		if is && (after == "" || after[0] == '.' || after[0] == '[') {
			former = append(former, prefix+from+after)
		}
	}
	return former
}

// cutCall splits an address after its first module call.
func cutCall(address string) (call, rest string, found bool) {
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() || len(traversal) < 3 || traversal.RootName() != "module" {
		return "", "", false
	}
	next := 2
	if _, is := traversal[next].(hcl.TraverseIndex); is {
		next++
	}
	if next >= len(traversal) {
		return "", "", false
	}
	end := traversal[next].SourceRange().Start.Byte + 1 // after the dot
	return address[:end], address[end:], true
}

// addressOf returns the address in an attribute of a moved block; "" if it has none.
func addressOf(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	traversal, diags := hcl.AbsTraversalForExpr(a.Expr)
	if diags.HasErrors() {
		return ""
	}
	var b strings.Builder
	for _, t := range traversal {
		switch t := t.(type) {
		case hcl.TraverseRoot:
			b.WriteString(t.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + t.Name)
		case hcl.TraverseIndex:
			b.WriteString(keyText(t))
		}
	}
	return b.String()
}

// keyText writes an instance key as Terraform does.
func keyText(t hcl.TraverseIndex) string {
	if t.Key.Type() == cty.String {
		return "[" + strconv.Quote(t.Key.AsString()) + "]"
	}
	return "[" + t.Key.AsBigFloat().Text('f', -1) + "]"
}
