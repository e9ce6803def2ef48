// Package workcopy scans the files of a Terraform root before a CLI runs on it, and makes private
// copies of roots.
package workcopy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// maxFile bounds a parsed file, in bytes. Real configuration files are far smaller.
const maxFile = 8 << 20

// A Module contains the scanned configuration of one folder. It omits files that cannot be parsed, for
// which the CLI reports an error.
type Module struct {
	// Dir is the path of the folder.
	Dir string
	// Backend is the type of the backend ("s3", "cloud"), or "" if there is none. BackendSets maps the
	// attributes of its block to their constant strings, or to "" if the value is not a constant string.
	Backend     string
	BackendSets map[string]string
	// Required are the version constraints for the CLI.
	Required []string
	// Ignored maps resources ("lab_server.web") to their ignore_changes.
	Ignored map[string]syntax.Ignored
	// Blocks maps resources ("lab_server.web") to their blocks.
	Blocks map[string]Blocks
	// Arguments are the arguments that call an impure function, or that refer to values which may depend on
	// one.
	Arguments []Argument
	// Reads reports whether a plan reads data that is neither in the files nor in the state: a data source,
	// the time of the plan, or the result of a provider's function. It is set if a file is in JSON syntax,
	// in which functions are not found.
	Reads bool
	// JSON reports whether a file is in JSON syntax. The arguments in such a file are not in Arguments.
	JSON bool
	// Unread is the error of a file that was skipped although the CLI may read it, because it is too large
	// or nested too deeply for driftd.
	Unread error
	// Outside are the paths in the files that contain "..", as written, up to the first part that is not
	// constant.
	Outside []string
}

// Blocks describes the blocks of a resource.
type Blocks struct {
	// Names are the types of the top-level blocks.
	Names []string
	// Dynamic are the paths of the dynamic blocks: "rule", or "rule", "filter". In JSON syntax, Dynamic
	// contains all arguments, because each may be such a block.
	Dynamic [][]string
}

// Scan reads the configuration files of a folder. It reports errors in Module.Unread.
func Scan(dir string) Module {
	m := Module{Dir: dir, Ignored: map[string]syntax.Ignored{}, Blocks: map[string]Blocks{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m
	}
	for _, e := range entries {
		file, err := parse(filepath.Join(dir, e.Name()))
		if file != nil {
			m.read(file)
		}
		m.Unread = cmp.Or(m.Unread, err)
	}
	slices.Sort(m.Outside)
	m.Outside = slices.Compact(m.Outside)
	return m
}

// IsRoot reports whether a folder directly contains configuration files. It returns false if the folder
// cannot be read.
func IsRoot(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return syntax.IsConfiguration(e.Name())
	})
}

// parse parses a file of Terraform, OpenTofu or Terragrunt, as far as it is valid. It returns an
// error for a file that is too large or nested too deeply. The CLI reports all other errors.
func parse(path string) (*hcl.File, error) {
	name := filepath.Base(path)
	isRead := syntax.IsConfiguration(name)
	isTerragrunt := strings.HasSuffix(name, ".hcl") && !strings.HasPrefix(name, ".")
	if !isRead && !isTerragrunt {
		return nil, nil
	}
	text, err := folder.ReadBounded(path, maxFile)
	if errors.Is(err, folder.ErrTooLarge) {
		err = fmt.Errorf("read %s: more than %d MiB: split the file", name, maxFile>>20)
		return nil, onlyIf(isRead, err)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // The CLI reports it.
	}
	file, err := syntax.Parse(name, text)
	if syntax.IsBound(err) {
		return nil, onlyIf(isRead, fmt.Errorf("%w: split the file", err))
	}
	return file, nil
}

// onlyIf returns the error if the condition holds.
func onlyIf(holds bool, err error) error {
	if holds {
		return err
	}
	return nil
}

func (m *Module) read(file *hcl.File) {
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		// VisitAll returns only the errors of the visitor, which returns none.
		_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
			m.noteOutside(n)
			return nil
		})
		m.readImpure(body)
	} else {
		m.noteJSON(file.Bytes)
		m.Reads, m.JSON = true, true
	}
	content, _, _ := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"}, {Type: "resource", LabelNames: []string{"type", "name"}}}})
	for _, block := range content.Blocks {
		if block.Type == "terraform" {
			m.readSettings(block.Body)
		} else {
			m.readResource(block.Labels[0]+"."+block.Labels[1], block.Body)
		}
	}
}

func (m *Module) readSettings(body hcl.Body) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "required_version"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"}}})
	if a := content.Attributes["required_version"]; a != nil {
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() && isText(v) {
			m.Required = append(m.Required, v.AsString())
		}
	}
	for _, block := range content.Blocks {
		m.Backend, m.BackendSets = block.Type, constants(block.Body)
		if len(block.Labels) > 0 {
			m.Backend = block.Labels[0]
		}
	}
}

// constants returns the attributes of a body with their constant strings; "" means that a value is
// not a constant string.
func constants(body hcl.Body) map[string]string {
	attributes, _ := body.JustAttributes()
	texts := make(map[string]string, len(attributes))
	for name, a := range attributes {
		texts[name] = ""
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() && isText(v) {
			texts[name] = v.AsString()
		}
	}
	return texts
}

// Constants returns the attributes in a file that completes a backend block, in the form of
// Module.BackendSets. It returns nil if the file cannot be read or parsed, because init reports the error.
func Constants(path string) map[string]string {
	text, err := folder.ReadBounded(path, maxFile)
	if err != nil {
		return nil
	}
	file, err := syntax.Parse(filepath.Base(path), text)
	if err != nil {
		return nil
	}
	return constants(file.Body)
}

func isText(v cty.Value) bool {
	return v.IsWhollyKnown() && !v.IsNull() && v.Type() == cty.String
}

func (m *Module) readResource(name string, body hcl.Body) {
	blocks := m.Blocks[name] // an override file adds to it
	blocks.read(body)
	m.Blocks[name] = blocks
	if ignored, ok := syntax.IgnoredBy(body); ok {
		m.Ignored[name] = ignored
	}
}

// noteOutside records the strings that may be paths out of the folder: module sources, and files.
// Such a path begins with "..", or is a template such as "${path.module}/../x".
func (m *Module) noteOutside(n hclsyntax.Node) {
	template, ok := n.(*hclsyntax.TemplateExpr)
	if !ok {
		return
	}
	text := ""
	for i, part := range template.Parts {
		literal, isLiteral := part.(*hclsyntax.LiteralValueExpr)
		switch {
		case isLiteral && isText(literal.Val):
			text += literal.Val.AsString()
		case i == 0 && isFolder(part):
			text = "."
		default:
			// The part after the last slash is the beginning of a name.
			m.note(text[:strings.LastIndex(text, "/")+1])
			return
		}
	}
	m.note(text)
}

// isFolder reports whether an expression is path.module, path.root or path.cwd.
func isFolder(e hclsyntax.Expression) bool {
	traversal, ok := e.(*hclsyntax.ScopeTraversalExpr)
	return ok && traversal.Traversal.RootName() == "path"
}

// note records a path with "..", without its query.
func (m *Module) note(text string) {
	text, _, _ = strings.Cut(text, "?")
	if strings.HasPrefix(text, "../") || strings.HasPrefix(text, "./../") || text == ".." {
		m.Outside = append(m.Outside, filepath.Clean(text))
	}
}

// noteJSON records the strings of a JSON file that are paths with "..".
func (m *Module) noteJSON(text []byte) {
	for part := range strings.SplitSeq(string(text), `"`) {
		m.note(strings.ReplaceAll(part, "${path.module}", "."))
	}
}
