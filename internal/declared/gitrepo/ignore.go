package gitrepo

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// An Ignore matches paths by patterns in the form of .gitignore.
type Ignore struct{ patterns []gitignore.Pattern }

// With returns i with the patterns in a text, which apply below the folder dir. Later patterns take precedence.
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

// Matches reports whether the path of a file or folder is ignored. A file in an ignored folder
// may not match by itself.
func (i Ignore) Matches(name string, isDir bool) bool {
	return gitignore.NewMatcher(i.patterns).Match(strings.Split(name, "/"), isDir)
}

// SameRepository reports whether two URLs name the same repository: the protocol, the user, the
// case of the host and the suffix .git do not count.
func SameRepository(a, b string) bool {
	name := repositoryName(a)
	return name != "" && name == repositoryName(b)
}
