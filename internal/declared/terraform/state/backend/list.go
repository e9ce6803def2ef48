package backend

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxStates bounds what one pattern may find, maxPages the pages of a listing.
const (
	maxStates = 10_000
	maxPages  = 10_000
)

var errNotAsked = errors.New("the answer is not what was asked for: is it the right service?")

// A page is a part of a listing.
type page struct {
	names []string
	// next is the token of the next page, "" when this is the last.
	next string
}

// list returns the names on all pages that fit p.
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
				return nil, fmt.Errorf("the listing holds %q, whose path leads elsewhere; rename or remove it there", name)
			}
			found = append(found, name)
		}
		switch {
		case len(found) > maxStates:
			return nil, fmt.Errorf("more than %d states; name them more closely", maxStates)
		case got.next == "":
			return found, nil
		case got.next == token:
			return nil, errors.New("the listing does not advance")
		}
		token = got.next
	}
	return nil, fmt.Errorf("more than %d pages; name the states more closely", maxPages)
}

// leadsElsewhere reports whether a name has the part . or .., which servers and proxies
// resolve: a request for it would reach something else.
func leadsElsewhere(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "." || part == ".." })
}

// decode gets an answer that is no state and decodes it into what into points
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
		return errNotAsked
	}
	return nil
}
