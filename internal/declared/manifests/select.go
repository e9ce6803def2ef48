package manifests

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A selection tells which files count.
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

// excludes tells whether a file or folder, by its path from the root, is out.
func (s selection) excludes(name string) bool { return fits(s.exclude, name) }

// includes tells whether a file that is not excluded is in.
func (s selection) includes(name string) bool {
	return len(s.include) == 0 || fits(s.include, name)
}

func fits(patterns []*regexp.Regexp, name string) bool {
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

// expression translates a glob. A folder that fits brings its content along.
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
