package literal

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// A Parser parses files and caches the results, because most files do not change between commits. When the
// cache exceeds its memory limit, the Parser returns errors for further files. It is not safe for
// concurrent use.
type Parser struct {
	parsed map[parsedKey]parsed
	// cost is what the results take, in bytes.
	cost    int
	modules map[[sha256.Size]byte]*module
}

type parsedKey struct {
	name string
	sum  [sha256.Size]byte
}

type parsed struct {
	file *hcl.File
	err  error
}

// The bounds of a Parser: the memory of parsed files in bytes, and cached modules.
const (
	maxParsed      = 384 << 20
	maxModulesKept = 500
)

// NewParser returns a Parser with an empty cache.
func NewParser() *Parser {
	return &Parser{parsed: map[parsedKey]parsed{}, modules: map[[sha256.Size]byte]*module{}}
}

// module returns the module of files in a folder.
func (p *Parser) module(dir string, texts []text) *module {
	h := sha256.New()
	fmt.Fprintf(h, "%q", dir)
	for _, t := range texts {
		fmt.Fprintf(h, "%q%x", t.name, t.sum)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	if known := p.modules[key]; known != nil {
		return known
	}
	if len(p.modules) >= maxModulesKept {
		clear(p.modules)
	}
	m := p.newModule(dir, texts)
	p.modules[key] = m
	return m
}

// parse parses a file in native syntax, or in JSON syntax if its name ends in .json.
func (p *Parser) parse(t text) (*hcl.File, error) {
	key := parsedKey{t.name, t.sum}
	if known, ok := p.parsed[key]; ok {
		return known.file, known.err
	}
	cost := syntax.Cost(t.name, t.content)
	if p.cost+cost > maxParsed {
		return nil, fmt.Errorf("parse %s: %w: the parsed files of all commits take more than %d MiB", t.name, errTooMuch, maxParsed>>20)
	}
	p.cost += cost
	file, err := parseText(t.name, t.content)
	p.parsed[key] = parsed{file, err}
	return file, err
}

// parseText parses a file. A for expression in JSON syntax is an error: the result of one is
// not bounded by the size of the file, and other expressions of JSON are not examined later.
func parseText(name string, text []byte) (*hcl.File, error) {
	file, err := syntax.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".json") {
		err = syntax.Templates(text, func(e hclsyntax.Expression) error {
			if loops(e) {
				return fmt.Errorf("parse %s: for expressions are not supported", name)
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}
