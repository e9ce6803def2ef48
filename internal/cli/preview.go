package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/timeparse"
)

// previewFlags are the flags of preview.
type previewFlags struct {
	plan, declaration, ref, old string
	hidden, planOnly            bool
}

func (c *command) preview() *cobra.Command {
	var f previewFlags
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "List the manual changes that the next apply or sync would erase",
		Long: `List each manual change that the next apply or sync would erase, with who made it,
when, and how old it is. Bypassed changes come first: an apply erases them, and no
commit has them. Accepted findings are listed, too. Nothing is changed.

With --plan, the changes are those of a Terraform or OpenTofu plan, given as the
output of "terraform show -json tfplan": what it overwrites, creates again, replaces
and destroys. Authors and ages are those of the findings that the daemon or the
database has for the same objects. A plan does not show that a value was applied from
elsewhere and is in no commit (bypassed): only a stored scan of the same root does.
Without one, what the plan changes is not checked, and the exit code is 3. With
--plan-only no scan is used, and the exit code is that of the plan alone.

Without --plan, the changes are those of the open findings, of one declaration or
of all.

With --ref, the declarations that are read from git (manifests, flux, argocd, helm,
terraform) are read at this branch, tag or full commit hash, and compared with the live
systems now. Run it in the pipeline of a pull request. A root of Terraform is planned at the ref only
if its settings restrict what a plan runs (allow.providers, refuse). Nothing is stored.

Exit codes:
  0  no such change is known, and everything was checked
  1  usage, configuration, database or plan: the command could not run
  2  an apply erases something at or above --fail-on (default: anything)
  3  no such change, but something was not checked`,
		Example: `  terraform plan -out tfplan && terraform show -json tfplan > tfplan.json
  driftd preview --plan tfplan.json
  terraform show -json tfplan | driftd preview --plan - --declaration infra
  driftd preview --plan tfplan.json --plan-only
  driftd preview --declaration shop --old 7d -o markdown
  driftd preview --declaration shop --ref my-branch`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runPreview(cmd, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.plan, "plan", "", "JSON of a Terraform or OpenTofu plan; - for the standard input")
	flags.BoolVar(&f.planOnly, "plan-only", false, "use no scan: accept that changes applied from elsewhere, and authors, are not known")
	flags.StringVar(&f.declaration, "declaration", "", "only this declaration; with --plan, the declaration of the plan")
	flags.StringVar(&f.ref, "ref", "", "read declarations from git at this branch, tag or full commit hash")
	flags.StringVar(&f.old, "old", "24h", "age from which on a change is marked as old: 24h, 30d")
	flags.BoolVar(&f.hidden, "hidden", false, "include what an ignore rule hides")
	completeFlag(cmd, "declaration", c.ofLastRun(declarationNames))
	c.failOn.add(cmd)
	c.outputFlag(cmd, report.PreviewFormats()...)
	return cmd
}

func (c *command) runPreview(cmd *cobra.Command, f *previewFlags) error {
	if err := c.failOn.check(); err != nil {
		return err
	}
	if err := errors.Join(apart(cmd, "plan", "ref"), apart(cmd, "plan-only", "declaration")); err != nil {
		return err
	}
	if f.planOnly && !cmd.Flags().Changed("plan") {
		return errors.New("--plan-only needs --plan: " + seeHelp(cmd))
	}
	old, err := timeparse.ParseDuration(f.old)
	if err != nil {
		return fmt.Errorf("--old: %w", err)
	}
	if err := report.WritePreview(io.Discard, c.output, preview.Preview{}, report.Options{}); err != nil {
		return err
	}
	o := preview.Options{Now: time.Now(), Old: old, Declaration: f.declaration, Hidden: f.hidden, PlanOnly: f.planOnly}
	var p preview.Preview
	switch {
	case cmd.Flags().Changed("plan"):
		p, err = c.previewPlan(cmd, f.plan, o)
	case cmd.Flags().Changed("ref"):
		p, err = c.previewRef(cmd, f.ref, o)
	default:
		p, err = c.previewFindings(cmd, o)
	}
	if err != nil {
		return err
	}
	if err := report.WritePreview(c.streams.Out, c.output, p, c.reportOptions()); err != nil {
		return err
	}
	return c.failOn.previewStatus(&p)
}

