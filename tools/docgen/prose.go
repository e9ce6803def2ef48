package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// prose makes what a comment says of a Go name into what a page says of a key:
// the name goes, as in "Every is how often" → "How often", and other names of
// Go become keys.
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

// named writes keys for names of Go. A name that is also a word begins a
// sentence as a word, and is a name elsewhere.
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

// begins tells that what follows before begins a sentence.
func begins(before string) bool {
	before = strings.TrimRight(before, ` ("`)
	return before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, ":")
}

// isCompound tells a name that is no word: CAFile, TokenID.
func isCompound(name string) bool {
	return strings.ContainsFunc(name[1:], unicode.IsUpper)
}

// plain keeps Markdown from reading more than text.
func plain(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "[", `\[`).Replace(text)
}
