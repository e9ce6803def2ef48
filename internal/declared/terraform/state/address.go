package state

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/driftd/driftd/internal/model"
)

// parseKey returns an instance's key as addresses show it: [0] or ["a"].
func parseKey(v model.Value) (string, error) {
	switch {
	case v.Kind() == model.String:
		return "[" + quote(v.Str()) + "]", nil
	case v.Kind() == model.Number && !strings.Contains(v.Text(), "."):
		return "[" + v.Text() + "]", nil
	}
	return "", errors.New("want a whole number or a string")
}

// quote writes a string as HCL does, which Terraform uses in addresses.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		b.WriteString(quoteRune(r, strings.HasPrefix(s[i+len(string(r)):], "{")))
	}
	b.WriteByte('"')
	return b.String()
}

func quoteRune(r rune, beforeBrace bool) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == '"' || r == '\\':
		return `\` + string(r)
	case (r == '$' || r == '%') && beforeBrace:
		return string(r) + string(r)
	case unicode.IsPrint(r):
		return string(r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