// previewFindings previews an apply of declarations by their findings.
func (c *command) previewFindings(cmd *cobra.Command, o preview.Options) (preview.Preview, error) {
	known, err := c.known(cmd, o.Declaration)
	if err != nil {
		return preview.Preview{}, err
	}
	return preview.FromFindings(known, o)
}

// previewPlan previews an apply of a plan.
func (c *command) previewPlan(cmd *cobra.Command, file string, o preview.Options) (preview.Preview, error) {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return preview.Preview{}, err
	}
	defer limitScan(cfg.MaxMemory)()
	// The digests of this plan are compared with each other only, and not shown.
	key := make([]byte, 32)
	rand.Read(key)
	room := secret.New(model.NewSealer(key), secret.Options(cfg.Secrets))
	name := planName(file)
	plan, err := readPlan(cmd, file, o.Declaration, room)
	if err != nil {
		return preview.Preview{}, err
	}
	known, err := c.knownOfPlan(cmd, o)
	if err != nil {
		return preview.Preview{}, err
	}
	p, err := preview.FromPlan(plan, known, o)
	p.Plan = name
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// planName returns the name of a plan's file.
func planName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// readPlan reads the JSON of a plan from a file, or from the standard input, and seals it.
func readPlan(cmd *cobra.Command, file, declaration string, room *secret.Room) (plan preview.Plan, err error) {
	r := cmd.InOrStdin()
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return plan, fmt.Errorf("read plan: %w", err)
		}
		defer func() { _ = opened.Close() }() // opened read-only
		r = opened
	}
	if plan, err = terraform.ReadPlan(r, declaration, room.Sealer()); err != nil {
		return plan, fmt.Errorf("%s: %w", planName(file), room.Error(err))
	}
	plan.Declaration = room.Declaration(plan.Declaration)
	for i := range plan.Gaps {
		plan.Gaps[i].Reason = room.Text(plan.Gaps[i].Reason)
	}
	return plan, nil
}

// knownOfPlan returns what is stored for the preview of a plan. That there is neither a daemon nor a
// database is an error if their place was named: a wrong one would hide what is known.
func (c *command) knownOfPlan(cmd *cobra.Command, o preview.Options) (preview.Known, error) {
	if o.PlanOnly {
		return preview.Known{Missing: "only the plan was read"}, nil
	}
	known, err := c.known(cmd, o.Declaration)
	if errors.Is(err, errNoScan) && !c.placed() {
		return preview.Known{Missing: err.Error()}, nil
	}
	return known, err
}

// placed reports whether the state folder, or the configuration that names it, was given.
func (c *command) placed() bool {
	return cmp.Or(c.stateDir, c.configFile, os.Getenv("DRIFTD_STATE_DIR"), os.Getenv("DRIFTD_CONFIG")) != ""
}

// known returns what the daemon or the database has stored on a declaration, or on all if it is "".
// The error is errNoScan if there is neither.
func (c *command) known(cmd *cobra.Command, declaration string) (known preview.Known, err error) {
	err = c.ask(cmd, func(ctx context.Context, client *server.Client) error {
		p, err := client.Preview(ctx, declaration)
		known = preview.Known{Findings: p.Findings, Run: p.LastRun, Objects: p.Objects}
		return err
	})
	return known, err
}

// previewStatus returns the exit code of a preview, as an error; nil for 0.
func (f *failOn) previewStatus(p *preview.Preview) error {
	for i := range p.Items {
		if f.includes(p.Items[i].Severity) {
			return exitStatus(exitDrift)
		}
	}
	if len(p.Gaps) > 0 {
		return exitStatus(exitUnchecked)
	}
	return nil
}
