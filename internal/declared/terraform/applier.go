package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
)

// Writing configures the account that applies a root. A variable that is set here replaces that of the
// declaration.
type Writing struct {
	// Env sets variables of the program's environment.
	Env map[string]string `mapstructure:"env"`
	// EnvFiles are files of NAME=VALUE lines that set variables of the program's environment. They
	// are read at each apply, and replace env_files of the declaration.
	EnvFiles []string `mapstructure:"env_files" path:"true"`
	// WritePaths are files and folders that the program may write to during an apply, such as the
	// folder of a local state. Systems that are reached over the network need none.
	WritePaths []string `mapstructure:"write_paths" path:"true"`
	// Timeout is the maximum duration of each plan and each apply. The default is the timeout of the
	// declaration.
	Timeout time.Duration `mapstructure:"timeout"`
}

// An Applier applies the root of a plan declaration.
type Applier struct {
	plans   *plans
	writing Writing
}

// NewApplier returns the applier of the root that the loader of plans. It returns an error if it plans no
// root, or if its root cannot be applied.
func NewApplier(of declared.Loader, w Writing) (*Applier, error) {
	p, ok := of.(*plans)
	switch {
	case !ok:
		return nil, errors.New("only a declaration of type terraform with engine: plan can be applied")
	case p.repository == nil:
		return nil, errors.New("it is read from a folder: set git, so that what is applied was reviewed")
	case w.Timeout < 0:
		return nil, fmt.Errorf("timeout %s: want 0 or more", w.Timeout)
	}
	a := &Applier{p, w}
	return a, a.options(plan.Options{}).Check()
}

// Timeout returns the maximum duration of one call of Apply.
func (a *Applier) Timeout() time.Duration {
	return cmp.Or(a.writing.Timeout, a.plans.config.Run.Timeout)
}

// Root returns the path of the root in its repository, with the workspace unless it is the default one.
func (a *Applier) Root() string {
	root := a.plans.config.Root()
	if w := cmp.Or(a.plans.config.Run.Workspace, plan.DefaultWorkspace); w != plan.DefaultWorkspace {
		root += ", workspace " + w
	}
	return root
}

// Look returns the effect that an apply of the root at the head of its ref would have, as plan.Look does.
// commit is the hash of the head. Look uses the account of the declaration instead of that of the writer,
// because the commit has not been approved.
func (a *Applier) Look(ctx context.Context) (e plan.Effect, commit string, err error) {
	err = a.plans.checkedOut(ctx, func(c checkout) (err error) {
		commit = c.commit
		e, err = plan.Look(ctx, a.lookOptions(c.Options))
		return err
	})
	return e, commit, err
}

// ErrMoved is returned by Apply if the head of the ref is a different commit. In this case Apply runs no
// programs of the root.
var ErrMoved = errors.New("the branch has another commit now")

// Apply plans the root at a commit, with the account of the writer, and applies the plan if permit returns
// nil, as plan.Apply does. If commit is not the head of the ref, Apply returns ErrMoved: the approval
// covers the programs that a plan runs, which are part of the commit.
func (a *Applier) Apply(ctx context.Context, commit string, permit func(context.Context, plan.Effect) error) error {
	return a.plans.checkedOut(ctx, func(c checkout) error {
		if c.commit != commit {
			return ErrMoved
		}
		return plan.Apply(ctx, a.options(c.Options), permit)
	})
}

// lookOptions returns the options of the declaration for a look, which does not use the account of the writer.
func (a *Applier) lookOptions(o plan.Options) plan.Options {
	o.Writer, o.Timeout = plan.Account{Env: a.writing.Env, EnvFiles: a.writing.EnvFiles}, a.Timeout()
	return o
}

// options returns the options of the declaration with the account of the writer.
func (a *Applier) options(o plan.Options) plan.Options {
	o = a.lookOptions(o)
	o.WritePaths = a.writing.WritePaths
	if len(a.writing.EnvFiles) > 0 {
		// Some variables of an account, such as the token of a session, must not be left to the keys of another one.
		o.EnvFiles = nil
	}
	return o
}
