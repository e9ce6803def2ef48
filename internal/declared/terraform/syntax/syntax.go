// Package syntax parses files of Terraform, OpenTofu and Terragrunt. It treats them as untrusted, because
// everyone with push access to a repository can change them. The parser and the evaluator of HCL recurse
// for each bracket and operator, and Go cannot recover from a stack overflow. Therefore the package returns
// an error for a file that is nested too deeply.
package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// The bounds of a file: nested brackets, operators in a row, and the decimal exponent of
// a number.
const (
	maxDepth    = 100
	maxChain    = 200
	maxExponent = 400
)

// maxTokens bounds what is parsed at once: a parsed token takes about 400 bytes, so this
// is 200 MiB. Native syntax of 3 MiB and JSON syntax of 5 MiB have as many.
const maxTokens = 500_000

var (
	errDepth = errors.New("nested too deeply")
	errSize  = errors.New("too large")
)

// IsBound reports whether err means that a text, which may be valid, was not parsed because it is nested
// too deeply or would take too much memory.
func IsBound(err error) bool { return errors.Is(err, errDepth) || errors.Is(err, errSize) }

// Cost returns an estimate of the maximum memory that the result of parsing a text takes, in bytes. The
// name of the file selects the syntax, as for Parse.
func Cost(name string, text []byte) int { return 2*len(text) + costOfToken*tokens(name, text) }

// costOfToken was measured.
const costOfToken = 420

// tokens returns how many tokens a text has at most, without parsing it.
func tokens(name string, text []byte) int {
	if strings.HasSuffix(name, ".json") {
		return tokensJSON(text)
	}
	n, inWord := 0, false
	for _, c := range text {
		isWord := c == '_' || c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !isWord && c != ' ' && c != '\t' || isWord && !inWord {
			n++
		}
		inWord = isWord
	}
	return n
}

// tokensJSON is tokens for JSON. A string is one token.
func tokensJSON(text []byte) int {
	n, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			n, inString = n+1, !inString
		case inString && c == '\\':
			i++
		case !inString && c != ' ' && c != '\t' && c != '\n' && c != '\r':
			n++
		}
	}
	return n
}

// Parse parses a file in native syntax, or in JSON syntax if its name ends in .json. Errors contain the
// name of the file and the line, but no values.
func Parse(name string, text []byte) (*hcl.File, error) {
	if n := tokens(name, text); n > maxTokens {
		return nil, fmt.Errorf("parse %s: %w: about %d tokens, more than the maximum of %d", name, errSize, n, maxTokens)
	}
	if strings.HasSuffix(name, ".json") {
		if err := Templates(text, nil); err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		file, diags := hcljson.Parse(text, name)
		return file, located(name, diags)
	}
	if tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos); tooDeep(tokens) {
		return nil, fmt.Errorf("parse %s: %w", name, errDepth)
	}
	file, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	return file, located(name, diags)
}

// located returns the first error of the diagnostics.
func located(name string, diags hcl.Diagnostics) error {
	if !diags.HasErrors() {
		return nil
	}
	// The detail of a diagnostic may quote a value; its summary does not.
	d := diags.Errs()[0].(*hcl.Diagnostic) //nolint:forcetypeassert,errorlint // Errs holds nothing else
	line := 0
	if d.Subject != nil {
		line = d.Subject.Start.Line
	}
	return fmt.Errorf("parse %s:%d: %s", name, line, d.Summary)
}

// ParseTemplate parses the text of a template, such as a string in JSON syntax or a file
// that templatefile reads.
func ParseTemplate(text string) (hclsyntax.Expression, error) {
	if tokens("", []byte(text)) > maxTokens {
		return nil, errSize
	}
	tokens, _ := hclsyntax.LexTemplate([]byte(text), "", hcl.InitialPos)
	if tooDeep(tokens) {
		return nil, errDepth
	}
	e, diags := hclsyntax.ParseTemplate([]byte(text), "", hcl.InitialPos)
	return e, located("template", diags)
}

// IsTemplate reports whether a string in JSON syntax is a template that contains expressions.
func IsTemplate(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "%{")
}

// Templates calls visit with each template in a file in JSON syntax. It skips templates that cannot be
// parsed. It returns the errors of visit, and an error if text is not JSON, or if it or a template is
// nested too deeply. visit may be nil.
func Templates(text []byte, visit func(hclsyntax.Expression) error) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	// HCL reads both values of a repeated name. Unmarshaling into a tree would keep only the last
	// one.
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			// The error of the HCL parser has the position. This error must not show a value.
			return errors.New("not JSON")
		}
		switch t := token.(type) {
		case string:
			if err := template(t, visit); err != nil {
				return err
			}
		case json.Number:
			if IsHuge(t.String()) {
				return errors.New("a number is too large")
			}
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			if depth > maxDepth {
				return errDepth
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

func template(text string, visit func(hclsyntax.Expression) error) error {
	if !IsTemplate(text) {
		return nil
	}
	e, err := ParseTemplate(text)
	if errors.Is(err, errDepth) || errors.Is(err, errSize) {
		return err
	}
	if err == nil && visit != nil { // Other strings need not be valid templates: the CLI decides.
		return visit(e)
	}
	return nil
}

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
		if tokens[i].Type == hclsyntax.TokenNumberLit && IsHuge(string(tokens[i].Bytes)) {
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

// IsHuge reports whether a number in decimal notation has a large exponent.
func IsHuge(number string) bool {
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return false
	}
	exponent, err := strconv.Atoi(number[i+1:])
	return err != nil || exponent > maxExponent || exponent < -maxExponent
}
