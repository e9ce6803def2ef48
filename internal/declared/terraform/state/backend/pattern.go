package backend

import (
	"regexp"
	"strings"
)

// A pattern matches names: * matches any text without a slash, ** any text, and ? one character
// other than a slash.
type pattern string

// literal reports whether a pattern matches only itself.
func (p pattern) literal() bool { return !strings.ContainsAny(string(p), "*?") }

// prefix returns the common prefix of all names that match.
func (p pattern) prefix() string {
	if i := strings.IndexAny(string(p), "*?"); i >= 0 {
		return string(p[:i])
	}
	return string(p)
}

func (p pattern) match(name string) bool {
	return strings.HasPrefix(name, p.prefix()) && p.expression().MatchString(name)
}

func (p pattern) expression() *regexp.Regexp {
	quoted := regexp.QuoteMeta(string(p))
	forms := strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`)
	return regexp.MustCompile("(?s)^" + forms.Replace(quoted) + "$")
}

// below returns the pattern of all states below a name that ends with a slash; other names are
// returned as they are.
func below(name string) string {
	if name == "" || strings.HasSuffix(name, "/") {
		return name + "**.tfstate"
	}
	return name
}
