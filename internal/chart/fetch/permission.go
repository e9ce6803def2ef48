package fetch

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// An Entry permits charts below a URL, and contains the credentials for them. A plain string is the URL.
type Entry struct {
	// URL is that below which charts may be fetched: https://charts.example.org, oci://registry.example.org/charts.
	URL string `mapstructure:"url"`
	// Username is the user name.
	Username string `mapstructure:"username"`
	// PasswordFile is a file with the password or token for URLs below this one.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// TokenHost is a further host to which the password is sent, if the registry requests tokens from it:
	// auth.example.org.
	TokenHost string `mapstructure:"token_host"`
	// CAFile is a file with the certificate authorities to trust. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *Entry) UnmarshalText(text []byte) error {
	*e = Entry{URL: string(text)}
	return nil
}

// check returns why an entry is none; "" if it is one.
func (e *Entry) check(at *url.URL) string {
	switch reason := notPermission(at); {
	case reason != "":
		return reason + ": want a URL such as https://charts.example.org or oci://registry.example.org/charts, which permits all below it"
	case (e.Username == "") != (e.PasswordFile == ""):
		return "has one of username and password_file: set both or none"
	case e.TokenHost != "" && (at.Scheme != "oci" || e.Username == ""):
		return "has token_host, which is for oci with username: remove it"
	case e.TokenHost != "" && !isHost(e.TokenHost):
		return "has a token_host that is not the name of a host, such as auth.example.org or auth.example.org:5001"
	}
	return ""
}

// A Permission lists the entries below which charts may be fetched. The zero value permits none.
type Permission []permitted

// permitted is an entry with its URL.
type permitted struct {
	*url.URL

	entry Entry
}

// NewPermission returns the permission of entries.
func NewPermission(entries []Entry) (Permission, error) {
	var p Permission
	for i, e := range entries {
		at, err := url.Parse(e.URL)
		reason := "is no URL: want one such as https://charts.example.org or oci://registry.example.org/charts, which permits all below it"
		if err == nil {
			reason = e.check(at)
		}
		if reason == "" && slices.ContainsFunc(p, (&permitted{at, e}).contradicts) {
			reason = "has the URL of another one, apart from its spelling, and other credentials: remove one"
		}
		if reason != "" {
			return nil, fmt.Errorf("entry %d %s", i+1, reason)
		}
		p = append(p, permitted{at, e})
	}
	return p, nil
}

// notPermission returns why a URL is no entry of a permission; "" if it is one.
func notPermission(at *url.URL) string {
	switch {
	case at.User != nil:
		return "has credentials"
	case at.Host == "":
		return "has no host"
	case at.Scheme != "https" && at.Scheme != "oci" && !isOwnMachine(at):
		return "is neither https nor oci"
	case at.RawQuery+at.Fragment != "" || at.ForceQuery:
		return "has parameters"
	case strings.ContainsAny(at.Host+at.Path, "*?[]{}") && !strings.HasPrefix(at.Host, "["):
		return "is a pattern"
	case !isPlainPath(at):
		return "has a path with encoded characters or steps upwards"
	}
	return ""
}

// isPlainPath reports whether the path of a URL has one meaning for each server: it has neither encoded
// slashes nor steps upwards.
func isPlainPath(u *url.URL) bool {
	encoded := strings.ToLower(u.EscapedPath())
	for _, part := range []string{"%2e", "%2f", "%5c", "%25", ";", "\\"} {
		if strings.Contains(encoded, part) {
			return false
		}
	}
	return u.Opaque == "" && (u.Path == "" || path.Clean(u.Path) == cmp.Or(strings.TrimSuffix(u.Path, "/"), "/"))
}

// Allows reports whether a chart or a chart repository may be fetched: its scheme and host are those of an
// entry, and its path begins with all segments of the entry's path.
func (p Permission) Allows(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.User == nil && p.allows(at)
}

func (p Permission) allows(at *url.URL) bool { return p.entryOf(at) != nil }

// entryOf returns the entry for a URL, which is the one with the longest path; nil if the URL is not permitted.
func (p Permission) entryOf(at *url.URL) *Entry {
	var found *permitted
	for i := range p {
		if p[i].contains(at) && (found == nil || len(p[i].above()) > len(found.above())) {
			found = &p[i]
		}
	}
	if found == nil {
		return nil
	}
	return &found.entry
}

// above returns the path of an entry with a slash at its end.
func (p permitted) above() string { return strings.TrimSuffix(p.Path, "/") + "/" }

// contains reports whether a URL is below that of an entry.
func (p permitted) contains(at *url.URL) bool {
	return isPlainPath(at) && at.Scheme == p.Scheme && hostOf(at) == hostOf(p.URL) && strings.HasPrefix(strings.TrimSuffix(at.Path, "/")+"/", p.above())
}

// contradicts reports whether two entries have the same URL, and not the same credentials.
func (p *permitted) contradicts(other permitted) bool {
	mine, others := p.entry, other.entry
	mine.URL, others.URL = "", ""
	return p.contains(other.URL) && other.contains(p.URL) && mine != others
}

// With returns a copy of s with the permission, and with the credentials of the entry for the chart's URL.
func (p Permission) With(s Settings) Settings {
	s.Within = &p
	if at, err := url.Parse(s.OCI + s.Repo); err == nil {
		if e := p.entryOf(at); e != nil {
			s.Username, s.PasswordFile, s.TokenHost, s.CAFile = e.Username, e.PasswordFile, e.TokenHost, e.CAFile
		}
	}
	return s
}

// sends reports whether a request may be sent. A registry decides itself where on its host its tokens and
// blobs are.
func (p Permission) sends(at *url.URL) bool {
	if p.allows(at) {
		return true
	}
	for _, entry := range p {
		if entry.Scheme != "oci" || (at.Scheme == "https") == httpclient.Loopback(entry.Hostname()) {
			continue
		}
		if slices.Contains((&Settings{OCI: entry.String(), TokenHost: entry.entry.TokenHost}).trusted(entry.URL), hostOf(at)) {
			return true
		}
	}
	return false
}
