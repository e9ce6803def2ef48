package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/members"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
)

// initWait bounds the test of one source, and the reading of one repository.
const initWait = time.Minute

// testInit loads the configuration that was written, and tests its sources and declarations unless --no-test is set. It prints the next
// commands in any case.
func (c *command) testInit(cmd *cobra.Command, flags *initFlags) error {
	written := *c
	written.configFile = flags.file
	cfg, estate, err := written.openConfigured(cmd)
	if err != nil {
		return fmt.Errorf("the file was written, and cannot be loaded: correct it, then run driftd config check\n%w", err)
	}
	fmt.Fprintf(c.streams.Out, "%s: ok, %s, %s\n", phrase.Visible(flags.file), phrase.Count(len(cfg.Sources), "source"), phrase.Count(len(cfg.Declarations), "declaration"))
	failed := false
	if !flags.noTest {
		failed = written.testSources(cmd.Context(), estate, nil, initWait) != nil
		failed = written.testDeclarations(cmd.Context(), cfg) || failed
		if failed {
			fmt.Fprintln(c.streams.Out, "\nNot all can be read yet. Do what the lines above say, then run driftd sources test --config "+visible(remedy.Quote(flags.file))+".")
		}
	}
	fmt.Fprint(c.streams.Out, "\n", visible(flags.next()))
	if failed {
		return exitStatus(exitUnchecked)
	}
	return nil
}

// testDeclarations prints whether each declaration can be read, and reports whether one cannot. It clones each repository once, into a
// temporary folder.
func (c *command) testDeclarations(ctx context.Context, cfg *config.Config) (failed bool) {
	results := make([]error, len(cfg.Declarations))
	repositories := map[string][]int{}
	for i := range cfg.Declarations {
		d := &cfg.Declarations[i]
		place, err := repositoryOf(d)
		if d.Type == terraform.Type && err == nil {
			err = plan.CheckInstalled()
		}
		if results[i] = errors.Join(err, checkFolder(ctx, d)); place.Git != "" && results[i] == nil {
			key := strconv.Quote(place.Git) + place.Ref
			repositories[key] = append(repositories[key], i)
		}
	}
	for _, of := range repositories {
		stop := c.progress("reading the git repository of " + cfg.Declarations[of[0]].Name)
		err := testRepository(ctx, cfg, of, results)
		stop()
		for _, i := range of {
			results[i] = cmp.Or(results[i], err)
		}
	}
	for i, err := range results {
		d := &cfg.Declarations[i]
		if err != nil {
			failed = true
			fmt.Fprintf(c.streams.Out, "%s (%s): FAILED: %s\n", d.Name, d.Type, visible(err.Error()))
			continue
		}
		fmt.Fprintf(c.streams.Out, "%s (%s): ok\n", d.Name, d.Type)
	}
	return failed
}

// testRepository reads the repository of some declarations, and sets their results.
func testRepository(ctx context.Context, cfg *config.Config, of []int, results []error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, initWait)
	defer cancel()
	dir, err := os.MkdirTemp("", "driftd-init-")
	if err != nil {
		return fmt.Errorf("make a folder for the clone: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	place, err := repositoryOf(&cfg.Declarations[of[0]])
	if err != nil {
		return err
	}
	repository, err := place.Open(filepath.Join(dir, "clone"), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return repository.Read(ctx, place.Ref, func(commit gitrepo.Commit) error {
		for _, i := range of {
			results[i] = testPath(commit, &cfg.Declarations[i])
		}
		return nil
	})
}

// testPath returns an error if a commit does not have the path of a declaration.
func testPath(commit gitrepo.Commit, d *config.Declaration) error {
	const pushed = "is it pushed? To read the folder as it is, run driftd init again with --work-tree"
	if _, text := d.Pattern(); text != "" {
		s := surroundings{loaders: alldeclared.Definitions()}
		pattern, err := members.Parse(text)
		if err != nil {
			return err
		}
		found, err := membersAt(commit, s.definition(d.Type), pattern)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no folder of the repository matches %s: %s", text, pushed)
		}
		return err
	}
	var settings struct {
		Path string `mapstructure:"path"`
	}
	only := d.Only("path")
	if err := only.Decode(&settings); err != nil {
		return err
	}
	at := gitrepo.Place{Path: settings.Path}
	if _, err := fs.Stat(commit.Files, at.Root()); err != nil {
		return fmt.Errorf("the repository has no path %s: %s", settings.Path, pushed)
	}
	return nil
}
