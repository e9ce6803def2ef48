package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/declared/terraform/plan/rootdir"
)

// maxOutput bounds the JSON of a plan: about twenty thousand resources.
const maxOutput = 1 << 30

// maxLine bounds one line of what `plan -json` prints.
const maxLine = 4 << 20

// perLine is what a line takes that terraform-exec reads, for each of its bytes, before
// driftd gets and counts it: JSON is one line.
const perLine = 4

// An Output is what a run gives.
type Output struct {
	Result
	// Tool is the program that planned: "Terraform 1.11.4".
	Tool string
	// Notes are the dangerous parts of the root, by place.
	Notes []policy.Note
}

// Run makes a plan of a root and reads it. It waits for a place at the limiter,
// works on a private copy, and leaves nothing behind: no process, no file
// outside CacheDir, no lock. An error says why the root could not be planned at
// all, and what to do; it holds no secret. What could not be planned in part is
// in the Result.
func Run(ctx context.Context, o Options) (Output, error) {
	cli, terragrunt, err := o.find()
	if err != nil {
		return Output{}, err
	}
	tooLate := fmt.Errorf("not done after %s: raise timeout, or part the root", o.timeout())
	return inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (Output, error) { return w.run(ctx, cli, terragrunt) })
}

// find returns what binary returns, if the options are valid.
func (o Options) find() (path string, terragrunt bool, err error) {
	if err := o.Check(); err != nil {
		return "", false, err
	}
	return o.binary()
}

// inWork calls f with a work folder, which it removes, when the limiter has a place. The
// context of f ends with tooLate.
func inWork[T any](ctx context.Context, o Options, tooLate error, f func(context.Context, *work) (T, error)) (out T, err error) {
	leave, err := enter(ctx, o.Limiter.plans)
	if err != nil {
		return out, fmt.Errorf("wait for other plans: %w", err)
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout(), tooLate)
	defer cancel()
	w, err := begin(o)
	if err != nil {
		return out, err
	}
	out, err = f(ctx, w)
	if endErr := w.end(); endErr != nil {
		err = errors.Join(err, fmt.Errorf("remove work folder: %w", endErr))
	}
	return out, err
}

// run does one root in its work folder.
func (w *work) run(ctx context.Context, path string, terragrunt bool) (Output, error) {
	if err := w.lay(ctx, terragrunt); err != nil {
		return Output{}, err
	}
	r, err := w.start(ctx, path, terragrunt)
	if err != nil {
		return Output{}, err
	}
	if err := r.initialize(ctx); err != nil {
		return Output{}, err
	}
	notes, err := w.checkAfter(terragrunt)
	if err != nil {
		return Output{}, err
	}
	in := Input{}
	if err := r.note(&in); err != nil {
		return Output{}, err
	}
	if _, err := r.selectWorkspace(ctx); err != nil {
		return Output{}, err
	}
	plan, stream, err := r.plan(ctx, "plan")
	if err != nil {
		return Output{}, err
	}
	in.Plan, in.Diagnostics = plan, r.hidden(stream.diagnostics)
	if in.Schemas, err = r.schemas(ctx, plan); err != nil {
		return Output{}, err
	}
	if in.RefreshOnly, err = r.judgeChecks(ctx, plan); err != nil {
		return Output{}, err
	}
	res := Read(in, w.Sealer)
	return Output{Result: res, Tool: strings.TrimSpace(stream.tool + " " + res.Version), Notes: notes}, nil
}

// lay makes the private copy, and what completes its backend block.
func (w *work) lay(ctx context.Context, terragrunt bool) error {
	if err := w.readEnvFiles(); err != nil {
		return err
	}
	if err := w.copyRoot(ctx, terragrunt); err != nil || terragrunt {
		return err
	}
	return w.completeBackend()
}

// start checks the copy, and starts the CLI to ask for its version.
func (w *work) start(ctx context.Context, path string, terragrunt bool) (*runner, error) {
	if err := w.checkBefore(terragrunt); err != nil {
		return nil, err
	}
	environ := os.Environ()
	r := &runner{work: w, mask: newMask(w.secrets(environ), w.places()...), readable: w.readPaths(path, environ)}
	var err error
	if r.cli, err = newCLI(ctx, w.root, path, w.environment(path, environ), r.launch(), terragrunt); err != nil {
		return nil, r.explain("version", err, nil)
	}
	return r, nil
}

// places returns where private folders lie and what stands for them in
// messages: their names are random, and mean nothing to anybody.
func (w *work) places() []string {
	shown := cmp.Or(w.Shown, w.Dir)
	return []string{w.root, shown, w.Dir, shown, w.dir, "…", w.tmp, "…"}
}

