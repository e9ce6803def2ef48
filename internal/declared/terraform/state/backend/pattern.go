package backend

import (
	"regexp"
	"strings"
)

// A pattern stands for names: * for anything but a slash, ** for anything, ?
// for one character other than a slash.
type pattern string

// literal tells a pattern that stands for itself.
func (p pattern) literal() bool { return !strings.ContainsAny(string(p), "*?") }

// prefix is what every name that fits begins with.
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

// below makes a pattern of a name that ends with a slash: all states below it.
func below(name string) string {
	if name == "" || strings.HasSuffix(name, "/") {
		return name + "**.tfstate"
	}
	return name
}
