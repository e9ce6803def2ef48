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

// A Permission lists the URLs below which charts may be fetched. The zero value permits none.
type Permission []*url.URL

// ParsePermission returns the permission for URLs such as https://charts.example.org/shop and
// oci://registry.example.org/charts.
func ParsePermission(prefixes []string) (Permission, error) {
	var p Permission
	for i, text := range prefixes {
		at, err := url.Parse(text)
		reason := "is no URL"
		if err == nil {
			reason = notPermission(at)
		}
		if reason != "" {
			return nil, fmt.Errorf("entry %d %s: want a URL such as https://charts.example.org or oci://registry.example.org/charts, which permits all below it", i+1, reason)
		}
		p = append(p, at)
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

// Allows reports whether a chart or a repository of charts may be fetched. Its scheme and host are those
// of an entry, and its path begins with all segments of that one.
func (p Permission) Allows(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.User == nil && p.allows(at)
}

func (p Permission) allows(at *url.URL) bool {
	if !isPlainPath(at) {
		return false
	}
	for _, entry := range p {
		above := strings.TrimSuffix(entry.Path, "/") + "/"
		if at.Scheme == entry.Scheme && hostOf(at) == hostOf(entry) && strings.HasPrefix(strings.TrimSuffix(at.Path, "/")+"/", above) {
			return true
		}
	}
	return false
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
		if slices.Contains((&Settings{OCI: entry.String()}).trusted(entry), hostOf(at)) {
			return true
		}
	}
	return false
}
