package literal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// A Parser parses files. It caches its results, because most files are the same at
// most commits. It is not safe for concurrent use.
type Parser struct {
	parsed  map[parsedKey]parsed
	bytes   int
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

// The bounds of a Parser's cache: the bytes of parsed files, and modules.
const (
	maxParsed      = 32 << 20
	maxModulesKept = 500
)

// NewParser returns a Parser.
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
	file, err := parseText(t.name, t.content)
	if p.bytes += len(t.content); p.bytes > maxParsed {
		clear(p.parsed)
		p.bytes = len(t.content)
	}
	p.parsed[key] = parsed{file, err}
	return file, err
}

func parseText(name string, text []byte) (*hcl.File, error) {
	parse := hcljson.Parse
	if strings.HasSuffix(name, ".json") {
		if err := checkJSON(text); err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
	} else {
		if tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos); tooDeep(tokens) {
			return nil, fmt.Errorf("parse %s: nested too deeply", name)
		}
		parse = parseNative
	}
	file, diags := parse(text, name)
	if diags.HasErrors() {
		// The detail of a diagnostic may quote a value; its summary does not.
		d := diags.Errs()[0].(*hcl.Diagnostic) //nolint:forcetypeassert,errorlint // Errs holds nothing else
		line := 0
		if d.Subject != nil {
			line = d.Subject.Start.Line
		}
		return nil, fmt.Errorf("parse %s:%d: %s", name, line, d.Summary)
	}
	return file, nil
}

func parseNative(text []byte, name string) (*hcl.File, hcl.Diagnostics) {
	return hclsyntax.ParseConfig(text, name, hcl.InitialPos)
}

// The parser and the evaluator of HCL recurse for each bracket and operator. Go cannot
// recover from a stack overflow, so files that exceed these bounds are rejected.
const (
	maxDepth = 100
	maxChain = 200
)

// A bracket is an open bracket and the number of operators in a row before it.
type bracket struct {
	typ   hclsyntax.TokenType
	chain int
}

// tooDeep reports whether brackets are nested too deeply, an expression has too
// many operators in a row, or a number has too many digits.
func tooDeep(tokens hclsyntax.Tokens) bool {
	var n nesting
	for i := range tokens {
		if tokens[i].Type == hclsyntax.TokenNumberLit && isHuge(string(tokens[i].Bytes)) {
			return true
		}
		n.take(tokens[i].Type)
		if len(n.open) > maxDepth || n.chain > maxChain {
			return true
		}
	}
	return false
}

// nesting is the position of a token in an expression.
type nesting struct {
	open []bracket
	// chain is the number of operators in a row.
	chain int
}

// take advances by one token.
func (n *nesting) take(t hclsyntax.TokenType) {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		if t == hclsyntax.TokenOBrack || t == hclsyntax.TokenTemplateControl {
			n.chain++
		}
		n.open, n.chain = append(n.open, bracket{t, n.chain}), 0
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		if last := len(n.open) - 1; last >= 0 {
			n.open, n.chain = n.open[:last], n.open[last].chain
		}
	case hclsyntax.TokenComma:
		n.chain = 0
	case hclsyntax.TokenNewline:
		if len(n.open) == 0 || n.open[len(n.open)-1].typ == hclsyntax.TokenOBrace {
			n.chain = 0
		}
	case hclsyntax.TokenNumberLit, hclsyntax.TokenIdent, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit,
		hclsyntax.TokenComment, hclsyntax.TokenEqual, hclsyntax.TokenEOF:
	default: // Operators.
		n.chain++
	}
}

// isHuge reports whether a number written in decimal has a large exponent.
func isHuge(number string) bool {
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return false
	}
	exponent, err := strconv.Atoi(number[i+1:])
	return err != nil || exponent > maxExponent || exponent < -maxExponent
}

// maxExponent bounds the decimal exponent of a number.
const maxExponent = 400

// checkJSON returns an error for JSON that is nested too deeply or has templates that
// are, and for templates with a for expression, whose result is not bounded by the
// size of the file.
func checkJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		// Its position is in the error of the HCL parser; here no value may be shown.
		return fmt.Errorf("not JSON")
	}
	return checkNode(tree, 0)
}

func checkNode(node any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested too deeply")
	}
	switch t := node.(type) {
	case string:
		return checkTemplate(t)
	case json.Number:
		if isHuge(t.String()) {
			return fmt.Errorf("a number is too large")
		}
	case []any:
		for _, below := range t {
			if err := checkNode(below, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, below := range t {
			if err := checkTemplate(name); err != nil {
				return err
			}
			if err := checkNode(below, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkTemplate(text string) error {
	if !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
		return nil
	}
	tokens, _ := hclsyntax.LexTemplate([]byte(text), "", hcl.InitialPos)
	if tooDeep(tokens) {
		return fmt.Errorf("nested too deeply")
	}
	e, diags := hclsyntax.ParseTemplate([]byte(text), "", hcl.InitialPos)
	if !diags.HasErrors() && loops(e) {
		return fmt.Errorf("a for expression")
	}
	return nil
}
