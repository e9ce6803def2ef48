package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) adopt() *cobra.Command {
	var live liveFlags
	var target adoptTarget
	cmd := &cobra.Command{
		Use:   "adopt ID [PATH…] {--to FILE | --branch NAME}",
		Short: "Write a declaration of the live values of a finding, if a scan proves it",
		Long: `Write the manifest or the Terraform file of a finding with its live values to a new
file, or commit it on a new branch. Only the text of the changed fields differs;
comments and layout stay. For an unmanaged resource that Terraform can import, the
file has an import block and the configuration of the resource. The declaration
itself, work trees, indexes and existing branches are never changed, and nothing is
pushed.

Before anything is written, driftd scans the declaration twice, as it is and with the
edited file in a private copy. The file is only written if the finding is gone and no
other finding appears. For Terraform the plan must have no change for the resource; for
an import it must say: 1 to import, 0 to add, 0 to change, 0 to destroy.

For a finding of a scan with PATH, give the same PATH and the same flags as for
driftd scan; otherwise the declaration is that of the configuration. A branch for a
declaration that is read from git is made in the repository of the current folder,
which must have the commit. For anything else, driftd suggest says what to edit.
Secrets are never adopted.

Exit codes:
  0  the file was written, and scans proved it
  1  nothing was written: usage, configuration or database, or it is not proved`,
		Example: `  driftd adopt 3f2a --to web.yaml
  driftd adopt 3f2a ./deploy --live cluster.yaml --to web.yaml
  driftd adopt 3f2a ./infra --branch adopt-web
  driftd adopt 3f2a --to - | diff main.tf -`,
		ValidArgsFunction: c.completeFindings,
		Args:              some("finding"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := target.check(cmd); err != nil {
				return err
			}
			return c.adoptTo(cmd, args[0], args[1:], live, target)
		},
	}
	live.add(cmd)
	cmd.Flags().StringVar(&target.file, "to", "", "write to this file, which must not exist; - is standard output")
	cmd.Flags().StringVar(&target.branch, "branch", "", "commit on this branch, which must not exist")
	return cmd
}

// An adoptTarget is where an adopted file is written: to a file, to standard output, or on a branch.
type adoptTarget struct{ file, branch string }

// stdout is the file that stands for standard output.
const stdout = "-"

func (t adoptTarget) check(cmd *cobra.Command) error {
	switch {
	case t.file == "" && t.branch == "":
		return errors.New("nothing to write to: name a new file with --to FILE, or a new branch with --branch NAME")
	case t.branch != "":
		return apart(cmd, "branch", "to")
	case t.file == stdout:
		return nil
	}
	return checkNewFile(t.file)
}

// write writes a change, and returns what was done in a sentence.
func (t adoptTarget) write(out io.Writer, f *model.Finding, a *adoption, c *change) (done string, err error) {
	next := fmt.Sprintf("Put it in the place of %s, and commit it.", c.shown)
	if c.added {
		next = fmt.Sprintf("Put it into the root as %s, and commit it.", c.shown)
	}
	switch {
	case t.file == stdout:
		_, err := out.Write(c.content)
		return "Written to standard output. " + next, err
	case t.file != "":
		if err := writeNew(t.file, c.content); err != nil {
			return "", fmt.Errorf("--to: %w", err)
		}
		return fmt.Sprintf("Written to %s. %s", t.file, next), nil
	}
	b := a.files.branch(c)
	b.Name, b.Message = t.branch, commitMessage(f, b.File)
	hash, err := b.Create(time.Now())
	if err != nil {
		return "", fmt.Errorf("--branch: %w", err)
	}
	return fmt.Sprintf("Committed on the new branch %s as %s. Nothing is pushed: review it, then push it.", t.branch, hash[:10]), nil
}

// commitMessage returns the message of a commit that changes a file of a repository.
func commitMessage(f *model.Finding, file string) string {
	paths := make([]string, len(f.Changes))
	for i := range f.Changes {
		paths[i] = phrase.Visible(f.Changes[i].Path)
	}
	message := fmt.Sprintf("%s: adopt the live state of %s\n\n", phrase.Visible(file), nameOf(f))
	if len(paths) > 0 {
		message += fmt.Sprintf("Fields: %s.\n", strings.Join(paths, ", "))
	}
	return message + fmt.Sprintf("A scan proved it: driftd finding %s.\n", f.ID)
}

// nameOf returns the kind and the ID of a finding's resource. The ID of one that only Terraform has
// is its address, which has the type.
func nameOf(f *model.Finding) string {
	if model.IsTerraformKind(f.Kind) {
		return phrase.Visible(f.Key.ID)
	}
	return phrase.Visible(phrase.Kind(f.Kind) + " " + f.Key.ID)
}

