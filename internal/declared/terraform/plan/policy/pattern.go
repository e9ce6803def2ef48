package policy

import "strings"

// matchName reports whether a pattern matches the name of a block. "*" matches any text.
func matchName(pattern, name string) bool { return match(pattern, name, "") }

// matchPath reports whether a pattern matches a path. "*" matches any text without a slash. A final
// "/*" matches any non-empty rest.
func matchPath(pattern, path string) bool {
	if top, ok := strings.CutSuffix(pattern, "/*"); ok {
		for i := range path {
			if path[i] == '/' && i+1 < len(path) && match(top, path[:i], "/") {
				return true
			}
		}
		return false
	}
	return match(pattern, path, "/")
}

// match reports whether a pattern matches a text. "*" matches any text that does not contain
// border.
func match(pattern, text, border string) bool {
	literal, rest, wild := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, literal)
	if !ok || !wild {
		return ok && text == ""
	}
	for {
		if match(rest, text, border) {
			return true
		}
		if text == "" || border != "" && strings.HasPrefix(text, border) {
			return false
		}
		text = text[1:]
	}
}
