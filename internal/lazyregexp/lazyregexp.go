// Package lazyregexp compiles regular expressions when they are first used. driftd starts many processes of its
// own program, each for one job, and most of them need none of its expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. The function compiles it in its first call, and
// panics if it is invalid, as regexp.MustCompile does. It is safe for concurrent use.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