// adoptTo writes the adopted manifest of a finding.
func (c *command) adoptTo(cmd *cobra.Command, id string, paths []string, live liveFlags, target adoptTarget) error {
	ctx := cmd.Context()
	var f model.Finding
	err := c.ask(cmd, func(ctx context.Context, client *server.Client) error {
		detail, err := client.Finding(ctx, id)
		f = detail.Finding
		return err
	})
	if err != nil {
		return err
	}
	a, err := c.adoption(ctx, cmd, &f, paths, live)
	if err != nil {
		return err
	}
	f = remedy.Adopted(&f)
	if err := a.checkTarget(target); err != nil {
		return err
	}
	stop := c.progress("scanning with and without the change")
	proof, err := a.prove(ctx, &f)
	stop()
	if err != nil {
		return c.byHand(&f, err)
	}
	if err := a.checkTarget(target); err != nil {
		return err
	}
	done, err := target.write(c.streams.Out, &f, a, &proof.change)
	if err != nil {
		return err
	}
	out := c.streams.Out
	if target.file == stdout {
		out = c.streams.Err
	}
	if err := printAdopted(out, &f, proof, done); err != nil || target.branch != "" || proof.change.added {
		return err
	}
	_, err = fmt.Fprintln(out, "It has only the edit for this finding: to adopt another finding of the same file, put this one in its place first.")
	return err
}

// checkTarget returns an error for a file in the declaration.
func (a *adoption) checkTarget(target adoptTarget) error {
	if target.file == "" || target.file == stdout || !a.declares(target.file) {
		return nil
	}
	return fmt.Errorf("--to: %s is in the declaration %s, which would then declare everything in it twice: name a file elsewhere", target.file, a.cfg.Declarations[0].Name)
}

// byHand adds the next step to the reason why a finding cannot be adopted.
func (c *command) byHand(f *model.Finding, err error) error {
	suggest := remedy.Quote(append([]string{"driftd", "suggest", f.ID}, c.placeFlags()...)...)
	if next := remedy.Instead(f, cmp.Or(suggest, "driftd suggest")); next != "" {
		return fmt.Errorf("not adopted: %w; %s", err, next)
	}
	return fmt.Errorf("not adopted: %w", err)
}

// adoption opens the declaration and the source of a finding.
func (c *command) adoption(ctx context.Context, cmd *cobra.Command, f *model.Finding, paths []string, live liveFlags) (*adoption, error) {
	if why := remedy.Adoptable(f, assumed(f)); why != "" {
		return nil, c.byHand(f, errors.New(why))
	}
	var cfg *config.Config
	var err error
	if len(paths) > 0 {
		cfg, err = c.adoptionOfPaths(ctx, f, paths, live)
	} else {
		cfg, err = c.adoptionOfConfig(cmd, f, live)
	}
	if err != nil {
		return nil, err
	}
	a := &adoption{cfg: cfg}
	if a.around, err = c.around(cfg); err != nil {
		return nil, err
	}
	if a.files, err = c.filesOf(&cfg.Declarations[0], f, func() map[string]*model.Kind { return a.kinds(f.Source) }); err != nil {
		return nil, err
	}
	err = a.openSources()
	return a, err
}

// filesOf returns the files of the declaration of a finding.
func (c *command) filesOf(d *config.Declaration, f *model.Finding, kinds func() map[string]*model.Kind) (adopter, error) {
	facts := assumed(f)
	facts.Declared = d.Type
	if why := remedy.Adoptable(f, facts); why != "" {
		return nil, c.byHand(f, errors.New(why))
	}
	if d.Type == terraform.Type {
		return newRootFiles(d)
	}
	return newManifestFiles(d, f.Address, kinds)
}

// assumed returns the facts of a finding whose declaration can be edited.
func assumed(f *model.Finding) remedy.Facts {
	facts := remedy.Facts{Declared: terraform.Type, Planned: true}
	if strings.HasPrefix(f.Kind, "kubernetes/") {
		facts.Declared = manifests.Definition().Type
	}
	facts.Import, facts.Provider = newImports()(model.Ref{Kind: f.Kind, ID: f.Key.ID}, f.Place, f.Name)
	return facts
}

// adoptionOfPaths returns a configuration with the declaration and the source of a scan of paths.
func (c *command) adoptionOfPaths(ctx context.Context, f *model.Finding, paths []string, live liveFlags) (*config.Config, error) {
	dir, err := c.userStateDir()
	if err != nil {
		return nil, err
	}
	cfg := config.Default()
	cfg.StateDir = dir
	around, err := c.around(cfg)
	if err != nil {
		return nil, err
	}
	sorted, err := sortPaths(ctx, paths)
	if err != nil {
		return nil, err
	}
	other := func(d config.Declaration) bool { return d.Name != f.Declaration }
	sorted.manifests, sorted.roots = slices.DeleteFunc(sorted.manifests, other), slices.DeleteFunc(sorted.roots, other)
	switch {
	case len(sorted.roots) > 0:
		cfg.Declarations = sorted.roots
		return cfg, nil
	case len(sorted.manifests) == 0:
		return nil, fmt.Errorf("the finding is of declaration %s, and no PATH is: give the PATH of its scan", f.Declaration)
	}
	if _, err := readManifests(ctx, cfg, sorted.manifests, live, around); err != nil {
		return nil, err
	}
	if cfg.Sources[0].Name != f.Source {
		return nil, fmt.Errorf("the finding is of source %s, and the flags name %s: give the flags of its scan", f.Source, cfg.Sources[0].Name)
	}
	cfg.Declarations = governing(sorted.manifests, f.Source)
	return cfg, nil
}

