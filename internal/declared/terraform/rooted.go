package terraform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
)

// A root runs the CLI on a root module in a folder or a repository.
type root struct {
	*loader

	limiter *plan.Limiter
	// repository is nil for a folder.
	repository *gitrepo.Repository
}

func newRoot(l *loader, limiter *plan.Limiter) (*root, error) {
	r := &root{loader: l, limiter: limiter}
	err := r.options("", "").Check()
	if err == nil {
		r.repository, err = l.config.OpenWithHistory(filepath.Join(l.env.CacheDir, "git"), l.config.Lookback, l.env.Log)
	}
	return r, err
}

// maxCheckout bounds the files and folders of a commit that is checked out.
const maxCheckout = 500_000

// checkOut checks out a commit into a temporary folder, and calls f with the options for the root
// in it.
func (r *root) checkOut(ctx context.Context, c gitrepo.Commit, f func(plan.Options) error) error {
	return r.inFolder(func(top string) error {
		options, err := r.checkOutTo(ctx, c, top)
		if err != nil {
			return err
		}
		return f(options)
	})
}

// inFolder calls f with a temporary folder for a commit.
func (r *root) inFolder(f func(top string) error) (err error) {
	if err := os.MkdirAll(r.env.CacheDir, 0o700); err != nil {
		return fmt.Errorf("make cache folder: %w", err)
	}
	top, err := os.MkdirTemp(r.env.CacheDir, "commit-")
	if err != nil {
		return fmt.Errorf("make folder for a commit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	return f(top)
}

// checkOutTo checks out a commit into a folder, and returns the options for the root in it.
func (r *root) checkOutTo(ctx context.Context, c gitrepo.Commit, top string) (plan.Options, error) {
	absent, err := c.Files.CheckOut(ctx, top, gitrepo.Bounds{Files: maxCheckout, Bytes: r.config.MaxCloneSize})
	if err != nil {
		return plan.Options{}, fmt.Errorf("check out %.12s: %w", c.Hash, err)
	}
	options := r.options(filepath.Join(top, filepath.FromSlash(r.config.Root())), top)
	options.Shown, options.Absent = r.config.Root(), absent
	return options, nil
}

// options returns the CLI options for a root in dir.
func (r *root) options(dir, within string) plan.Options {
	run := r.config.Run
	vars := make(map[string]any, len(run.Vars))
	for name, value := range run.Vars {
		vars[name] = value
	}
	return plan.Options{Dir: dir, Within: within, Binary: run.Binary, Workspace: run.Workspace, VarFiles: run.VarFiles, Vars: vars,
		BackendConfig: run.BackendConfig, BackendFiles: run.BackendConfigFiles, Env: run.Env, EnvFiles: run.EnvFiles, PassEnv: run.PassEnv,
		CLIConfig: run.CLIConfigFile, Home: run.Home, Parallelism: run.Parallelism, Timeout: run.Timeout,
		MemoryLimit: run.MemoryLimit, MaxMemory: run.MaxMemory, Boxed: run.Box,
		ReadPaths: run.ReadPaths, Policy: policy.Policy{Providers: run.Allow.Providers, Modules: run.Allow.Modules, Refuse: run.Refuse},
		CacheDir: r.env.CacheDir, Limiter: r.limiter, Sealer: r.env.Sealer}
}
