package terraform

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/literal"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

var (
	_ declared.Historian = (*plans)(nil)
	_ declared.Historian = (*states)(nil)
)

// History implements declared.Historian. A state contains applied values and no declared ones, so that
// every Past has a Gap.
func (s *states) History(_ context.Context, _ string, claims []*model.Claim) (model.History, error) {
	return model.History{Pasts: gapped(claims, "a state does not record what was declared before")}, nil
}

// History implements declared.Historian. It evaluates the literal values in the files of each commit. It
// does not run Terraform, because the commits of other branches are untrusted code.
func (p *plans) History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error) {
	if p.repository == nil {
		return model.History{Pasts: gapped(claims, "a plain folder keeps no history")}, nil
	}
	query := gitrepo.Query{Ref: p.config.Ref, Revision: revision, MaxFile: literal.MaxFile}
	var pasts []model.Past
	head, err := p.repository.History(ctx, query, func(log gitrepo.Log) error {
		reading, cancel := await.Half(ctx)
		defer cancel()
		pasts = p.pasts(reading, revision, log, claims)
		return nil
	})
	if err != nil {
		return model.History{}, err
	}
	return model.History{Head: head, Pasts: pasts}, nil
}

// gapped returns a past without versions for each claim. The reason is its gap.
func gapped(claims []*model.Claim, reason string) []model.Past {
	pasts := make([]model.Past, len(claims))
	for i := range pasts {
		pasts[i].Gap = reason
	}
	return pasts
}

// pasts returns the past of each claim, from the commits of a log.
func (p *plans) pasts(ctx context.Context, revision string, log gitrepo.Log, claims []*model.Claim) []model.Past {
	instances, known := p.planned.at(revision)
	switch {
	case !known:
		return gapped(claims, "the commit was not planned")
	case len(log.Ref.Commits) == 0:
		return gapped(claims, joined(log.Gap, "no commit was read"))
	}
	c := &commits{ctx: ctx, plans: p, parser: literal.NewParser(), roots: map[string]*literal.Root{}}
	pasts := make([]model.Past, len(claims))
	for i, claim := range claims {
		instance := instances[claim.Address]
		if instance == nil {
			pasts[i].Gap = joined(log.Gap, "no difference between what is declared and recorded was planned")
			continue
		}
		pasts[i] = newPast(c, claim, instance).read(log)
	}
	return pasts
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "; ")
}

// commits evaluates the root at commits.
type commits struct {
	ctx    context.Context //nolint:containedctx // it lives for one call of History
	plans  *plans
	parser *literal.Parser
	// roots are by hash.
	roots map[string]*literal.Root
}

// root returns the root module at a commit.
func (c *commits) root(commit *gitrepo.LogCommit) *literal.Root {
	if known := c.roots[commit.Hash]; known != nil {
		return known
	}
	dir, run := c.plans.config.Root(), c.plans.config.Run
	root := literal.NewRoot(commit.Files, dir, run.literalOptions(commit.Files, dir), c.parser)
	c.roots[commit.Hash] = root
	return root
}

// literalOptions returns how the settings of a plan set variables. Values from
// outside of the repository are unknown, because they may have been different at
// earlier commits.
func (r Run) literalOptions(files fs.FS, dir string) literal.Options {
	passed, err := r.passed()
	foreign := func(variable string) bool { return r.foreign(variable, passed) }
	if err != nil || isTerragrunt(files, dir) {
		foreign = func(string) bool { return true }
	}
	return literal.Options{Foreign: foreign, VarFiles: slices.DeleteFunc(slices.Clone(r.VarFiles), filepath.IsAbs)}
}

// isTerragrunt reports whether Terragrunt may set variables.
func isTerragrunt(files fs.FS, dir string) bool {
	for _, name := range []string{"terragrunt.hcl", "terragrunt.hcl.json"} {
		if _, err := fs.Stat(files, path.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// passed returns the variables of the environment that the settings may set, by name or
// pattern.
func (r Run) passed() ([]string, error) {
	passed := slices.AppendSeq(slices.Clone(r.PassEnv), maps.Keys(r.Env))
	for _, file := range r.EnvFiles {
		env, err := plan.ReadEnvFile(file)
		if err != nil {
			return nil, err
		}
		passed = slices.AppendSeq(passed, maps.Keys(env))
	}
	return passed, nil
}

// foreign reports whether something outside of the repository may set a variable; passed
// are the variables of the environment.
func (r Run) foreign(variable string, passed []string) bool {
	if _, set := r.Vars[variable]; set || slices.ContainsFunc(r.VarFiles, filepath.IsAbs) {
		return true
	}
	return slices.ContainsFunc(passed, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		if open {
			return strings.HasPrefix("TF_VAR_"+variable, prefix) || strings.HasPrefix(planArguments, prefix)
		}
		return pattern == "TF_VAR_"+variable || pattern == "TF_CLI_ARGS" || pattern == planArguments
	})
}

// at evaluates an address at a commit.
func (c *commits) at(commit *gitrepo.LogCommit, address string) (literal.Resource, error) {
	if c.ctx.Err() != nil {
		return literal.Resource{}, fmt.Errorf("evaluate: %w", context.Cause(c.ctx))
	}
	return c.root(commit).Resource(address)
}

// planArguments names the environment variable that adds arguments to a plan.
const planArguments = "TF_CLI_ARGS_plan"
