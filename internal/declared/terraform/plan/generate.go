package plan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/hcledit"
)

// The files of an import in the private copy.
const (
	importFile    = "driftd_import.tf"
	generatedFile = "driftd_generated.tf"
)

// maxGenerated bounds the generated configuration of one resource, in bytes.
const maxGenerated = 1 << 20

// maxTrials bounds the plans that are made to find the arguments that a provider generates but does
// not accept.
const maxTrials = 8

// Generate returns the configuration of the resource to which an import block refers, as the CLI generates
// it from the live resource. It omits arguments without a value, and those that the provider generates but
// does not accept. The caller must verify with a plan that the result changes nothing. Like Run, Generate
// works on a private copy.
func Generate(ctx context.Context, o Options, block string) (resource string, err error) {
	cli, terragrunt, err := o.find()
	switch {
	case err != nil:
		return "", err
	case terragrunt:
		return "", errors.New("the root is a Terragrunt root, and Terragrunt does not generate configuration")
	}
	tooLate := fmt.Errorf("timeout after %s: raise timeout, or split the root", o.timeout())
	return inWork(ctx, o, tooLate, func(ctx context.Context, w *work) (string, error) { return w.generate(ctx, cli, block) })
}

// generate generates the configuration in a work folder.
func (w *work) generate(ctx context.Context, path, block string) (string, error) {
	if err := w.prepare(ctx, false); err != nil {
		return "", err
	}
	if err := edit(w.root, map[string][]byte{importFile: []byte(block)}); err != nil {
		return "", err
	}
	r, err := w.start(ctx, path, false)
	if err != nil {
		return "", err
	}
	if err := r.initialize(ctx); err != nil {
		return "", err
	}
	if _, err := w.checkAfter(false); err != nil {
		return "", err
	}
	if _, err := r.selectWorkspace(ctx); err != nil {
		return "", err
	}
	file := filepath.Join(r.root, generatedFile)
	_, _, planErr := r.plan(ctx, "plan", tfexec.GenerateConfigOut(file))
	text, err := folder.ReadBounded(file, maxGenerated)
	if err != nil {
		return "", errors.Join(planErr, fmt.Errorf("the plan generates no configuration: %w", err))
	}
	return r.tryGenerated(ctx, text)
}

// tryGenerated plans with the generated configuration, and removes the arguments with errors until
// there are none.
func (r *runner) tryGenerated(ctx context.Context, text []byte) (string, error) {
	text, err := hcledit.WithoutEmpty(text)
	for range maxTrials {
		if err != nil {
			return "", fmt.Errorf("read the generated configuration: %w", err)
		}
		if err := edit(r.root, map[string][]byte{generatedFile: text}); err != nil {
			return "", err
		}
		plan, s, planErr := r.plan(ctx, "plan")
		if planErr == nil && !plan.Errored {
			return string(text), nil
		}
		lines := linesOf(s.diagnostics, generatedFile)
		if len(lines) == 0 {
			return "", planFailure(planErr, r.hidden(s.diagnostics))
		}
		text, err = hcledit.WithoutLines(text, lines)
	}
	return "", fmt.Errorf("the provider does not accept the configuration that it generates, after %d plans", maxTrials)
}

// linesOf returns the lines of a file that have errors.
func linesOf(list []Diagnostic, file string) []int {
	var lines []int
	for _, d := range list {
		if filepath.Base(d.File) == file && d.Line > 0 && !slices.Contains(lines, d.Line) {
			lines = append(lines, d.Line)
		}
	}
	return lines
}

// planFailure returns the error of a plan, or the summary of a partial one.
func planFailure(err error, list []Diagnostic) error {
	if err != nil {
		return err
	}
	return &failure{"plan", failures(list).summary()}
}
