package policy

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxNested bounds the nesting of arguments that are read.
const maxNested = 20

// arguments records the arguments and blocks of a body, and all that are nested in them. Their
// names begin with prefix.
func (r *reading) arguments(prefix, shown string, body hcl.Body) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attributes, diags := body.JustAttributes()
		if diags.HasErrors() {
			// The CLI uses the provider's schema to read nested lists and repeated names. This
			// package does not have the schema.
			r.refuseToRead(fmt.Errorf("parse %s: %s", r.place(body.MissingItemRange()), diags[0].Summary))
		}
		for name, a := range attributes {
			r.named(prefix, shown, name, a.NameRange, a.Expr, 0)
		}
		return
	}
	for name, a := range native.Attributes {
		r.named(prefix, shown, name, a.NameRange, a.Expr, 0)
	}
	for _, b := range native.Blocks {
		name := b.Type
		if name == "dynamic" && len(b.Labels) == 1 {
			name = b.Labels[0]
		}
		r.argument(prefix, shown, name, b.TypeRange)
		if len(prefix)+len(name) < maxName {
			r.arguments(prefix+"."+name, shown, b.Body)
		}
		if name == "content" { // The content of a dynamic block is that of the block itself.
			r.arguments(prefix, shown, b.Body)
		}
	}
}

func (r *reading) argument(prefix, shown, name string, at hcl.Range) {
	r.block(prefix+"."+name, shown+": "+name, r.place(at))
}

// computed records an argument whose value may be an object with any names.
func (r *reading) computed(prefix, shown string, at hcl.Range) {
	r.block(prefix+".computed", shown+": "+prefix[strings.LastIndexByte(prefix, '.')+1:], r.place(at))
}

// named records an argument and the names in its value.
func (r *reading) named(prefix, shown, name string, at hcl.Range, value hcl.Expression, depth int) {
	r.argument(prefix, shown, name, at)
	if len(prefix)+len(name) >= maxName {
		return
	}
	r.objects(prefix+"."+name, shown, value, depth+1)
	if name == "dynamic" || name == "content" {
		// In JSON syntax, the label of a dynamic block is the name of the block, and its body is
		// the content.
		r.objects(prefix, shown, value, depth+1)
	}
}

// objects records the names in objects and lists. An expression that is not evaluated, or is nested
// too deeply, is recorded as computed.
func (r *reading) objects(prefix, shown string, e hcl.Expression, depth int) {
	if depth > maxNested {
		r.computed(prefix, shown, e.Range())
		return
	}
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		for _, item := range list {
			r.objects(prefix, shown, item, depth+1)
		}
		return
	}
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		if v, diags := e.Value(nil); diags.HasErrors() || !v.IsWhollyKnown() {
			r.computed(prefix, shown, e.Range())
		}
		return
	}
	for _, pair := range pairs {
		name, ok := keyText(pair.Key)
		if !ok {
			r.computed(prefix, shown, pair.Key.Range())
			continue
		}
		r.named(prefix, shown, name, pair.Key.Range(), pair.Value, depth)
	}
}
