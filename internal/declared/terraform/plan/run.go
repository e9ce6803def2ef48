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
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// maxOutput bounds the JSON of a plan, in bytes. It is enough for about twenty thousand resources.
const maxOutput = 1 << 30

// maxLine bounds one line of the output of `plan -json`, in bytes.
const maxLine = 4 << 20

// perLine is the memory that terraform-exec uses per byte of a line before driftd can count it.
// JSON is one line.
const perLine = 4

// An Output is the result of Run.
type Output struct {
	Result
	// Tool is the name and version of the program that made the plan: "Terraform 1.11.4".
	Tool string
	// Notes are the dangerous parts of the root, sorted by place.
	Notes []policy.Note
	// States contains the metadata of the state. It is empty if the plan has no state.
	States []model.StateRead
}

// Run plans a root and reads the plan. It waits for the limiter, works on a private copy, and leaves no
// processes, locks, or files outside of CacheDir. If the root cannot be planned, Run returns an error with
// the reason and the next step, and without secrets. If the plan is partial, its errors are in the Result.
func Run(ctx context.Context, o Options) (Output, error) {
	cli, terragrunt, err := o.find()
	if err != nil {
		return Output{}, err
	}
	tooLate := fmt.Errorf("timeout after %s: raise timeout, or split the root", o.timeout())
	return inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (Output, error) { return w.run(ctx, cli, terragrunt) })
}

// find checks the options and returns the results of binary.
func (o Options) find() (path string, terragrunt bool, err error) {
	if err := o.Check(); err != nil {
		return "", false, err
	}
	return o.binary()
}

// inWork waits for the limiter and calls f with a work folder, which it removes afterwards. tooLate
// is the cause of the context's end at the timeout.
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

// run plans one root in its work folder.
func (w *work) run(ctx context.Context, path string, terragrunt bool) (Output, error) {
	if err := w.prepare(ctx, terragrunt); err != nil {
		return Output{}, err
	}
	if w.Compare {
		var err error
		if w.content, err = w.digest(); err != nil {
			return Output{}, err
		}
	}
	in := Input{}
	r, notes, err := w.initialized(ctx, path, terragrunt, &in)
	if err != nil {
		return Output{}, err
	}
	plan, stream, err := r.plan(ctx, planStage)
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
	res, unsure := r.read(ctx, in)
	notes = append(notes, unsure...)
	switch reads := r.reads || terragrunt; {
	case plan.Errored, reads && !w.Compare:
		res.Undetermined = true
	case reads:
		notes = append(notes, r.compare(ctx, &res)...)
	}
	out := Output{Result: res, Tool: strings.TrimSpace(stream.tool + " " + res.Version), Notes: notes}
	if record, ok := r.record(r.planFile(planStage)); ok {
		if record.Exists() {
			record.Dependencies = r.depend(ctx, &in, &out)
		}
		out.States = []model.StateRead{record}
	}
	return out, nil
}

// initialized starts the CLI, initializes the root, and selects its workspace: the root can be planned then. It adds the
// parts of the configuration that a plan leaves out to in.
func (w *work) initialized(ctx context.Context, path string, terragrunt bool, in *Input) (*runner, []policy.Note, error) {
	r, err := w.start(ctx, path, terragrunt)
	if err != nil {
		return nil, nil, err
	}
	if err := r.initialize(ctx); err != nil {
		return nil, nil, err
	}
	notes, err := w.checkAfter(terragrunt)
	if err != nil {
		return nil, nil, err
	}
	if err := r.note(in); err != nil {
		return nil, nil, err
	}
	_, err = r.selectWorkspace(ctx)
	return r, notes, err
}

// prepare makes the private copy and the file that completes its backend block.
func (w *work) prepare(ctx context.Context, terragrunt bool) error {
	if err := w.readEnvFiles(); err != nil {
		return err
	}
	if err := w.copyRoot(ctx, terragrunt); err != nil || terragrunt {
		return err
	}
	return w.completeBackend()
}

// start checks the copy, and runs the CLI to get its version.
func (w *work) start(ctx context.Context, path string, terragrunt bool) (*runner, error) {
	if err := w.checkBefore(terragrunt); err != nil {
		return nil, err
	}
	environ := os.Environ()
	r := &runner{work: w, mask: newMask(w.secrets(environ), w.places()...), readable: w.readPaths(path, environ)}
	var err error
	if r.cli, err = newCLI(ctx, w.root, path, w.environment(path, environ), r.launch(), terragrunt); err != nil {
		return nil, r.unstarted(ctx, path, err)
	}
	return r, nil
}

