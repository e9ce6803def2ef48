package discipline

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/printable"
)

// oldRef is the age from which a commit is old.
const oldRef = 90 * 24 * time.Hour

// IsDeclared reports whether a file with the given base name declares resources.
func IsDeclared(base string) bool {
	return terraform.IsConfiguration(base) || isManifest(base) || base == lockFile || slices.Contains([]string{".tfvars", ".tpl", ".lock"}, path.Ext(base))
}

// pinned checks the age of the commit that a declaration reads.
func (c *checker) pinned(context.Context, *survey) error {
	if !c.Pinned.IsZero() && c.Now.Sub(c.Pinned) > oldRef {
		c.report(gitRefOld, c.Root, 0, 0, "the ref", fmt.Sprintf("is at a commit from %s, and the default branch is at another one", c.Pinned.Format(time.DateOnly)))
	}
	return nil
}

// git checks how the work tree differs from its commits and from the remote.
func (c *checker) git(context.Context, *survey) error {
	s := c.Standing
	if s == nil {
		return nil
	}
	for _, reason := range s.Gaps {
		c.gap(c.Root, 0, "git: "+reason)
	}
	if n := len(s.Changed); n > 0 {
		names := make([]string, 0, n)
		for _, name := range s.Changed[:min(n, maxNamed+1)] {
			names = append(names, printable.Line(name, 120))
		}
		c.report(gitDirty, c.Root, 0, 0, "", phrase.Count(n, "file")+" not as in the last commit: "+enumerateOf(names, n))
	}
	branch, upstream := printable.Line(s.Branch, 60), printable.Line(s.Upstream, 60)
	switch {
	case s.Ahead && s.Behind:
		c.report(gitDiverged, c.Root, 0, 0, "", fmt.Sprintf("branch %s and %s each have commits that the other lacks", branch, upstream))
	case s.Ahead && upstream == "":
		c.report(gitUnpushed, c.Root, 0, 0, "", fmt.Sprintf("no branch of a remote has the last commit of branch %s", branch))
	case s.Ahead:
		c.report(gitUnpushed, c.Root, 0, 0, "", fmt.Sprintf("branch %s has commits that %s lacks", branch, upstream))
	case s.Behind:
		c.report(gitBehind, c.Root, 0, 0, "", fmt.Sprintf("%s has commits that branch %s lacks", upstream, branch))
	}
	if s.Default != "" && !s.Head.IsZero() && c.Now.Sub(s.Head) > oldRef {
		c.report(gitRefOld, c.Root, 0, 0, "", fmt.Sprintf("the last commit of branch %s is from %s, and %s has newer ones", branch, s.Head.Format(time.DateOnly),
			printable.Line(s.Default, 60)))
	}
	return nil
}

// enumerateOf returns the first of n names with commas.
func enumerateOf(names []string, n int) string {
	if n > maxNamed {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", n-maxNamed))
	}
	return strings.Join(names, ", ")
}

// isUncommitted reports whether a file is not tracked, next to one that is.
func (c *checker) isUncommitted(file, next string) bool {
	return c.Standing != nil && c.Standing.IsTracked(next) && !c.Standing.IsTracked(file)
}
