package plan

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

// An Effect describes the effect that an apply of a root would have.
type Effect struct {
	// Result is read with Input.AsPlanned: Declared and Live of an instance differ where the apply changes
	// a value.
	Result
	// Hindrance is the reason why the plan must not be applied, or "" if it may be applied.
	Hindrance string
	// Content is a digest of the plan and of the state on which it is based. Plans with equal Content make
	// the same changes to the same state and the same live objects.
	Content string
	// Lineage is the lineage of the state, which identifies it.
	Lineage string
	// Tool is the name and version of the program that made the plan: "Terraform 1.11.4".
	Tool string
}

// An ApplyError is the error of an apply that permit allowed.
type ApplyError struct {
	Err error
	// Unchanged reports whether it is certain that nothing was changed.
	Unchanged bool
}

// Error returns the message of Err.
func (e *ApplyError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ApplyError) Unwrap() error { return e.Err }

// Look returns the effect that an apply of a root would have. It does not lock the state. The plan contains
// secrets in plain text: Look writes it only to an in-memory file system, and deletes it.
func Look(ctx context.Context, o Options) (e Effect, err error) {
	err = applying(ctx, o, func(ctx context.Context, r *runner) error {
		_, _, e, err = r.effect(ctx)
		return err
	})
	return e, err
}

// applyGrace is how long an interrupted apply has to finish what it is doing and to save the state.
const applyGrace = 10 * time.Second

// Apply plans a root as Look does, but with the state locked, and calls permit with the effect. If permit
// returns nil, and the state has not changed since the plan, Apply applies the plan. It returns an error of
// permit unchanged. If permit returned nil and Apply fails, it is certain that nothing was changed only if
// the error is an *ApplyError with Unchanged set.
func Apply(ctx context.Context, o Options, permit func(context.Context, Effect) error) error {
	o.locks, o.Grace = true, cmp.Or(o.Grace, applyGrace)
	return applying(ctx, o, func(ctx context.Context, r *runner) error {
		file, before, effect, err := r.effect(ctx)
		if err != nil {
			return err
		}
		if err := permit(ctx, effect); err != nil {
			return err
		}
		after, err := r.printState(ctx)
		if err == nil && after != before {
			err = errors.New("the state changed after the plan was made: another process applies, or edited it")
		}
		if err != nil {
			return &ApplyError{err, true}
		}
		return r.carryOut(ctx, file)
	})
}

// applying calls f with the CLI in a copy of a root that can be applied.
func applying(ctx context.Context, o Options, f func(context.Context, *runner) error) error {
	cli, terragrunt, err := o.find()
	switch {
	case err != nil:
		return err
	case terragrunt:
		return errors.New("the root is a Terragrunt root: driftd does not apply these")
	}
	tooLate := fmt.Errorf("timeout after %s: raise timeout, or split the root", o.timeout())
	_, err = inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (none struct{}, err error) {
		r, err := w.openApplied(ctx, cli)
		if err != nil {
			return none, err
		}
		return none, f(ctx, r)
	})
	return err
}

// openApplied prepares the copy of a root that can be applied.
func (w *work) openApplied(ctx context.Context, path string) (*runner, error) {
	if err := w.prepare(ctx, false); err != nil {
		return nil, err
	}
	switch backend := workcopy.Scan(w.root).Backend; backend {
	case "":
		return nil, errors.New("the root has no backend: an apply would write the state into a copy that is removed")
	case "cloud", "remote":
		return nil, fmt.Errorf("the backend is %s: HCP Terraform makes and applies the plans of this root, start a run there", backend)
	}
	// The effect is read as planned, and needs no more of the configuration.
	r, _, err := w.initialized(ctx, path, false, &Input{})
	if err != nil {
		return nil, err
	}
	w.memory, err = createMemory(w.dir)
	return r, err
}

// effect makes the plan, and returns its file and the state that it starts from.
func (r *runner) effect(ctx context.Context) (file, state string, e Effect, err error) {
	file = filepath.Join(r.memory, "tfplan")
	if state, err = r.printState(ctx); err != nil {
		return "", "", e, err
	}
	s, err := r.planInto(ctx, "plan", file)
	if err != nil {
		return "", "", e, err
	}
	text, err := r.showText(ctx, file)
	if err != nil {
		return "", "", e, err
	}
	p, err := Decode(strings.NewReader(text))
	if err != nil {
		return "", "", e, &failure{"show", err.Error()}
	}
	in := Input{Plan: p, Diagnostics: r.hidden(s.diagnostics), AsPlanned: true}
	if in.Schemas, err = r.schemas(ctx, p); err != nil {
		return "", "", e, err
	}
	e.Result = Read(in, r.Sealer)
	e.Tool = strings.TrimSpace(s.tool + " " + e.Version)
	if e.Hindrance, e.Content, err = judge(text, p, state, r.ofWriter); err != nil {
		return "", "", e, &failure{"show", err.Error()}
	}
	if e.Lineage, err = lineageOf(state); err != nil {
		return "", "", e, err
	}
	r.mask = newMask(append(p.secrets(), r.secrets(os.Environ())...), r.places()...)
	return file, state, e, nil
}

// lineageOf returns the lineage of a state; "" if there is no state so far.
func lineageOf(state string) (string, error) {
	if strings.TrimSpace(state) == "" {
		return "", nil
	}
	var known struct {
		Lineage string `json:"lineage"`
	}
	// The error would quote the state.
	if json.Unmarshal([]byte(state), &known) != nil {
		return "", &failure{statePull, "the output is not a state"}
	}
	return known.Lineage, nil
}