// A runner runs the CLI in one work folder.
type runner struct {
	*work
	cli  *cli
	mask mask
	// readable is what the CLI may read outside of its folders when it is boxed.
	readable []string
	// lock is the content of the lock file; nil where there is none.
	lock []byte
}

// note keeps what is needed of the root's files, before a program of the root
// runs that could change them or put pipes in their place.
func (r *runner) note(in *Input) (err error) {
	if err := r.configuration(in); err != nil {
		return &failure{"read configuration", err.Error()}
	}
	// A program that init ran may have put a pipe or an endless file there, too.
	r.lock, err = folder.ReadBounded(filepath.Join(r.root, lockFileName), maxLockFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read lock file: %w", err)
	}
	return nil
}

// initialize gets providers and modules and opens the backend. The CLIs do not
// guard their plugin cache: another process of driftd may plan the same root.
func (r *runner) initialize(ctx context.Context) error {
	gate, err := waitForLock(ctx, r.plugins()+".lock")
	if err != nil {
		return fmt.Errorf("init: wait for another: %w", err)
	}
	defer release(gate)
	args := "TF_CLI_ARGS_init=-lock=false"
	if isFile(filepath.Join(r.root, lockFileName)) {
		args += " -lockfile=readonly"
	} else {
		// The lock file that init writes is the copy's and nobody's.
		r.cli.env = append(r.cli.env, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1")
	}
	// Only init may write to the plugin cache: it runs no provider.
	err = r.cli.run(ctx, call{args: args, write: []string{r.plugins()}}, func(ctx context.Context, _ io.Writer) error {
		return r.cli.tf.Init(ctx, r.backendConfig()...)
	})
	if err != nil {
		return r.explain("init", err, nil)
	}
	return nil
}

// lockFileName is the dependency lock file of a root.
const lockFileName = ".terraform.lock.hcl"

// maxLockFile bounds the lock file. One with a hundred providers has about 100 KiB.
const maxLockFile = 8 << 20

func (r *runner) backendConfig() []tfexec.InitOption {
	var configs []tfexec.InitOption
	for _, path := range r.BackendFiles {
		configs = append(configs, tfexec.BackendConfig(r.inCopy(path)))
	}
	if len(r.backend) > 0 {
		configs = append(configs, tfexec.BackendConfig(filepath.Join(r.dir, "backend.json")))
	}
	switch rootdir.Scan(r.root).Backend {
	case "pg":
		// It would make its schema and table where they are missing.
		configs = append(configs, tfexec.BackendConfig("skip_schema_creation=true"), tfexec.BackendConfig("skip_table_creation=true"),
			tfexec.BackendConfig("skip_index_creation=true"))
	case "consul":
		// It would lock a workspace other than the default one whenever it opens its state.
		configs = append(configs, tfexec.BackendConfig("lock=false"))
	}
	return configs
}

// inCopy returns where a file that the options name lies: a relative one in
// the copy.
func (w *work) inCopy(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.root, path)
}

// maxWorkspace bounds the file that names the selected workspace.
const maxWorkspace = 1 << 10

// defaultWorkspace is the workspace of a root in which none was selected.
const defaultWorkspace = "default"

// workspace returns the workspace that is named, or that Dir has selected. A selection that
// cannot be read is an error: the default workspace has another state.
func (w *work) workspace() (string, error) {
	if w.Workspace != "" {
		return w.Workspace, nil
	}
	selected, err := folder.ReadBounded(filepath.Join(w.Dir, ".terraform", "environment"), maxWorkspace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return "", &failure{"select workspace", fmt.Sprintf("read .terraform/environment: %s: set workspace", err)}
	}
	return cmp.Or(strings.TrimSpace(string(selected)), defaultWorkspace), nil
}

// selectWorkspace selects the workspace, and returns its name. It is an error if there is
// none with that name: a plan would create it.
func (r *runner) selectWorkspace(ctx context.Context) (name string, err error) {
	name, err = r.workspace()
	if err != nil || name == defaultWorkspace {
		return name, err
	}
	err = r.cli.run(ctx, call{}, func(ctx context.Context, _ io.Writer) error { return r.cli.tf.WorkspaceSelect(ctx, name) })
	if err != nil {
		return "", r.explain("select workspace "+name, err, nil)
	}
	return name, nil
}

