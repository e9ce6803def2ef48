package remedy

import (
	"strings"

	"github.com/driftd/driftd/internal/phrase"
)

// A command is a command line as words that are not quoted yet.
type command []string

// text returns the command line for a POSIX shell; ok is false if a word cannot be quoted.
func (c command) text() (line string, ok bool) {
	words := make([]string, len(c))
	for i, word := range c {
		if words[i], ok = quote(word); !ok {
			return "", false
		}
	}
	return strings.Join(words, " "), true
}

// quote returns a word as a POSIX shell reads it literally. ok is false if the word has a line
// break or another character that a terminal does not show, or is not UTF-8.
func quote(word string) (quoted string, ok bool) {
	if strings.ToValidUTF8(word, "") != word || strings.ContainsFunc(word, func(r rune) bool { return !phrase.Prints(r) }) {
		return "", false
	}
	if word != "" && strings.Trim(word, plainCharacters) == "" {
		return word, true
	}
	flag := ""
	if name, _, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "--") && strings.Trim(name, plainCharacters) == "" {
		flag, word = name+"=", word[len(name)+1:]
	}
	return flag + "'" + strings.ReplaceAll(word, "'", `'\''`) + "'", true
}

// plainCharacters have no meaning to a shell anywhere in a word.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=@%+"
