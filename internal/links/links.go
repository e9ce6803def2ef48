// Package links builds the addresses of the web pages of live resources and of declarations. It is pure.
package links

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// blobs are the paths between a repository and a commit on the web pages of well-known hosts.
func blobs() map[string]string {
	return map[string]string{
		"github.com":    "/blob/",
		"gitlab.com":    "/-/blob/",
		"codeberg.org":  "/src/commit/",
		"bitbucket.org": "/src/",
	}
}

var (
	// hash matches a commit's full hash, SHA-1 or SHA-256.
	hash = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	// scp matches the short form of an SSH address.
	scp = lazyregexp.New(`^[^/@:]+@([^/@:]+):([^/].*)$`)
)

// Commit returns the address of a line in a file at a commit of a repository: the position is
// "deploy/web.yaml:12". It returns "" for a position without a line. The template is for a
// repository on another host than github.com, gitlab.com, bitbucket.org and codeberg.org: the
// paths of a self-hosted one do not follow from its address. Without one there is no address
// then. Credentials in the address of the repository are left out.
func Commit(repository, revision, position string, template *Template) string {
	file, line := cutLine(position)
	if repository == "" || line == 0 || !hash().MatchString(revision) || !isPlain(file) {
		return ""
	}
	if template != nil {
		return template.Fill(map[string]string{Revision: revision, Path: file, Line: strconv.Itoa(line)})
	}
	host, path, ok := split(repository)
	blob := blobs()[host]
	if !ok || blob == "" || !isPlain(path) {
		return ""
	}
	u := url.URL{Scheme: "https", Host: host, Path: "/" + path + blob + revision + "/" + file, Fragment: "L" + strconv.Itoa(line)}
	if host == "bitbucket.org" {
		u.Fragment = "lines-" + strconv.Itoa(line)
	}
	return u.String()
}

// inAddress matches the commit in an address of Commit.
var inAddress = lazyregexp.New(`\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b`)

// SamePosition reports whether two addresses of Commit differ in the commit at most.
func SamePosition(a, b string) bool {
	return a == b || inAddress().ReplaceAllLiteralString(a, "") == inAddress().ReplaceAllLiteralString(b, "")
}

// split returns the host and the path of a repository that is read over https or ssh.
func split(repository string) (host, path string, ok bool) {
	if m := scp().FindStringSubmatch(repository); m != nil {
		host, path = m[1], m[2]
	} else {
		u, err := url.Parse(repository)
		if err != nil || u.Scheme != "https" && u.Scheme != "ssh" {
			return "", "", false
		}
		if u.Port() != "" {
			return "", "", false
		}
		host, path = u.Hostname(), strings.TrimPrefix(u.Path, "/")
	}
	return strings.ToLower(host), strings.TrimSuffix(strings.TrimRight(path, "/"), ".git"), true
}

// cutLine splits a position into the file and the line; 0 if it has none.
func cutLine(position string) (file string, line int) {
	if i := strings.LastIndexByte(position, ':'); i >= 0 {
		if n, err := strconv.ParseUint(position[i+1:], 10, 31); err == nil && n > 0 {
			return position[:i], int(n)
		}
	}
	return position, 0
}

// isPlain reports whether a path has names only: a browser follows "." and "..".
func isPlain(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' }) {
			return false
		}
	}
	return true
}
