package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/discipline"
	"github.com/driftd/driftd/internal/report"
)

func (c *command) check() *cobra.Command {
	var checks []string
	var list bool
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Check declared files for versions that are not pinned, missing lock files and forgotten pauses",
		Long: `Check the Terraform roots and modules, Kubernetes manifests, kustomizations, Helm
charts, and the objects of Flux and Argo CD below PATH (default: the current
folder). No configuration is needed, nothing is connected to, and nothing is run.

A comment on the line of a finding, or above it, exempts it from one check:

  # driftd:ignore image/unpinned the mirror has only this tag

--checks selects checks by patterns: 'terraform/*', '!argocd/manual-sync'. The last
pattern that fits decides. --list prints all checks.

Exit codes:
  0  everything was checked, and nothing is at or above --fail-on
  1  usage, or a PATH that cannot be read
  2  a finding at or above --fail-on (default: any finding)
  3  no such finding, but something was not checked`,
		Example: `  driftd check
  driftd check ./infra ./clusters -o json
  driftd check --fail-on medium
  driftd check --checks 'terraform/*,!terraform/implicit-dependency' ./infra
  driftd check --list`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			selection := discipline.Selection(checks)
			if err := errors.Join(c.failOn.check(), unknownChecks(selection)); err != nil {
				return err
			}
			if list {
				return report.WriteCheckList(c.streams.Out, c.output, discipline.Checks(), c.reportOptions())
			}
			return c.runCheck(cmd.Context(), paths, selection)
		},
	}
	cmd.Flags().StringSliceVar(&checks, "checks", nil, "patterns of the checks to run; ! excludes")
	cmd.Flags().BoolVar(&list, "list", false, "list the checks")
	_ = cmd.RegisterFlagCompletionFunc("checks", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, check := range discipline.Checks() {
			ids = append(ids, check.ID+"\t"+check.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
	c.failOn.add(cmd)
	c.outputFlag(cmd, report.ChecksFormats()...)
	return cmd
}

func unknownChecks(s discipline.Selection) error {
	if unknown := s.Unknown(); len(unknown) > 0 {
		return fmt.Errorf("--checks %q fits no check: driftd check --list prints all", strings.Join(unknown, ","))
	}
	return nil
}

// runCheck checks the files below paths, and prints the result.
func (c *command) runCheck(ctx context.Context, paths []string, selection discipline.Selection) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	results := make([]discipline.Result, len(paths))
	for i, path := range paths {
		var err error
		if results[i], err = checkPath(ctx, path, selection); err != nil {
			return err
		}
	}
	all := discipline.Join(results...)
	if err := report.WriteChecks(c.streams.Out, c.output, &all, c.reportOptions()); err != nil {
		return err
	}
	for i := range all.Findings {
		if c.failOn.includes(all.Findings[i].Severity) {
			return exitStatus(exitDrift)
		}
	}
	if len(all.Gaps) > 0 {
		return exitStatus(exitUnchecked)
	}
	return nil
}

// checkPath checks the files below a path. Files outside of it, and in the same git work tree, are read where files below it refer to
// them.
func checkPath(ctx context.Context, path string, selection discipline.Selection) (r discipline.Result, err error) {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, fmt.Errorf("%s does not exist: check the path", path)
	case err != nil:
		return r, fmt.Errorf("find path: %w", err)
	}
	info, err := os.Stat(absolute)
	switch {
	case err != nil:
		return r, fmt.Errorf("find path: %w", err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return r, fmt.Errorf("%s is neither a folder nor a regular file", path)
	case !info.IsDir() && terraform.IsConfiguration(absolute):
		return r, fmt.Errorf("%s is a file of a Terraform root or module: give the folder", path)
	}
	tree, top, err := treeOf(ctx, absolute, info.IsDir())
	if err != nil {
		return r, err
	}
	files, err := folder.Open(top)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	tree.Files = files
	if r, err = discipline.Run(ctx, tree, selection); err != nil {
		return r, fmt.Errorf("check %s: %w", path, err)
	}
	r.Rename(func(file string) string { return givenPath(path, tree.Root, file) })
	return r, nil
}

// treeOf returns the tree with a file or folder, without its files, and the folder of the disk with the files: the top of the git work
// tree, or else the folder itself.
func treeOf(ctx context.Context, absolute string, isDir bool) (discipline.Tree, string, error) {
	top := gitrepo.TopOf(absolute)
	if top == "" {
		if top = absolute; !isDir {
			top = filepath.Dir(absolute)
		}
	}
	root, err := filepath.Rel(top, absolute)
	if err != nil {
		return discipline.Tree{}, "", fmt.Errorf("find path: %w", err)
	}
	tree := discipline.Tree{Root: filepath.ToSlash(root), Now: time.Now()}
	if tree.Standing, err = gitrepo.StandingOf(ctx, absolute, discipline.IsDeclared); err != nil {
		tree.Standing = &gitrepo.Standing{Gaps: []string{err.Error()}}
	}
	// A repository without a readable origin is not known.
	if origin, err := gitrepo.OriginOf(top); err == nil && origin.URL != "" {
		tree.IsOwn = origin.Is
	}
	return tree, top, nil
}

// givenPath returns the path of a file of a tree as the user would write it, who gave the path of the root.
func givenPath(path, root, file string) string {
	if file == "" {
		return ""
	}
	relative, err := filepath.Rel(filepath.FromSlash(root), filepath.FromSlash(file))
	if err != nil {
		return file
	}
	return filepath.Join(path, relative)
}
