package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// readsFile reports whether a function reads the file, or lists the folder, in its first argument.
func readsFile(function string) bool {
	switch strings.TrimPrefix(function, "core::") {
	case "file", "filebase64", "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "fileset", "filesha1",
		"filesha256", "filesha512", "templatefile":
		return true
	}
	return false
}

// functions records the calls in a file that may read a file outside of the repository.
func (r *reading) functions(body hcl.Body, text []byte) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		// Parse has already checked the templates.
		_ = syntax.Templates(text, func(e hclsyntax.Expression) error {
			r.visit(e, r.name, nil)
			return nil
		})
		return
	}
	r.visit(native, "", nil)
}

// visit records the calls below a node. In JSON syntax and in templates, place replaces the
// position. templates are the template files that contain the node, outermost first.
func (r *reading) visit(node hclsyntax.Node, place string, templates []string) {
	// VisitAll returns only the errors of the visitor, which returns none.
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			at := place
			if at == "" {
				at = r.place(call.Range())
			}
			r.function(call, at, templates)
		}
		return nil
	})
}

func (r *reading) function(call *hclsyntax.FunctionCallExpr, place string, templates []string) {
	name := strings.TrimPrefix(call.Name, "core::")
	if name == "templatestring" {
		// The template is a value that is not known here.
		r.block("file.computed", "templatestring(…)", place)
		return
	}
	if !readsFile(name) || len(call.Args) == 0 {
		return
	}
	path, shown, ok := r.path(call.Args[0])
	if !ok {
		r.block("file.computed", name+"(…)", place)
		return
	}
	shown = fmt.Sprintf("%s(%s)", name, shown)
	if path == "" || !r.inside(r.module, path) || name == "fileset" && len(call.Args) > 1 && leadsUp(call.Args[1]) {
		r.block("file.outside", shown, place)
		return
	}
	if name == "templatefile" {
		r.template(path, shown, place, templates)
	}
}

// leadsUp reports whether the pattern of a fileset call is a constant with "..".
func leadsUp(e hclsyntax.Expression) bool {
	text, ok := constantText(e)
	return ok && strings.Contains(text, "..")
}

// template reads the functions of a file that templatefile reads.
func (r *reading) template(path, shown, place string, templates []string) {
	for _, t := range templates {
		if t == path {
			return
		}
	}
	text, err := folder.ReadBounded(path, maxFile)
	if os.IsNotExist(err) {
		return // The CLI reports the error.
	}
	var e hclsyntax.Expression
	if err == nil {
		e, err = syntax.ParseTemplate(string(text))
	}
	if err != nil {
		r.block("file.computed", shown, place)
		return
	}
	r.visit(e, place, append(templates, path))
}

// path returns a path that is constant except for path.module, path.root and path.cwd, and its form
// for messages. The path is "" if it is absolute or begins with a home folder.
func (r *reading) path(e hclsyntax.Expression) (path, shown string, ok bool) {
	text, from, follows := "", r.Dir, false
	for i, part := range parts(e) {
		switch t := part.(type) {
		case *hclsyntax.LiteralValueExpr:
			if t.Val.IsNull() || t.Val.Type() != cty.String {
				return "", "", false
			}
			if follows && !strings.HasPrefix(t.Val.AsString(), "/") {
				return "", "", false // The folder name continues.
			}
			text, follows = text+t.Val.AsString(), false
		case *hclsyntax.ScopeTraversalExpr:
			dir, ok := r.folder(t.Traversal)
			if !ok || i > 0 {
				return "", "", false
			}
			text, from, follows = ".", dir, true
		default:
			return "", "", false
		}
	}
	if strings.HasPrefix(text, "~") || filepath.IsAbs(text) {
		return "", shownPath(text), true
	}
	path = filepath.Join(from, text)
	return path, shownPath(relative(r.Dir, path)), true
}

// shownPath returns a path in the form for messages.
func shownPath(path string) string {
	const most = 120
	if len(path) > most {
		path = path[:most] + "…"
	}
	return fmt.Sprintf("%q", path)
}

// parts returns the parts of a template. For another expression, it returns the expression.
func parts(e hclsyntax.Expression) []hclsyntax.Expression {
	switch t := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return parts(t.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return parts(t.Wrapped)
	case *hclsyntax.TemplateExpr:
		var all []hclsyntax.Expression
		for _, part := range t.Parts {
			all = append(all, parts(part)...)
		}
		return all
	}
	return []hclsyntax.Expression{e}
}

// folder returns the folder of path.module, path.root or path.cwd.
func (r *reading) folder(t hcl.Traversal) (string, bool) {
	if len(t) != 2 || t.RootName() != "path" {
		return "", false
	}
	name, ok := t[1].(hcl.TraverseAttr)
	switch {
	case !ok:
		return "", false
	case name.Name == "module":
		return r.dir, true
	}
	return r.Dir, name.Name == "root" || name.Name == "cwd"
}

// inside reports whether a path in a module is in the copy of the repository, or in the module's
// fetched package. The copy has no links.
func (s *scan) inside(m *module, path string) bool {
	path = filepath.Clean(path)
	if m.pack != "" && holds(m.pack, path) {
		top, topErr := filepath.EvalSymlinks(m.pack)
		target, err := filepath.EvalSymlinks(path)
		return os.IsNotExist(err) || topErr == nil && err == nil && holds(top, target)
	}
	return holds(s.Top, path)
}

// holds reports whether path is dir or below it.
func holds(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