// carryOut applies a plan.
func (r *runner) carryOut(ctx context.Context, file string) error {
	s := &stream{}
	options := []tfexec.ApplyOption{tfexec.DirOrPlan(file), tfexec.Lock(true)}
	if r.Parallelism > 0 {
		options = append(options, tfexec.Parallelism(r.Parallelism))
	}
	c := call{line: maxLine, stdout: lineWriter(s.line), write: append(r.WritePaths, r.memory)}
	err := r.cli.run(ctx, c, func(ctx context.Context, stdout io.Writer) error {
		return r.cli.tf.ApplyJSON(ctx, stdout, options...)
	})
	if err == nil {
		return nil
	}
	unchanged := slices.ContainsFunc(s.diagnostics, func(d Diagnostic) bool {
		// The errors of providers have an address.
		return d.Address == "" && (strings.HasPrefix(d.Summary, "Error acquiring the state lock") || strings.HasPrefix(d.Summary, "Saved plan"))
	})
	return &ApplyError{r.explain("apply", err, r.hidden(s.diagnostics)), unchanged}
}

// memoryFiles is a file system in memory on all Linux systems.
const memoryFiles = "/dev/shm"

// memoryOf returns the folder in memory of a work folder, whose name is random.
func memoryOf(dir string) string { return filepath.Join(memoryFiles, "driftd-"+filepath.Base(dir)) }

// createMemory creates the folder in memory of a work folder.
func createMemory(dir string) (string, error) {
	memory := memoryOf(dir)
	if err := os.Mkdir(memory, 0o700); err != nil {
		return "", fmt.Errorf("make a folder in memory for the plan, which has secrets: %w", err)
	}
	return memory, nil
}

// judge returns the first reason why a plan must not be applied, and the digest of the plan and of its state. text is
// the JSON of the plan. The digest does not cover the values of the input variables in except.
func judge(text string, p *Plan, state string, except map[string]bool) (hindrance, content string, err error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return "", "", fmt.Errorf("decode plan: %w", err)
	}
	if err := removeVariables(parts, except); err != nil {
		return "", "", err
	}
	digest := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		// They have no effect on an apply: the time of the plan, and what depends on the order of evaluation.
		if name == "timestamp" || name == "relevant_attributes" || name == "checks" {
			continue
		}
		fmt.Fprintf(digest, "%s %d\n%s\n", name, len(parts[name]), parts[name])
	}
	fmt.Fprintf(digest, "state %d\n%s", len(state), state)
	return hinders(p, parts), hex.EncodeToString(digest.Sum(nil)), nil
}

// removeVariables removes the values of some input variables from the parts of a plan. If a plan has values of no others,
// it removes the whole part, as a plan without values has none.
func removeVariables(parts map[string]json.RawMessage, names map[string]bool) error {
	const part = "variables"
	if len(names) == 0 || len(parts[part]) == 0 {
		return nil
	}
	var variables map[string]json.RawMessage
	if json.Unmarshal(parts[part], &variables) != nil { // The error would quote a value.
		return errors.New("decode plan: variables is not an object")
	}
	maps.DeleteFunc(variables, func(name string, _ json.RawMessage) bool { return names[name] })
	if len(variables) == 0 {
		delete(parts, part)
		return nil
	}
	text, err := json.Marshal(variables)
	parts[part] = text
	return err
}

// hinders returns the first reason why a plan must not be applied; "" if there is none. An update in place of a
// resource, and the creation of one, are no reasons.
func hinders(p *Plan, parts map[string]json.RawMessage) string {
	switch {
	case p.Errored:
		return "the plan has errors"
	case p.Complete != nil && !*p.Complete, len(p.DeferredChanges) > 0:
		return "the plan does not cover the whole root"
	case len(parts["action_invocations"]) > 0 && !isEmpty(parts["action_invocations"]):
		return "the apply would run actions"
	}
	for _, c := range p.ResourceChanges {
		if why := hindersApply(c); why != "" {
			return why
		}
	}
	return changedOutput(parts["output_changes"])
}

// hindersApply returns why the change of one object must not be applied; "" if it may be.
func hindersApply(c *tfjson.ResourceChange) string {
	actions := c.Change.Actions
	switch {
	case c.Change.Importing != nil:
		return fmt.Sprintf("the apply would import %s", c.Address)
	case c.PreviousAddress != "" && c.PreviousAddress != c.Address:
		return fmt.Sprintf("the apply would move %s to %s", c.PreviousAddress, c.Address)
	case actions.NoOp(), c.DeposedKey == "" && (actions.Update() || actions.Create()):
		return ""
	case c.DeposedKey != "":
		return fmt.Sprintf("the apply would destroy an object that a replacement of %s left", c.Address)
	case actions.Read():
		return fmt.Sprintf("the apply would read %s, and what depends on it is not known before", c.Address)
	case actions.Replace():
		return fmt.Sprintf("the apply would destroy %s and create it again", c.Address)
	}
	return fmt.Sprintf("the apply would %v %s", actions, c.Address)
}

func isEmpty(list json.RawMessage) bool {
	text := string(bytes.Join(bytes.Fields(list), nil))
	return text == "[]" || text == "null"
}

// changedOutput returns that an apply would change an output of the root, which no drift of a resource explains: its
// value is that of the last apply.
func changedOutput(changes json.RawMessage) string {
	var outputs map[string]struct {
		Actions []string `json:"actions"`
	}
	if len(changes) > 0 && json.Unmarshal(changes, &outputs) != nil {
		return "the plan has outputs that driftd cannot read"
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if actions := outputs[name].Actions; len(actions) != 1 || actions[0] != "no-op" {
			return fmt.Sprintf("the apply would change the output %s, which no apply has set so far", name)
		}
	}
	return ""
}
