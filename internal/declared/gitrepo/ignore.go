package gitrepo

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// An Ignore matches paths by patterns in the form of .gitignore.
type Ignore struct{ patterns []gitignore.Pattern }

// Add adds the patterns in a text. Later patterns take precedence.
func (i *Ignore) Add(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" && !strings.HasPrefix(line, "#") {
			i.patterns = append(i.patterns, gitignore.ParsePattern(line, nil))
		}
	}
}

// Matches reports whether the path of a file or folder is ignored. A file in an ignored folder
// may not match by itself.
func (i *Ignore) Matches(name string, isDir bool) bool {
	return gitignore.NewMatcher(i.patterns).Match(strings.Split(name, "/"), isDir)
}

// SameRepository reports whether two URLs name the same repository: the protocol, the user, the
// case of the host and the suffix .git do not count.
func SameRepository(a, b string) bool {
	name := repositoryName(a)
	return name != "" && name == repositoryName(b)
}
