package yamledit

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/literals"
)

// plainText matches texts that may be strings without quotes in every context, unless they are
// read as another type.
var plainText = lazyregexp.New(`^[A-Za-z/][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$`)

// flowText returns a value on one line. Strings keep the quotes of a style.
func flowText(v model.Value, style yaml.Style) string {
	switch v.Kind() {
	case model.String:
		return stringText(v.Text(), style)
	case model.List:
		texts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			texts[i] = flowText(item, 0)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case model.Map:
		texts := make([]string, len(v.Fields()))
		for i, f := range v.Fields() {
			texts[i] = keyText(f.Name) + ": " + flowText(f.Value, 0)
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	return string(v.AppendJSON(nil))
}

// keyText returns the text of a key.
func keyText(name string) string { return stringText(name, 0) }

func stringText(s string, style yaml.Style) string {
	quoted := literals.YAML(model.StringOf(s))
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		return quoted
	case style&yaml.SingleQuotedStyle != 0 && !strings.Contains(quoted, `\`):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case plainText().MatchString(s) && isString(s):
		return s
	}
	return quoted
}

// isString reports whether a text without quotes is read as a string.
func isString(s string) bool {
	documents, err := decode.YAML(strings.NewReader("- " + s + "\n"))
	return err == nil && len(documents) == 1 && documents[0].Value.Equal(model.ListOf(model.StringOf(s)))
}
