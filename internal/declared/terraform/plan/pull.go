package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/declared/terraform/plan/rootdir"
)

// A Pulled is a state that the CLI printed.
type Pulled struct {
	Text      string
	Workspace string
	// Tool is the program that printed it: "terraform 1.11.4". Another version may print
	// the same state otherwise.
	Tool string
}

// Pull reads the state of a root, as `state pull` prints it. Only the backend, or the cloud
// block, is configured: of a private copy, Pull removes all that has nothing to do with it
// (rootdir.Reduce), and no provider or module is installed. For the rest it is as Run.
// Nothing is locked, and nothing is written where a state exists.
func Pull(ctx context.Context, o Options) (Pulled, error) {
	cli, terragrunt, err := o.find()
	switch {
	case err != nil:
		return Pulled{}, err
	case terragrunt:
		return Pulled{}, errors.New("the root is one of Terragrunt, which makes its backend block: name the state under state, or use engine: plan")
	}
	tooLate := fmt.Errorf("not done after %s: raise timeout, or see whether the backend answers", o.timeout())
	return inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (Pulled, error) { return w.pull(ctx, cli) })
}

// pull reads the state of one root in its work folder.
func (w *work) pull(ctx context.Context, path string) (p Pulled, err error) {
	if err := w.lay(ctx, false); err != nil {
		return p, err
	}
	if err := rootdir.Reduce(w.root); err != nil {
		return p, &failure{"read configuration", err.Error()}
	}
	r, err := w.start(ctx, path, false)
	if err != nil {
		return p, err
	}
	if err := r.openBackend(ctx); err != nil {
		return p, err
	}
	if p.Workspace, err = r.selectWorkspace(ctx); err != nil {
		return p, err
	}
	p.Tool = filepath.Base(path) + " " + r.cli.version
	p.Text, err = r.printState(ctx)
	return p, err
}

// openBackend initializes the backend alone. init also installs the providers that the state
// names. It finds none in an empty folder, and fails after it recorded the backend, which is
// all that a state is read with: what else is wrong, the next command reports.
func (r *runner) openBackend(ctx context.Context) error {
	if rootdir.Scan(r.root).Backend == "" {
		return nil // The copy holds the state.
	}
	none := filepath.Join(r.dir, "none")
	if err := os.Mkdir(none, 0o700); err != nil {
		return fmt.Errorf("make work folder: %w", err)
	}
	options := append(r.backendConfig(), tfexec.Get(false), tfexec.PluginDir(none))
	err := r.cli.run(ctx, call{args: "TF_CLI_ARGS_init=-lock=false"}, func(ctx context.Context, _ io.Writer) error {
		return r.cli.tf.Init(ctx, options...)
	})
	if _, exited := errors.AsType[*exitError](err); exited && isFile(filepath.Join(r.data, "terraform.tfstate")) {
		return nil
	}
	if err != nil {
		return r.explain("init", err, nil)
	}
	return nil
}

// statePull is the stage in which the CLI prints the state.
const statePull = "state pull"

// printState returns the state. Its text counts in the memory budget, with what terraform-exec
// takes to read it.
func (r *runner) printState(ctx context.Context) (text string, err error) {
	part, settle := budget.Part(ctx)
	counted := writerFunc(func(p []byte) (int, error) { return len(p), budget.Take(part, perLine*int64(len(p))) })
	c := call{args: "TF_CLI_ARGS_state_pull=-no-color", output: budget.Limit(ctx, maxOutput*perLine) / perLine, stdout: counted}
	err = r.cli.run(ctx, c, func(ctx context.Context, _ io.Writer) (err error) {
		text, err = r.cli.tf.StatePull(ctx)
		return err
	})
	if err != nil {
		return "", r.explain(statePull, err, nil)
	}
	settle(int64(len(text)))
	return text, nil
}
