package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
		r.repository, err = l.config.OpenWithHistory(l.env.CloneDir, l.config.Lookback, l.env.Log)
	}
	return r, err
}

// maxCheckout bounds the files and folders of a commit that is checked out.
const maxCheckout = 500_000

// A checkout is the root at the head of its ref, in a temporary folder.
type checkout struct {
	plan.Options

	// commit is the hash of the head, and when its time.
	commit string
	when   time.Time
}

// checkedOut checks out the head of the ref into a temporary folder, and calls f with the root in it. The repository is not
// in use then: other roots of it may be read, and f may read it.
func (r *root) checkedOut(ctx context.Context, f func(checkout) error) (err error) {
	if err := os.MkdirAll(r.env.CacheDir, 0o700); err != nil {
		return fmt.Errorf("make cache folder: %w", err)
	}
	dir, err := os.MkdirTemp(r.env.CacheDir, "commit-")
	if err != nil {
		return fmt.Errorf("make folder for a commit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var out checkout
	err = r.repository.Read(ctx, r.config.Ref, func(c gitrepo.Commit) (err error) {
		out, err = r.checkOut(ctx, c, dir)
		return err
	})
	if err != nil {
		return err
	}
	return f(out)
}

// checkOut checks out a commit into a new folder in dir: a repository that is cloned again is read twice.
func (r *root) checkOut(ctx context.Context, c gitrepo.Commit, dir string) (checkout, error) {
	top, err := os.MkdirTemp(dir, "")
	if err != nil {
		return checkout{}, fmt.Errorf("make folder for a commit: %w", err)
	}
	absent, err := c.Files.CheckOut(ctx, top, gitrepo.Bounds{Files: maxCheckout, Bytes: r.config.MaxCloneSize})
	if err != nil {
		return checkout{}, fmt.Errorf("check out %.12s: %w", c.Hash, err)
	}
	o := r.options(filepath.Join(top, filepath.FromSlash(r.config.Root())), top)
	o.Shown, o.Absent = r.config.Root(), absent
	o.Workspace = cmp.Or(o.Workspace, plan.DefaultWorkspace)
	return checkout{o, c.Hash, c.When}, nil
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
