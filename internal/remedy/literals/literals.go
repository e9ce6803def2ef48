// Package literals writes values as literals of YAML and of Terraform's language. It escapes invisible
// characters and those that change the direction of the text: in a file they may hide a value from its
// reader.
package literals

import (
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// YAML returns a value on one line, as YAML reads it. Strings are in double quotes.
func YAML(v model.Value) string { return Escape(string(v.AppendJSON(nil))) }

// HCL returns a string literal of Terraform; "" for text that is not UTF-8. Template sequences are
// escaped.
func HCL(s string) string {
	if strings.ToValidUTF8(s, "") != s {
		return ""
	}
	var b strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{", "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) {
		if r < ' ' {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return Escape(`"` + b.String() + `"`)
}

// Escape replaces the characters beyond ASCII that do not print, and DEL, by escape sequences that
// are valid in quoted literals of YAML and of Terraform's language.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x7f || phrase.Prints(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

func escape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
