package syntax

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Ignored contains the attributes that the lifecycle block of a resource excludes from plans.
type Ignored struct {
	// All reports whether all attributes are ignored.
	All bool
	// Paths are the paths of attributes: "tags", or "disk", "0", "size".
	Paths [][]string
}

// Covers reports whether the attribute at a path is ignored.
func (i Ignored) Covers(path []string) bool {
	return i.All || slices.ContainsFunc(i.Paths, func(p []string) bool {
		return len(p) <= len(path) && slices.Equal(p, path[:len(p)])
	})
}

// IgnoredBy returns the ignore_changes in the block of a resource; ok is false if it has none.
func IgnoredBy(body hcl.Body) (ignored Ignored, ok bool) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}}})
	for _, block := range content.Blocks {
		lifecycle, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "ignore_changes"}}})
		if a := lifecycle.Attributes["ignore_changes"]; a != nil {
			ignored, ok = ignoredOf(a.Expr), true
		}
	}
	return ignored, ok
}

// ignoredOf reads "all", or a list of attributes.
func ignoredOf(e hcl.Expression) Ignored {
	if hcl.ExprAsKeyword(e) == "all" {
		return Ignored{All: true}
	}
	var ignored Ignored
	list, _ := hcl.ExprList(e)
	for _, item := range list {
		// The old form ["*"], and the quoted names in JSON.
		if v, diags := item.Value(nil); !diags.HasErrors() && v.RawEquals(cty.StringVal("*")) {
			return Ignored{All: true}
		}
		traversal, diags := hcl.RelTraversalForExpr(item)
		if diags.HasErrors() {
			traversal, _ = hcl.AbsTraversalForExpr(item)
		}
		if path := steps(traversal); len(path) > 0 {
			ignored.Paths = append(ignored.Paths, path)
		}
	}
	return ignored
}

func steps(traversal hcl.Traversal) []string {
	path := make([]string, 0, len(traversal))
	for _, step := range traversal {
		switch t := step.(type) {
		case hcl.TraverseRoot:
			path = append(path, t.Name)
		case hcl.TraverseAttr:
			path = append(path, t.Name)
		case hcl.TraverseIndex:
			if t.Key.Type() == cty.String {
				path = append(path, t.Key.AsString())
			} else {
				path = append(path, t.Key.AsBigFloat().Text('f', -1))
			}
		}
	}
	return path
}
