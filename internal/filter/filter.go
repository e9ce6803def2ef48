// Package filter selects findings by severities, kinds, namespaces, owners, actors and resources, as
// they are given on a command line or in a request. It is pure.
package filter

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/suggest"
)

// NoOwner is the value in Filter.Owners that selects findings without an owner.
const NoOwner = "none"

// A Filter selects findings. An empty list matches everything, of a list one value must match, and
// all lists must match. The values of all but Severities are patterns, see model.Glob.
type Filter struct {
	Severities []model.Severity
	// Kinds are kinds of findings, or their names in KindNames.
	Kinds      []string
	Namespaces []string
	// Owners are owners, or NoOwner.
	Owners []string
	// Actors match the actor of the finding, or of one of its changes; unknown is one.
	Actors []string
	// Resources are the ends of keys: api, shop/api, deploy/shop/api.
	Resources []string
}

// Empty reports whether the filter selects all findings.
func (f *Filter) Empty() bool {
	return len(f.Severities) == 0 && !slices.ContainsFunc(f.patterns(), notEmpty)
}

func notEmpty(patterns []string) bool { return len(patterns) > 0 }

func (f *Filter) patterns() [][]string {
	return [][]string{f.Kinds, f.Namespaces, f.Owners, f.Actors, f.Resources}
}

// Check returns an error for each severity that does not exist and each pattern that is malformed.
func (f *Filter) Check() error {
	words := make([]string, len(f.Severities))
	for i, s := range f.Severities {
		words[i] = string(s)
	}
	var known []string
	for _, s := range model.Severities() {
		known = append(known, string(s))
	}
	return errors.Join(suggest.Check("severity", words, known), CheckPatterns(f.patterns()...))
}

// MaxPatterns and MaxPattern bound the number of the patterns of a filter, each of which is compared with all
// findings, and the bytes of each.
const (
	MaxPatterns = 100
	MaxPattern  = 512
	// maxBytes bounds the bytes of all patterns as they are in the header of a request.
	maxBytes = 6 << 10
)

// CheckPatterns returns an error for each pattern that is empty, malformed or too long, or the error that there
// are too many.
func CheckPatterns(lists ...[]string) error {
	var errs []error
	all := slices.Concat(lists...)
	size := 0
	for _, p := range all {
		size += len(url.QueryEscape(p))
	}
	if len(all) > MaxPatterns || size > maxBytes {
		return fmt.Errorf("the filters have %d values of %d encoded bytes, and the most are %d of %d bytes: use patterns, as in 'shop/*', or several requests",
			len(all), size, MaxPatterns, maxBytes)
	}
	for _, p := range all {
		errs = append(errs, checkPattern(p))
	}
	return errors.Join(errs...)
}

func checkPattern(p string) error {
	if p == "" {
		return errors.New("a filter has an empty value: leave the filter out to select everything, or give it a value")
	}
	if len(p) > MaxPattern {
		return fmt.Errorf("the pattern %.40q… of %d bytes is longer than %d: use a shorter one with *", p, len(p), MaxPattern)
	}
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("malformed pattern %q: write \\[ for the character [", p)
	}
	return nil
}

// Fits returns a function that reports whether the filter selects the finding of an outline. names must
// contain the kinds of the findings. Fits returns an error if the name of a kind is ambiguous.
func (f *Filter) Fits(names KindNames) (func(*model.Outline) bool, error) {
	kinds, kindErr := names.patterns(f.Kinds)
	keys, keyErr := names.keys(f.Resources)
	if err := errors.Join(kindErr, keyErr); err != nil {
		return nil, err
	}
	selector := model.Selector{Severities: f.Severities, Kinds: kinds, Namespaces: f.Namespaces, Actors: f.Actors}
	return func(o *model.Outline) bool {
		return selector.FitsOutline(o) && (len(f.Owners) == 0 || model.GlobAny(f.Owners, cmp.Or(o.Owner, NoOwner))) &&
			(len(keys) == 0 || matchesKey(keys, o.Key.String()))
	}, nil
}

// matchesKey reports whether a pattern matches the whole key, or its last parts.
func matchesKey(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		from := len(key)
		for parts := strings.Count(p, "/") + 1; parts > 0 && from >= 0; parts-- {
			from = strings.LastIndexByte(key[:from], '/')
		}
		end := key[from+1:]
		return p == end || model.Glob(p, end)
	})
}
