package gitrepo

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// An Ignore matches paths against patterns in the syntax of .gitignore. The zero value matches none.
type Ignore struct{ patterns []gitignore.Pattern }

// With returns a copy of i with the additional patterns in text, one a line, which apply below the folder
// dir. Later patterns take precedence.
func (i Ignore) With(dir, text string) Ignore {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	i.patterns = slices.Clip(i.patterns)
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" && !strings.HasPrefix(line, "#") {
			i.patterns = append(i.patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return i
}

// Matches reports whether a pattern matches the path of a file or folder. It does not consider the folders
// above: a file in an ignored folder need not match.
func (i Ignore) Matches(name string, isDir bool) bool {
	return gitignore.NewMatcher(i.patterns).Match(strings.Split(name, "/"), isDir)
}

// SameRepository reports whether two URLs refer to the same repository. It ignores the protocol, the user,
// the case of the host, and the suffix .git.
func SameRepository(a, b string) bool {
	name := repositoryName(a)
	return name != "" && name == repositoryName(b)
}
