package terraform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
)

// Writing are the settings of the account with which a root is applied. A variable that is set here replaces that of the
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
	// Timeout bounds each plan and each apply; without it, the timeout of the declaration.
	Timeout time.Duration `mapstructure:"timeout"`
}

// An Applier applies the root of a plan declaration.
type Applier struct {
	plans   *plans
	writing Writing
}

// NewApplier returns the applier of the root of a loader. It returns an error if the root cannot be applied.
func NewApplier(of declared.Loader, w Writing) (*Applier, error) {
	p, ok := of.(*plans)
	switch {
	case !ok:
		return nil, errors.New("only a declaration of type terraform with engine: plan can be applied")
	case p.repository == nil:
		return nil, errors.New("it is read from a folder: set git, so that what is applied was reviewed")
	case w.Timeout < 0:
		return nil, fmt.Errorf("timeout %s: want more than 0", w.Timeout)
	}
	a := &Applier{p, w}
	return a, a.options(plan.Options{}).Check()
}

// Timeout bounds one call of Apply.
func (a *Applier) Timeout() time.Duration {
	if a.writing.Timeout > 0 {
		return a.writing.Timeout
	}
	return a.plans.config.Run.Timeout
}

// Root returns the path of the root in its repository, with the workspace if one is set.
func (a *Applier) Root() string {
	root := a.plans.config.Root()
	if w := a.plans.config.Run.Workspace; w != "" {
		root += ", workspace " + w
	}
	return root
}

// Look returns what an apply of the root at the head of its ref would do (plan.Look). commit is the hash of the head.
func (a *Applier) Look(ctx context.Context) (e plan.Effect, commit string, err error) {
	err = a.checkedOut(ctx, func(o plan.Options, hash string) (err error) {
		commit = hash
		e, err = plan.Look(ctx, o)
		return err
	})
	return e, commit, err
}

// Apply plans the root at the head of its ref, and applies the plan if permit returns nil (plan.Apply). commit is the
// hash of the head.
func (a *Applier) Apply(ctx context.Context, permit func(ctx context.Context, e plan.Effect, commit string) error) error {
	return a.checkedOut(ctx, func(o plan.Options, commit string) error {
		return plan.Apply(ctx, o, func(ctx context.Context, e plan.Effect) error { return permit(ctx, e, commit) })
	})
}

// checkedOut checks out the head of the ref, and calls f with the options for the root in it. The repository is not in
// use then: f may read it.
func (a *Applier) checkedOut(ctx context.Context, f func(o plan.Options, commit string) error) error {
	return a.plans.inFolder(func(top string) error {
		var commit string
		var o plan.Options
		err := a.plans.repository.Read(ctx, a.plans.config.Ref, func(c gitrepo.Commit) (err error) {
			commit = c.Hash
			o, err = a.plans.checkOutTo(ctx, c, top)
			return err
		})
		if err != nil {
			return err
		}
		return f(a.options(o), commit)
	})
}

// options returns the options of the declaration with the account of the writer.
func (a *Applier) options(o plan.Options) plan.Options {
	env := map[string]string{}
	for _, set := range []map[string]string{o.Env, a.writing.Env} {
		for name, value := range set {
			env[name] = value
		}
	}
	o.Env, o.WritePaths, o.Timeout = env, a.writing.WritePaths, a.Timeout()
	if len(a.writing.EnvFiles) > 0 {
		o.EnvFiles = a.writing.EnvFiles
	}
	return o
}
