package access

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what visitors send, in bytes.
const (
	maxName = 200
	maxPath = 2000
)

// fromLoopback tells a request that somebody on this host makes to an address of
// this host. The Host must be one: a page of elsewhere whose name suddenly
// resolves to 127.0.0.1 reads nothing (DNS rebinding). What a proxy has passed on
// comes from anywhere.
func fromLoopback(r *http.Request) bool {
	for name := range r.Header {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", strings.HasPrefix(name, "X-Forwarded-"):
			return false
		}
	}
	return loopbackHost(r.Host)
}

// loopbackHost tells a Host header that names an address of this host alone.
func loopbackHost(host string) bool {
	name, port, bracketed := host, "", false
	if inner, rest, ok := cutBrackets(host); ok {
		name, port, bracketed = inner, rest, true
	} else if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	if !isPort(port) {
		return false
	}
	if !bracketed && strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Is6() == bracketed && ip.Unmap().IsLoopback()
}

// cutBrackets takes an IPv6 address out of its brackets.
func cutBrackets(host string) (inner, rest string, ok bool) {
	if !strings.HasPrefix(host, "[") {
		return "", "", false
	}
	return strings.Cut(host[1:], "]")
}

// isPort tells ":9797" or nothing.
func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return text == "" || ok && digits != "" && len(digits) <= 5 && strings.Trim(digits, "0123456789") == ""
}

// LocalPath returns the path and query of a page of driftd, as it was asked for,
// or "/": for anything that would lead a browser elsewhere, or back to the login.
func LocalPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || len(next) > maxPath ||
		strings.ContainsRune(next, '\\') || strings.ContainsFunc(next, notShown) {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.Contains(u.Path, "//") || strings.ContainsRune(u.Path, '\\') {
		return "/"
	}
	for _, page := range []string{"/login", "/logout"} {
		if u.Path == page || strings.HasPrefix(u.Path, page+"/") {
			return "/"
		}
	}
	return next
}

// notShown tells a character that is none for people: controls, line ends, what
// turns the direction of text, and what is no UTF-8.
func notShown(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
