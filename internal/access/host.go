package access

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Maximum lengths of names and paths, in bytes.
const (
	maxName = 200
	maxPath = 2000
)

// fromLoopback reports whether a request was made on this host to a loopback address. The Host
// header must name one, so that a page of another site whose name resolves to 127.0.0.1 is
// refused (DNS rebinding). A request with the headers of a proxy may come from anywhere.
func fromLoopback(r *http.Request) bool {
	for name := range r.Header {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", strings.HasPrefix(name, "X-Forwarded-"):
			return false
		}
	}
	return loopbackHost(r.Host)
}

// loopbackHost reports whether a Host header names a loopback address.
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

// cutBrackets returns the text between brackets, such as an IPv6 address, and the rest.
func cutBrackets(host string) (inner, rest string, ok bool) {
	if !strings.HasPrefix(host, "[") {
		return "", "", false
	}
	return strings.Cut(host[1:], "]")
}

// isPort reports whether a text is empty or a port such as ":9797".
func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return text == "" || ok && digits != "" && len(digits) <= 5 && strings.Trim(digits, "0123456789") == ""
}

// LocalPath returns next if it is a path of a page of driftd, including its query. It returns "/" for an
// address of another site and for the login pages.
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

// notShown reports whether a character is not printable: a control character, a line end, a
// change of the text direction, or invalid UTF-8.
func notShown(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
