package manifests

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A selection selects files by patterns.
type selection struct{ include, exclude []*regexp.Regexp }

func newSelection(include, exclude []string) (selection, error) {
	in, err := patterns(include)
	if err != nil {
		return selection{}, fmt.Errorf("include: %w", err)
	}
	out, err := patterns(exclude)
	if err != nil {
		return selection{}, fmt.Errorf("exclude: %w", err)
	}
	return selection{in, out}, nil
}

// excludes reports whether the file or folder name, a path from the root, is excluded.
func (s selection) excludes(name string) bool { return matchesAny(s.exclude, name) }

// includes reports whether the file name, which is not excluded, is included.
func (s selection) includes(name string) bool {
	return len(s.include) == 0 || matchesAny(s.include, name)
}

func matchesAny(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

func patterns(globs []string) ([]*regexp.Regexp, error) {
	compiled := make([]*regexp.Regexp, len(globs))
	for i, glob := range globs {
		trimmed := strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		if _, err := path.Match(trimmed, ""); err != nil || strings.Trim(trimmed, "/") == "" {
			return nil, fmt.Errorf("pattern %q: want something like *.yaml or apps/*/dev", glob)
		}
		compiled[i] = regexp.MustCompile(expression(trimmed))
	}
	return compiled, nil
}

// expression returns a regular expression for a glob. A folder that matches includes its
// content.
func expression(glob string) string {
	start := "(^|/)"
	if strings.Contains(glob, "/") {
		start = "^"
		glob = strings.TrimPrefix(glob, "/")
	}
	body := strings.NewReplacer(
		`\*\*/`, `(.*/)?`,
		`\*\*`, `.*`,
		`\*`, `[^/]*`,
		`\?`, `[^/]`,
	).Replace(regexp.QuoteMeta(glob))
	return start + body + "(/|$)"
}