// plan makes a plan and shows it. A partial plan is no error: its diagnostics
// say what failed.
func (r *runner) plan(ctx context.Context, name string, more ...tfexec.PlanOption) (*Plan, *stream, error) {
	file := filepath.Join(r.dir, name+".tfplan")
	s := &stream{}
	options := append(append(r.planOptions(), tfexec.Out(file)), more...)
	err := r.cli.run(ctx, call{line: maxLine, stdout: lineWriter(s.line)}, func(ctx context.Context, stdout io.Writer) error {
		_, err := r.cli.tf.PlanJSON(ctx, stdout, options...)
		return err
	})
	_, exited := errors.AsType[*exitError](err)
	if err != nil && (!exited || !isFile(file)) {
		return nil, nil, r.explain(name, err, s.diagnostics)
	}
	plan, err := r.show(ctx, file)
	return plan, s, err
}

func (r *runner) planOptions() []tfexec.PlanOption {
	options := []tfexec.PlanOption{tfexec.Lock(false)}
	if r.Parallelism > 0 {
		options = append(options, tfexec.Parallelism(r.Parallelism))
	}
	for _, path := range r.VarFiles {
		options = append(options, tfexec.VarFile(r.inCopy(path)))
	}
	if len(r.Vars) > 0 {
		options = append(options, tfexec.VarFile(filepath.Join(r.dir, "driftd.tfvars.json")))
	}
	return options
}

// show reads a plan file. tfexec.ShowPlanFile is not used: it reads numbers in the state as
// float64, and does not tell whether the plan is partial.
func (r *runner) show(ctx context.Context, file string) (*Plan, error) {
	var text string
	c := call{args: "TF_CLI_ARGS_show=-json", output: budget.Limit(ctx, maxOutput*perLine) / perLine, stdout: budget.Writer(ctx, io.Discard)}
	err := r.cli.run(ctx, c, func(ctx context.Context, _ io.Writer) (err error) {
		text, err = r.cli.tf.ShowPlanFileRaw(ctx, file)
		return err
	})
	if err != nil {
		return nil, r.explain("show", err, nil)
	}
	plan, err := Decode(strings.NewReader(text))
	if err != nil {
		return nil, &failure{"show", err.Error()}
	}
	return plan, nil
}

// judgeChecks makes a refresh-only plan where a normal one does not tell what
// check blocks say of what is live: when it would change something.
func (r *runner) judgeChecks(ctx context.Context, p *Plan) (*Plan, error) {
	if p.Errored || !p.hasChecks() || !p.changesAnything() {
		return nil, nil
	}
	refreshed, _, err := r.plan(ctx, "refresh-only plan", tfexec.RefreshOnly(true))
	return refreshed, err
}

func (p *Plan) hasChecks() bool {
	for _, c := range p.Checks {
		if c.Address.Kind == tfjson.CheckKindCheckBlock {
			return true
		}
	}
	return false
}

func (p *Plan) changesAnything() bool {
	for _, c := range p.ResourceChanges {
		if !c.Change.Actions.NoOp() {
			return true
		}
	}
	return len(p.ResourceDrift) > 0
}

// hidden returns the diagnostics without the secrets of the configuration.
func (r *runner) hidden(list []Diagnostic) []Diagnostic {
	hidden := make([]Diagnostic, len(list))
	for i, d := range list {
		hidden[i] = Diagnostic{Address: d.Address, Summary: r.mask.hide(d.Summary), Detail: r.mask.hide(d.Detail + r.refusal(d.Text()))}
	}
	return hidden
}

// configuration adds what a plan leaves out of the configuration, from all modules as
// init has laid them out. Without a file that the CLI reads, what is ignored would be
// reported.
func (r *runner) configuration(in *Input) error {
	in.Ignored, in.Blocks = map[string]Ignored{}, map[string]Blocks{}
	modules := r.modules()
	for _, prefix := range slices.Sorted(maps.Keys(modules)) {
		m := rootdir.Scan(modules[prefix])
		if m.Unread != nil {
			return fmt.Errorf("%s: %w", cmp.Or(strings.TrimSuffix(prefix, "."), "root"), m.Unread)
		}
		for name, i := range m.Ignored {
			in.Ignored[prefix+name] = Ignored{All: i.All, Paths: i.Paths}
		}
		for name, b := range m.Blocks {
			in.Blocks[prefix+name] = Blocks{Names: b.Names, Dynamic: b.Dynamic}
		}
	}
	return nil
}

// modules returns the folder of each module, by the prefix of the addresses in
// it.
func (r *runner) modules() map[string]string {
	modules := map[string]string{"": r.root}
	// init has written the list: only the work folder's own disk can fail it.
	list, _ := rootdir.Modules(filepath.Join(r.data, "modules", "modules.json"))
	for _, m := range list {
		prefix := "module." + strings.ReplaceAll(m.Key, ".", ".module.") + "."
		modules[prefix] = cmp.Or(absolute(m.Dir), filepath.Join(r.root, m.Dir))
	}
	return modules
}

func absolute(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return ""
}
