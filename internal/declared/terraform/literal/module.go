package literal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// A module is the configuration in one folder.
type module struct {
	dir       string
	resources map[string]hcl.Body
	calls     map[string]hcl.Body
	variables map[string]hcl.Body
	locals    map[string]hcl.Expression
	moved     []hcl.Body
	// opaque is set if a file overrides others, or if Terraform and OpenTofu read
	// different files: everything in the module is then unknown.
	opaque bool
	// err is set when a file cannot be read or parsed.
	err error
}

// MaxFile is the maximum size of the files that are read, in bytes.
const MaxFile = 4 << 20

// The bounds of one root: module folders, entries of one folder, and bytes of its files.
const (
	maxModules = 500
	maxFiles   = 2000
	maxFolder  = 32 << 20
)

var errTooMuch = errors.New("too large to be evaluated")

// module returns the configuration in a folder.
func (r *Root) module(dir string) *module {
	if m := r.modules[dir]; m != nil {
		return m
	}
	m := &module{dir: dir}
	if len(r.modules) >= maxModules {
		m.err = fmt.Errorf("more than %d modules: %w", maxModules, errTooMuch)
	} else if texts, err := r.texts(dir); err != nil {
		m.err = err
	} else {
		m = r.parser.module(dir, texts)
	}
	r.modules[dir] = m
	return m
}

// A text is the content of a file.
type text struct {
	name    string
	content []byte
	sum     [sha256.Size]byte
}

// texts reads the configuration files of a folder, sorted by name. A folder that
// does not exist has none.
func (r *Root) texts(dir string) ([]text, error) {
	names, err := r.list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("%s: more than %d files: %w", dir, maxFiles, errTooMuch)
	}
	var texts []text
	left := maxFolder
	for _, name := range names {
		if !syntax.IsConfiguration(name) {
			continue
		}
		content, err := readFile(r.files, path.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path.Join(dir, name), err)
		}
		if left -= len(content); left < 0 {
			return nil, fmt.Errorf("%s: more than %d MiB of files: %w", dir, maxFolder>>20, errTooMuch)
		}
		texts = append(texts, text{path.Join(dir, name), content, sha256.Sum256(content)})
	}
	return texts, nil
}

// newModule parses the files of a folder.
func (p *Parser) newModule(dir string, texts []text) *module {
	m := &module{
		dir: dir, resources: map[string]hcl.Body{}, calls: map[string]hcl.Body{}, variables: map[string]hcl.Body{},
		locals: map[string]hcl.Expression{},
	}
	stems := map[string]bool{}
	for _, t := range texts {
		stem, suffix := syntax.SplitName(path.Base(t.name))
		m.opaque = m.opaque || syntax.IsOverride(t.name)
		// OpenTofu reads x.tofu instead of x.tf; Terraform does not.
		stem += strings.TrimPrefix(strings.TrimPrefix(suffix, ".tf"), ".tofu")
		m.opaque = m.opaque || stems[stem]
		stems[stem] = true
		if m.err = m.read(p, t); m.err != nil {
			break
		}
	}
	return m
}

// list returns the names in a folder, sorted.
func (r *Root) list(dir string) ([]string, error) {
	entries, err := fs.ReadDir(r.files, dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (m *module) read(p *Parser, t text) error {
	file, err := p.parse(t)
	if err != nil {
		return err
	}
	content, _, _ := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "module", LabelNames: []string{"name"}},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"}, {Type: "moved"},
	}})
	for _, block := range content.Blocks {
		m.add(block)
	}
	return nil
}

func (m *module) add(block *hcl.Block) {
	switch block.Type {
	case "resource":
		m.resources[block.Labels[0]+"."+block.Labels[1]] = block.Body
	case "module":
		m.calls[block.Labels[0]] = block.Body
	case "variable":
		m.variables[block.Labels[0]] = block.Body
	case "moved":
		m.moved = append(m.moved, block.Body)
	case "locals":
		for name, a := range attributesOf(block.Body) {
			m.locals[name] = a.Expr
		}
	}
}

func readFile(files fs.FS, name string) ([]byte, error) {
	text, err := bounded.ReadFile(files, name, MaxFile)
	if errors.Is(err, bounded.ErrTooLarge) {
		err = errTooMuch
	}
	return text, err
}
