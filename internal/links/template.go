package links

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// A Template is the address of a web page with placeholders in its path, query or fragment: "https://git.example.org/shop/{commit}/{path}#L{line}".
type Template struct{ text string }

// The placeholders of the page of a live resource.
const (
	// ID and Name are those of the resource.
	ID   = "id"
	Name = "name"
	// Kind is its kind without the type of the source.
	Kind = "kind"
	// Namespace is its place.
	Namespace = "namespace"
)

// The placeholders of the page of a declaration.
const (
	// Revision is the commit.
	Revision = "commit"
	// Path is the path of the file in the repository.
	Path = "path"
	// Line is the line in the file.
	Line = "line"
)

// OfResource returns the placeholders of the page of a live resource.
func OfResource() []string { return []string{ID, Kind, Name, Namespace} }

// OfDeclaration returns the placeholders of the page of a declaration.
func OfDeclaration() []string { return []string{Revision, Path, Line} }

var placeholder = lazyregexp.New(`\{([^{}]*)\}`)

// Parse parses a template, which may contain the named placeholders. It returns an error if the text
// contains another one, is no http or https URL, contains credentials, or has a placeholder in its host.
func Parse(text string, names []string) (Template, error) {
	for _, found := range placeholder().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, found[1]) {
			return Template{}, fmt.Errorf("unknown placeholder %s: want {%s}", found[0], strings.Join(names, "}, {"))
		}
	}
	if strings.ContainsAny(placeholder().ReplaceAllString(text, ""), "{}") {
		return Template{}, errors.New("a brace without its counterpart")
	}
	u, err := url.Parse(placeholder().ReplaceAllString(text, "x"))
	_, rest, _ := strings.Cut(text, "://")
	switch {
	case err != nil:
		return Template{}, errors.New("want an address such as https://git.example.org/shop/{path}")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return Template{}, errors.New("want an address that begins with https:// and a host")
	case u.User != nil:
		return Template{}, errors.New("it has a user name or a password, which would be in each report: leave them out")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"<>`\\\x7f", r) }):
		return Template{}, errors.New("spaces, quotes and brackets must be escaped: %20")
	case strings.Contains(rest[:endOfHost(rest)], "{"):
		return Template{}, errors.New("a placeholder must follow the host")
	}
	return Template{text}, nil
}

// endOfHost returns the length of the host at the beginning of an address without its scheme.
func endOfHost(rest string) int {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return i
	}
	return len(rest)
}

// Fill returns the address with the placeholders replaced by values. It returns "" if a placeholder has no
// value, or one that would lead to another page. It escapes values, except for the slashes in that of Path.
func (t Template) Fill(values map[string]string) string {
	escape, done := inPath, 0
	var b strings.Builder
	for _, at := range placeholder().FindAllStringSubmatchIndex(t.text, -1) {
		before, name := t.text[done:at[0]], t.text[at[2]:at[3]]
		b.WriteString(before)
		done = at[1]
		if strings.ContainsAny(before, "?#") {
			escape = inQuery
		}
		parts := []string{values[name]}
		if name == Path {
			parts = strings.Split(values[name], "/")
		}
		for i, part := range parts {
			parts[i] = escape(part)
			if part == "" || parts[i] == "" {
				return ""
			}
		}
		b.WriteString(strings.Join(parts, "/"))
	}
	return b.String() + t.text[done:]
}

// inQuery escapes a value in a query, or in a fragment: the pages of some systems have paths and parameters there.
func inQuery(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// inPath escapes a part of a path; "" for one that a browser follows.
func inPath(part string) string {
	if !isPlain(part) && !strings.Contains(part, "/") {
		return ""
	}
	return url.PathEscape(part)
}