// places returns pairs of private folders and their replacements in messages, because their names
// are random.
func (w *work) places() []string {
	shown := cmp.Or(w.Shown, w.Dir)
	return []string{w.root, shown, w.Dir, shown, w.dir, "…", w.tmp, "…"}
}

// A runner runs the CLI in one work folder.
type runner struct {
	*work
	cli  *cli
	mask mask
	// readable are the paths outside of its own folders that a boxed CLI may read.
	readable []string
	// lock is the content of the lock file, or nil if there is none.
	lock []byte
	// reads reports whether a module reads what neither the files nor the state have (workcopy.Module.Reads).
	reads bool
}

// unstarted returns the error for a CLI whose version command failed.
func (r *runner) unstarted(ctx context.Context, path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("version: %w", unusable(path, err))
	}
	exit, exited := errors.AsType[*exitError](err)
	if !exited || ctx.Err() != nil {
		return r.explain("version", err, nil)
	}
	if strings.TrimSpace(exit.stderr) == "" {
		return &failure{"version", fmt.Sprintf("%s ended with %s and no message; %s", path, exit, setBinary)}
	}
	explained := r.explain("version", err, nil)
	if f, ok := errors.AsType[*failure](explained); ok && !strings.Contains(f.reason, "set binary") {
		return &failure{f.stage, f.reason + "; the CLI is " + path + ": " + setBinary}
	}
	return explained
}

// note reads the required parts of the root's files, before programs of the root run that could
// change the files or replace them with pipes.
func (r *runner) note(in *Input) (err error) {
	if err := r.configuration(in); err != nil {
		return &failure{"read configuration", err.Error()}
	}
	// A program that init ran may have replaced it with a pipe or an endless file.
	r.lock, err = folder.ReadBounded(filepath.Join(r.root, lockFileName), maxLockFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read lock file: %w", err)
	}
	return nil
}

// initialize installs providers and modules and initializes the backend. It takes a lock, because
// the CLIs do not protect their plugin cache, and another driftd process may plan the same root.
func (r *runner) initialize(ctx context.Context) error {
	gate, err := waitForLock(ctx, r.plugins()+".lock")
	if err != nil {
		return fmt.Errorf("init: wait for another init: %w", err)
	}
	defer release(gate)
	args := "TF_CLI_ARGS_init=-lock=false"
	if isFile(filepath.Join(r.root, lockFileName)) {
		args += " -lockfile=readonly"
	} else {
		// init may write the lock file of the copy, which is then discarded.
		r.cli.env = append(r.cli.env, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1")
	}
	// Only init may write to the plugin cache, because it runs no provider.
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

// maxLockFile bounds the lock file, in bytes. A hundred providers take about 100 KiB.
const maxLockFile = 8 << 20

func (r *runner) backendConfig() []tfexec.InitOption {
	var configs []tfexec.InitOption
	for _, path := range r.BackendFiles {
		configs = append(configs, tfexec.BackendConfig(r.inCopy(path)))
	}
	if len(r.backend) > 0 {
		configs = append(configs, tfexec.BackendConfig(filepath.Join(r.dir, "backend.json")))
	}
	switch workcopy.Scan(r.root).Backend {
	case "pg":
		// The backend would create a missing schema and table.
		configs = append(configs, tfexec.BackendConfig("skip_schema_creation=true"), tfexec.BackendConfig("skip_table_creation=true"),
			tfexec.BackendConfig("skip_index_creation=true"))
	case "consul":
		if r.locks {
			break
		}
		// The backend would lock a workspace other than the default one whenever it opens the
		// state.
		configs = append(configs, tfexec.BackendConfig("lock=false"))
	}
	return configs
}

// inCopy returns the path of a file in the options. A relative path is in the copy.
func (w *work) inCopy(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.root, path)
}

// maxWorkspace bounds the file with the name of the selected workspace, in bytes.
const maxWorkspace = 1 << 10

// DefaultWorkspace is the workspace of a root without a selected one.
const DefaultWorkspace = "default"

// workspace returns the workspace of the options, or the selected one of Dir. A selection that
// cannot be read is an error, because the default workspace has another state.
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
	return cmp.Or(strings.TrimSpace(string(selected)), DefaultWorkspace), nil
}

// selectWorkspace selects the workspace and returns its name. It returns an error if the workspace
// does not exist, because a plan would create it.
func (r *runner) selectWorkspace(ctx context.Context) (name string, err error) {
	name, err = r.workspace()
	if err != nil || name == DefaultWorkspace {
		return name, err
	}
	err = r.cli.run(ctx, call{}, func(ctx context.Context, _ io.Writer) error { return r.cli.tf.WorkspaceSelect(ctx, name) })
	if err != nil {
		return "", r.explain("select workspace "+name, err, nil)
	}
	return name, nil
}