// adoptionOfConfig returns the configuration with only the declaration and the source of a finding.
func (c *command) adoptionOfConfig(cmd *cobra.Command, f *model.Finding, live liveFlags) (*config.Config, error) {
	if live.used(cmd) {
		return nil, errors.New("--live, --context, --kubeconfig and --namespace need the PATH of the scan")
	}
	cfg, err := c.loadExpanded(cmd)
	if err != nil {
		return nil, err
	}
	return c.oneDeclaration(cfg, f)
}

// oneDeclaration returns a configuration with only the declaration and the source of a finding.
func (c *command) oneDeclaration(cfg *config.Config, f *model.Finding) (*config.Config, error) {
	one := *cfg
	one.Declarations = slices.DeleteFunc(slices.Clone(cfg.Declarations), func(d config.Declaration) bool { return !mayDeclare(&d, f) })
	if len(one.Declarations) == 0 {
		if name := governsByState(cfg, f); name != "" {
			return nil, c.byHand(f, fmt.Errorf("declaration %s governs %s with engine: state, which reads no configuration: adopt needs engine: plan", name, f.Source))
		}
		return nil, fmt.Errorf("the configuration has no declaration %s: for a finding of a scan with PATH, give the PATH and the flags of the scan", cmp.Or(f.Declaration, "that is a Terraform root and governs "+f.Source))
	}
	if len(one.Declarations) > 1 {
		return nil, c.byHand(f, fmt.Errorf("several declarations govern %s: %s and %s", f.Source, one.Declarations[0].Name, one.Declarations[1].Name))
	}
	governs := one.Declarations[0].Governs
	one.Sources = slices.DeleteFunc(slices.Clone(cfg.Sources), func(s config.Source) bool { return s.Name != f.Source && !slices.Contains(governs, s.Name) })
	if f.Source != model.LiveSource(f.Declaration) && !slices.ContainsFunc(one.Sources, func(s config.Source) bool { return s.Name == f.Source }) {
		return nil, fmt.Errorf("the configuration has no source %s: for a finding of a scan with PATH, give the PATH and the flags of the scan", f.Source)
	}
	return &one, nil
}

// governsByState returns the name of a Terraform declaration that governs the source of an unmanaged
// resource and that driftd does not plan; "" if there is none.
func governsByState(cfg *config.Config, f *model.Finding) string {
	i := slices.IndexFunc(cfg.Declarations, func(d config.Declaration) bool {
		settings := terraform.Defaults()
		return f.Declaration == "" && d.Type == terraform.Type && slices.Contains(d.Governs, f.Source) && d.Decode(&settings) == nil && !settings.Plans()
	})
	if i < 0 {
		return ""
	}
	return cfg.Declarations[i].Name
}

// mayDeclare reports whether a declaration is that of a finding; for an unmanaged resource, whether
// it is a Terraform root that can import it.
func mayDeclare(d *config.Declaration, f *model.Finding) bool {
	if f.Declaration != "" {
		return d.Name == f.Declaration
	}
	settings := terraform.Defaults()
	return d.Type == terraform.Type && slices.Contains(d.Governs, f.Source) && d.Decode(&settings) == nil && settings.Plans()
}

// printAdopted prints what was written, and what the scans proved. It prints no lines of the file,
// which may contain secrets.
func printAdopted(out io.Writer, f *model.Finding, proof proof, done string) error {
	for i := range f.Changes {
		change := &f.Changes[i]
		fmt.Fprintf(out, "%s: %s → %s\n", phrase.Visible(change.Path), phrase.Line(sideOf(change.Declared), 200), phrase.Line(sideOf(change.Live), 200))
	}
	name := nameOf(f)
	switch {
	case proof.imported:
		fmt.Fprintf(out, "Proved by a plan: 1 to import, 0 to add, 0 to change, 0 to destroy. %s is in sync after the next apply.\n", name)
		fmt.Fprintln(out, "Check the configuration for secrets before you commit it.")
	case proof.codified:
		fmt.Fprintf(out, "Proved by a scan: live and declared agree. %s is in sync after the next apply, which renews the record of what was applied.\n", name)
	case proof.left > 0:
		fmt.Fprintf(out, "Proved by a scan: the finding is gone. %s has %s left.\n", name, phrase.Count(proof.left, "other finding"))
	default:
		fmt.Fprintf(out, "Proved by a scan: %s is in sync.\n", name)
	}
	_, err := fmt.Fprintln(out, phrase.Visible(done))
	return err
}

func sideOf(v *model.Value) string {
	if v == nil {
		return "(absent)"
	}
	return v.String()
}
