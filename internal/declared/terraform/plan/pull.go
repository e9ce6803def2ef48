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
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

// A Pulled is a state that the CLI printed. Text may contain secrets.
type Pulled struct {
	Text      string
	Workspace string
	// Tool is the name and version of the program that printed the state: "terraform 1.11.4". Other
	// versions may print a different output.
	Tool string
}

// Pull reads the state of a root with `state pull`. It configures only the backend or cloud block: it
// removes all other configuration from its private copy (workcopy.Reduce), and installs no providers or
// modules. Otherwise it works like Run. It does not lock or modify the state.
func Pull(ctx context.Context, o Options) (Pulled, error) {
	cli, terragrunt, err := o.find()
	switch {
	case err != nil:
		return Pulled{}, err
	case terragrunt:
		return Pulled{}, errors.New("the root is a Terragrunt root, and Terragrunt generates its backend block: set state to the location of the state, or use engine: plan")
	}
	tooLate := fmt.Errorf("timeout after %s: raise timeout, or check that the backend responds", o.timeout())
	return inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (Pulled, error) { return w.pull(ctx, cli) })
}

// pull reads the state of one root in its work folder.
func (w *work) pull(ctx context.Context, path string) (p Pulled, err error) {
	if err := w.prepare(ctx, false); err != nil {
		return p, err
	}
	if err := workcopy.Reduce(w.root); err != nil {
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

// openBackend initializes only the backend. init would also install the providers in the state. It
// looks for them in an empty folder, and fails after it recorded the backend, which is sufficient
// to read the state. The next command reports all other errors.
func (r *runner) openBackend(ctx context.Context) error {
	if workcopy.Scan(r.root).Backend == "" {
		return nil // the copy contains the state
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

// statePull is the stage of the state pull command.
const statePull = "state pull"

// printState returns the state. It reserves memory for the text and its copies in terraform-exec.
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