// planStage is the name of the normal plan.
const planStage = "plan"

// planFile returns the path of the file with a plan.
func (w *work) planFile(name string) string { return filepath.Join(w.dir, name+".tfplan") }

// plan makes a plan and reads it. A partial plan is not an error; its errors are in the
// diagnostics, which are also returned with an error.
func (r *runner) plan(ctx context.Context, name string, more ...tfexec.PlanOption) (*Plan, *stream, error) {
	file := r.planFile(name)
	s, err := r.planInto(ctx, name, file, more...)
	if err != nil {
		return nil, s, err
	}
	plan, err := r.show(ctx, file)
	return plan, s, err
}

// planInto makes a plan and writes it to a file.
func (r *runner) planInto(ctx context.Context, name, file string, more ...tfexec.PlanOption) (*stream, error) {
	s := &stream{}
	options := append(append(r.planOptions(), tfexec.Out(file)), more...)
	c := call{line: maxLine, stdout: lineWriter(s.line)}
	if r.memory != "" {
		c.write = append(c.write, r.memory)
	}
	if r.locks {
		c.write = append(c.write, r.WritePaths...) // a lock may be a file
	}
	err := r.cli.run(ctx, c, func(ctx context.Context, stdout io.Writer) error {
		_, err := r.cli.tf.PlanJSON(ctx, stdout, options...)
		return err
	})
	_, exited := errors.AsType[*exitError](err)
	if err != nil && (!exited || !isFile(file)) {
		return s, r.explain(name, err, s.diagnostics)
	}
	return s, nil
}

func (r *runner) planOptions() []tfexec.PlanOption {
	options := []tfexec.PlanOption{tfexec.Lock(r.locks)}
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

// show reads a plan file. It does not use tfexec.ShowPlanFile, which decodes numbers in the state
// as float64 and does not return whether the plan is partial.
func (r *runner) show(ctx context.Context, file string) (*Plan, error) {
	text, err := r.showText(ctx, file)
	if err != nil {
		return nil, err
	}
	plan, err := Decode(strings.NewReader(text))
	if err != nil {
		return nil, &failure{"show", err.Error()}
	}
	return plan, nil
}

// showText returns the JSON of a plan file.
func (r *runner) showText(ctx context.Context, file string) (text string, err error) {
	c := call{args: "TF_CLI_ARGS_show=-json", output: budget.Limit(ctx, maxOutput*perLine) / perLine, stdout: budget.Writer(ctx, io.Discard)}
	if r.memory != "" {
		c.write = append(c.write, r.memory) // The box lets it read the plan.
	}
	err = r.cli.run(ctx, c, func(ctx context.Context, _ io.Writer) (err error) {
		text, err = r.cli.tf.ShowPlanFileRaw(ctx, file)
		return err
	})
	if err != nil {
		return "", r.explain("show", err, nil)
	}
	return text, nil
}

// judgeChecks makes a refresh-only plan if the normal plan would change something, because its
// check results are then not those of the live values.
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

// configuration adds the parts of the configuration that a plan leaves out, from all installed
// modules. If a file that the CLI reads cannot be read, it returns an error, because ignored
// changes would be reported.
func (r *runner) configuration(in *Input) error {
	in.Ignored, in.Blocks = map[string]syntax.Ignored{}, map[string]Blocks{}
	modules := r.modules()
	impure := newImpurity()
	for _, prefix := range slices.Sorted(maps.Keys(modules)) {
		m := workcopy.Scan(modules[prefix])
		if m.Unread != nil {
			return fmt.Errorf("%s: %w", cmp.Or(strings.TrimSuffix(prefix, "."), "root"), m.Unread)
		}
		for name, i := range m.Ignored {
			in.Ignored[prefix+name] = i
		}
		for name, b := range m.Blocks {
			in.Blocks[prefix+name] = Blocks{Names: b.Names, Dynamic: b.Dynamic}
		}
		impure.module(prefix, &m)
		r.reads, in.JSON = r.reads || m.Reads, in.JSON || m.JSON
	}
	in.Impure = impure.resources()
	return nil
}

// modules returns the folder of each module, by the prefix of the addresses in it.
func (r *runner) modules() map[string]string {
	modules := map[string]string{"": r.root}
	// init has just written the list, so only an error of the work folder's disk can make it
	// unreadable.
	list, _ := workcopy.Modules(filepath.Join(r.data, "modules", "modules.json"))
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
