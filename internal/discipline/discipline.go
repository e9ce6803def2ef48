// Package discipline checks declared files for practices that make a declaration less reliable: versions
// that are not pinned, missing lock files, and forgotten suspensions. It treats the files as untrusted. The
// checks do not open connections or run programs. Findings contain names and versions, and no other values.
package discipline

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// A Tree contains the files to check.
type Tree struct {
	Files fs.FS
	// Root is the path of the folder or file to check. Files outside of it are read if files in it refer to
	// them.
	Root string
	// IsOwn reports whether a URL refers to the repository that contains the files. It is nil if the
	// repository is unknown.
	IsOwn func(url string) bool
	// Standing is the standing of the work tree at the time Now, or nil if the files are not in a work
	// tree. Paths in Files are relative to its top.
	Standing *gitrepo.Standing
	Now      time.Time
	// Pinned is the time of the commit that contains the files if the head of the default branch is a
	// different commit. Otherwise it is zero.
	Pinned time.Time
}

// A Finding is a failed check.
type Finding struct {
	Check    string
	Severity model.Severity
	// File is the path in the tree, and Line is the line. They are "" and 0 if the finding concerns no file
	// or no line.
	File string
	Line int
	// Subject is the name of the part of the file that the finding concerns. It does not change when lines
	// move.
	Subject string
	// The text What describes the failure, and Next is the next step.
	What, Next string

	// block is a further line at which the finding can be exempted; 0 for none.
	block int
}

// An Exemption is a finding that a comment exempts.
type Exemption struct {
	Finding

	Reason string
}

// A Gap is a part that was not checked. Line is 0 if it is a whole file.
type Gap struct {
	File   string
	Line   int
	Reason string
}

// A Result is the outcome of the checks. Its lists are sorted.
type Result struct {
	Findings []Finding
	Exempt   []Exemption
	Gaps     []Gap
	// Files is the number of files that were read. LeftOut are the folders that were skipped.
	Files   int
	LeftOut []string
}

// Run checks the files of a tree. It returns an error if the context ends, or if the root does not exist.
func Run(ctx context.Context, t Tree, s Selection) (Result, error) {
	c := newChecker(t, s)
	found, err := c.survey(ctx)
	if err != nil {
		return Result{}, err
	}
	for _, step := range []func(context.Context, *survey) error{c.terraform, c.charts, c.manifests, c.git, c.pinned} {
		if err := step(ctx, found); err != nil {
			return Result{}, err
		}
	}
	return c.result(), nil
}

// A checker collects findings.
type checker struct {
	Tree

	checks   map[string]*Check
	selected map[string]bool
	found    []Finding
	comments map[string]*comments
	gaps     []Gap
	leftOut  []string
	files    map[string]bool
	folders  map[string]*module
}

func newChecker(t Tree, s Selection) *checker {
	c := &checker{Tree: t, checks: map[string]*Check{}, selected: map[string]bool{}, comments: map[string]*comments{}, files: map[string]bool{},
		folders: map[string]*module{}}
	for _, check := range Checks() {
		c.checks[check.ID], c.selected[check.ID] = &check, s.includes(&check)
	}
	return c
}

// maxFindings bounds the findings, and what is not checked, so that a large tree does not fill the memory.
const maxFindings = 100_000

// report adds a finding of a check on a subject.
func (c *checker) report(id, file string, line, block int, subject, what string) {
	switch {
	case !c.selected[id]:
		return
	case len(c.found) >= maxFindings:
		c.full("findings")
		return
	}
	check := c.checks[id]
	c.found = append(c.found, Finding{Check: id, Severity: check.Severity, File: file, Line: line, Subject: subject, What: strings.TrimSpace(subject + " " + what), Next: check.Advice, block: block})
}

// full adds that there is more of something than a bound.
func (c *checker) full(of string) {
	if g := (Gap{c.Root, 0, fmt.Sprintf("more than %d %s: name folders below it", maxFindings, of)}); !slices.Contains(c.gaps[:min(len(c.gaps), 3)], g) {
		c.gaps = slices.Insert(c.gaps, 0, g)
	}
}

// gap adds what was not checked.
func (c *checker) gap(file string, line int, reason string) {
	if len(c.gaps) < maxFindings {
		c.gaps = append(c.gaps, Gap{file, line, reason})
	}
}

func (c *checker) result() Result {
	r := Result{Gaps: c.gaps, Files: len(c.files), LeftOut: c.leftOut}
	for i := range c.found {
		if reason, ok := c.exempted(&c.found[i]); ok {
			r.Exempt = append(r.Exempt, Exemption{c.found[i], reason})
			continue
		}
		r.Findings = append(r.Findings, c.found[i])
	}
	r.sort()
	return r
}

// Join returns the combined results of several trees.
func Join(results ...Result) Result {
	var all Result
	for _, r := range results {
		all.Findings, all.Exempt, all.Gaps = append(all.Findings, r.Findings...), append(all.Exempt, r.Exempt...), append(all.Gaps, r.Gaps...)
		all.Files, all.LeftOut = all.Files+r.Files, append(all.LeftOut, r.LeftOut...)
	}
	all.sort()
	return all
}

// Rename replaces the path of each file by the result of name.
func (r *Result) Rename(name func(file string) string) {
	for i := range r.Findings {
		r.Findings[i].File = name(r.Findings[i].File)
	}
	for i := range r.Exempt {
		r.Exempt[i].File = name(r.Exempt[i].File)
	}
	for i := range r.Gaps {
		r.Gaps[i].File = name(r.Gaps[i].File)
	}
	for i := range r.LeftOut {
		r.LeftOut[i] = name(r.LeftOut[i])
	}
}

// sort sorts the lists, and removes what is in them twice.
func (r *Result) sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int { return compare(&a, &b) })
	r.Findings = slices.Compact(r.Findings)
	slices.SortFunc(r.Exempt, func(a, b Exemption) int { return compare(&a.Finding, &b.Finding) })
	r.Exempt = slices.Compact(r.Exempt)
	slices.SortFunc(r.Gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Reason, b.Reason))
	})
	r.Gaps = slices.Compact(r.Gaps)
	slices.Sort(r.LeftOut)
	r.LeftOut = slices.Compact(r.LeftOut)
}

// compare orders findings by severity, file, line, check and text.
func compare(a, b *Finding) int {
	return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Check, b.Check), cmp.Compare(a.What, b.What))
}
