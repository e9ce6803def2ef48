package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// prose converts the comment on a Go name to the description of a key: it removes the name, as in
// "Every is how often" → "How often", and replaces other Go names by keys.
func prose(name, comment string, keys map[string]string) string {
	text := strings.Join(strings.Fields(comment), " ")
	for _, article := range []string{"A ", "An "} {
		if rest, ok := strings.CutPrefix(text, article+name+" "); ok {
			text = name + " " + rest
		}
	}
	if rest, ok := strings.CutPrefix(text, name+" "); ok {
		for _, verb := range []string{"is ", "are "} {
			rest = strings.TrimPrefix(rest, verb)
		}
		text = upper(rest)
	}
	return plain(named(text, keys))
}

func upper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// named replaces Go names by keys. A name that is also an English word is not replaced at the
// beginning of a sentence.
func named(text string, keys map[string]string) string {
	var b strings.Builder
	last := 0
	for _, at := range regexp.MustCompile(`[A-Z][A-Za-z0-9]*`).FindAllStringIndex(text, -1) {
		key, ok := keys[text[at[0]:at[1]]]
		if !ok || begins(text[:at[0]]) && !isCompound(text[at[0]:at[1]]) {
			continue
		}
		b.WriteString(text[last:at[0]] + "`" + key + "`")
		last = at[1]
	}
	return b.String() + text[last:]
}

// begins reports whether the text after before begins a sentence.
func begins(before string) bool {
	before = strings.TrimRight(before, ` ("`)
	return before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, ":")
}

// isCompound reports whether a name is not an English word: CAFile, TokenID.
func isCompound(name string) bool {
	return strings.ContainsFunc(name[1:], unicode.IsUpper)
}

// plain escapes Markdown.
func plain(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "[", `\[`).Replace(text)
}
