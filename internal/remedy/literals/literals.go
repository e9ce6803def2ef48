// Package literals formats values as literals of YAML and of Terraform's language. It escapes invisible
// characters and those that change the text direction, because they could hide a value from a reader of the
// file.
package literals

import (
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// YAML returns a value as a YAML flow value on one line. Strings are in double quotes.
func YAML(v model.Value) string { return Escape(string(v.AppendJSON(nil))) }

// HCL returns a string literal of Terraform's language, with template sequences escaped. It returns "" if s
// is not valid UTF-8.
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

// Escape replaces DEL, and non-ASCII characters that are not printable, by escape sequences that are valid
// in quoted literals of YAML and of Terraform's language.
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
