package backend

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxStates bounds the matches of one pattern, and maxPages the pages of a listing.
const (
	maxStates = 10_000
	maxPages  = 10_000
)

var errUnexpected = errors.New("the response is not the expected document: check that the address is the right service")

// A page is a part of a listing.
type page struct {
	names []string
	// next is the token of the next page, or "" for the last page.
	next string
}

// list returns the names on all pages that match p.
func list(p pattern, get func(token string) (page, error)) ([]string, error) {
	var found []string
	token := ""
	expression := p.expression()
	for range maxPages {
		got, err := get(token)
		if err != nil {
			return nil, err
		}
		for _, name := range got.names {
			if !expression.MatchString(name) {
				continue
			}
			if leadsElsewhere(name) {
				return nil, fmt.Errorf("the listing has %q, whose path has the part . or ..; rename or remove it", name)
			}
			found = append(found, name)
		}
		switch {
		case len(found) > maxStates:
			return nil, fmt.Errorf("more than %d states; use a narrower pattern", maxStates)
		case got.next == "":
			return found, nil
		case got.next == token:
			return nil, errors.New("the listing repeats its page token")
		}
		token = got.next
	}
	return nil, fmt.Errorf("more than %d pages; use a narrower pattern", maxPages)
}

// leadsElsewhere reports whether a name has the part "." or "..". Servers and proxies resolve
// these, so a request for the name would read another object.
func leadsElsewhere(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "." || part == ".." })
}

// decode requests a document that is not a state, and decodes it into the value that into points
// to.
func (f *fetcher) decode(ctx context.Context, u *url.URL, decode func([]byte, any) error, into any) error {
	body, err := f.get(ctx, u)
	if err != nil {
		return err
	}
	content, err := readAll(body)
	if err != nil {
		return err
	}
	if decode(content, into) != nil {
		return errUnexpected
	}
	return nil
}
