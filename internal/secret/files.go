package secret

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// elements finds the content of XML elements with secret names:
// <password>x</password>.
func (s *scan) elements() {
	t := s.text
	for at := 0; ; {
		i := strings.Index(t[at:], "</")
		if i < 0 {
			return
		}
		i += at
		at = i + len("</")
		name := t[at:tail(t, at, func(c byte) bool { return isDotted(c) || c == ':' })]
		sure := s.names.rate(name, false)
		if sure <= described {
			continue
		}
		from, to := contentBefore(t, i)
		if tag := t[:from]; !hasTag(tag, name) || !isContent(t[from:to], sure) {
			continue
		}
		s.add(from, to)
	}
}

// contentBefore returns the text before the closing tag at i, without CDATA's signs.
func contentBefore(t string, i int) (from, to int) {
	const begin, end = "<![CDATA[", "]]>"
	if strings.HasSuffix(t[:i], end) {
		if from := strings.LastIndex(t[:i], begin); from >= 0 {
			return from + len(begin), i - len(end)
		}
	}
	return strings.LastIndexByte(t[:i], '>') + 1, i
}

// hasTag reports whether a text ends with the opening tag of an element.
func hasTag(t, name string) bool {
	t = strings.TrimRight(strings.TrimSuffix(t, "<![CDATA["), " \t\r\n")
	open := strings.LastIndexByte(t, '<')
	if open < 0 || !strings.HasSuffix(t, ">") {
		return false
	}
	rest, ok := strings.CutPrefix(t[open+1:], name)
	return ok && (rest[0] == '>' || rest[0] == ' ')
}

// netrc finds the passwords of a .netrc file: machine HOST login USER password x.
func (s *scan) netrc() {
	if !strings.Contains(s.text, "login") || !strings.Contains(s.text, "password") {
		return
	}
	var before []string
	for at := 0; at < len(s.text); {
		from := tail(s.text, at, isSpace)
		at = tail(s.text, from, func(c byte) bool { return !isSpace(c) })
		if n := len(before); n >= 4 && before[n-1] == "password" && before[n-3] == "login" && (n >= 5 && before[n-5] == "machine" || before[n-4] == "default") {
			s.add(from, at)
		}
		before = append(before[max(0, len(before)-5):], s.text[from:at])
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isBasic reports whether a text is base64 of user:password (RFC 7617).
func isBasic(value string) bool {
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	if err != nil || !utf8.Valid(plain) {
		return false
	}
	user, password, ok := strings.Cut(string(plain), ":")
	return ok && user != "" && password != "" && strings.IndexFunc(string(plain), unicode.IsControl) < 0
}
