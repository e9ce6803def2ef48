package secret

import "strings"

// urls finds the passwords of URLs, and tokens in place of a user. A password may contain "/",
// "@", "," and "?", because people often do not escape them.
func (s *scan) urls() {
	t := s.text
	for at := 0; ; {
		i := strings.Index(t[at:], "://")
		if i < 0 {
			return
		}
		i += at
		from := i + len("://")
		scheme := strings.ToLower(t[head(t, i, 20, isScheme):i])
		to := from
		for to < len(t) && inURL(t[to]) && !strings.HasPrefix(t[to:], "://") {
			to++
		}
		at = to
		if strings.HasPrefix(t[to:], "://") { // The next URL of a list.
			to = max(from, head(t, to, 20, isScheme))
		}
		s.userInfo(scheme, from, to)
	}
}

func isScheme(c byte) bool { return isAlnum(c) || c == '+' || c == '.' }

func inURL(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != '<' && c != '>' && c != '`' && c != '\\'
}

// userInfo finds the secrets in the user information of the URL whose authority begins at from.
func (s *scan) userInfo(scheme string, from, to int) {
	url := s.text[from:to]
	authority := url
	if end := strings.IndexAny(url, "/?#"); end >= 0 {
		authority = url[:end]
	}
	last := strings.LastIndexByte(authority, '@')
	user, rest, hasPassword := strings.Cut(authority, ":")
	switch {
	case hasPassword && strings.IndexByte(user, '@') < 0 && (last >= 0 || !isPort(rest) || !isWeb(scheme)):
		// An "@" after the first "/" ends the user information if no host precedes the "/".
		if end := lastHost(url, len(user)+1); end > 0 {
			last = end
		}
		if last < 0 {
			s.cutUserInfo(from+len(user)+1, to, rest)
			return
		}
		if isTokenUser(scheme, user) {
			s.credential(from, from+len(user))
		}
		s.credential(from+len(user)+1, from+last)
	case last > 0 && isTokenUser(scheme, authority[:last]):
		s.credential(from, from+last)
	}
}

// cut is the suffix of a truncated text.
const cut = "…"

// cutUserInfo finds the beginning of a password in a URL that was truncated before its "@".
// rest is the part of the authority after the first ":".
func (s *scan) cutUserInfo(from, to int, rest string) {
	if strings.HasSuffix(s.text[from:to], cut) && !isPort(strings.TrimSuffix(rest, cut)) && s.text[from-2] != '[' {
		s.credential(from, to-len(cut))
	}
}

// credential adds a part of a URL, unless it is a reference to one.
func (s *scan) credential(from, to int) {
	if from < to && !isReference(s.text[from:to]) {
		s.add(from, to)
	}
}

// lastHost returns the position of the last "@" at or after from that precedes a host, or 0 if
// there is none.
func lastHost(url string, from int) int {
	for i := len(url) - 1; i >= from; i-- {
		if url[i] != '@' {
			continue
		}
		end := tail(url, i+1, isDotted)
		if end > i+1 || end < len(url) && strings.IndexByte("[$({%", url[end]) >= 0 {
			return i
		}
	}
	return 0
}

func isPort(t string) bool { return strings.Trim(t, "0123456789") == "" }

// isWeb reports whether URLs of the scheme have "@" in their paths.
func isWeb(scheme string) bool {
	switch scheme {
	case "http", "https", "oci", "docker", "git", "ssh", "git+https", "git+ssh", "file", "s3", "gs", "npm":
		return true
	}
	return false
}

// isTokenUser reports whether the user of a URL is a token: https://TOKEN@github.com.
func isTokenUser(scheme, user string) bool {
	if !strings.HasPrefix(scheme, "http") && !strings.HasSuffix(scheme, "+https") && !strings.HasSuffix(scheme, "+http") {
		return false
	}
	return strings.ContainsAny(user, "0123456789") && len(user) >= 8 || len(user) >= 20
}

// goDSNs finds the passwords of data source names of Go's MySQL driver:
// user:password@tcp(host)/database.
func (s *scan) goDSNs() {
	for _, network := range []string{"@tcp(", "@unix(", "@udp(", "@tcp6(", "@("} {
		for at := 0; ; {
			i := strings.Index(s.text[at:], network)
			if i < 0 {
				break
			}
			i += at
			begin := head(s.text, i, 1024, func(c byte) bool { return inURL(c) && c != ' ' })
			if colon := strings.IndexByte(s.text[begin:i], ':'); colon >= 0 {
				s.credential(begin+colon+1, i)
			}
			at = i + len(network)
		}
	}
}
