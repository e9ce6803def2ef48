package setup

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/phrase"
)

// A group is the roots of one declaration.
type group struct {
	// dir is a folder or a pattern, relative to the folder of the tree.
	dir   string
	roots []*Root
}

// isUnwritable reports whether a path cannot be written as a folder: it has characters of patterns, or characters that are not visible.
func isUnwritable(name string) bool {
	return strings.ContainsAny(name, `*?[\`) || phrase.Visible(name) != name
}

// groups returns the roots of a tree in as few groups as possible. A pattern stands for at least two roots, and for nothing else. fit reports
// whether roots can be one declaration.
func groups(t *Tree, fit func([]*Root) bool) []group {
	var left []*Root
	for i := range t.Roots {
		left = append(left, &t.Roots[i])
	}
	matched := map[string]int{}
	for _, dir := range slices.Concat(t.Modules, rootDirs(t)) {
		for _, pattern := range wildcards(dir) {
			matched[pattern]++
		}
	}
	var all []group
	for {
		best := bestPattern(left, matched, fit)
		if len(best.roots) < 2 {
			break
		}
		all = append(all, best)
		left = slices.DeleteFunc(left, func(r *Root) bool { return slices.Contains(best.roots, r) })
	}
	for _, root := range left {
		all = append(all, group{root.Dir, []*Root{root}})
	}
	slices.SortFunc(all, func(a, b group) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// bestPattern returns the pattern with one wildcard that matches the most roots of those that are left. matched is the number of folders
// that each pattern matches.
func bestPattern(left []*Root, matched map[string]int, fit func([]*Root) bool) group {
	patterns := map[string][]*Root{}
	for _, root := range left {
		if !isPlain(root.Dir) {
			continue // its pattern would not match all, or have names that are not allowed
		}
		for _, pattern := range wildcards(root.Dir) {
			patterns[pattern] = append(patterns[pattern], root)
		}
	}
	var best group
	for pattern, roots := range patterns {
		better := len(roots) > len(best.roots) || len(roots) == len(best.roots) && (afterWildcard(pattern) < afterWildcard(best.dir) ||
			afterWildcard(pattern) == afterWildcard(best.dir) && pattern < best.dir)
		if better && len(roots) > 1 && matched[pattern] == len(roots) && fit(roots) {
			best = group{pattern, roots}
		}
	}
	return best
}

// isPlain reports whether all elements of a path can be parts of names.
func isPlain(dir string) bool {
	return !slices.ContainsFunc(strings.Split(dir, "/"), func(e string) bool { return config.NameOf(e) != e })
}

func rootDirs(t *Tree) (dirs []string) {
	for i := range t.Roots {
		dirs = append(dirs, t.Roots[i].Dir)
	}
	return dirs
}

// wildcards returns the patterns with one wildcard that match a folder.
func wildcards(dir string) []string {
	if dir == "." {
		return nil
	}
	elements := strings.Split(dir, "/")
	var all []string
	for i := range elements {
		pattern := slices.Clone(elements)
		pattern[i] = "*"
		all = append(all, strings.Join(pattern, "/"))
	}
	return all
}

// afterWildcard returns the number of elements after the first wildcard.
func afterWildcard(pattern string) int {
	_, after, _ := strings.Cut(pattern, "*")
	return strings.Count(after, "/")
}
