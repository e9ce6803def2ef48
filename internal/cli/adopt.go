package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy/yamledit"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) adopt() *cobra.Command {
	var live liveFlags
	var target adoptTarget
	cmd := &cobra.Command{
		Use:   "adopt ID [PATH…] {--to FILE | --branch NAME}",
		Short: "Write a manifest that declares the live values of a finding, if a scan proves it",
		Long: `Write the manifest of a finding with its live values to a new file, or commit it on
a new branch of the git repository that contains it. Only the text of the changed
fields differs; comments and layout stay. Work tree, index and existing branches
are never changed, and nothing is pushed.

Before anything is written, driftd scans a private copy of the declaration twice, as it
is and with the new manifest, against the live system. The manifest is only written
if the finding is gone and no other finding appears.

For a finding of a scan with PATH, give the same PATH and the same flags as for
driftd scan; otherwise the declaration is that of the configuration. Folders of
manifests can be adopted (dir: of a declaration). For anything else, driftd suggest
says what to edit. Secrets are never adopted.`,
		Example: `  driftd adopt 3f2a --to web.yaml
  driftd adopt 3f2a ./deploy --live cluster.yaml --to web.yaml
  driftd adopt 3f2a ./deploy --branch adopt-web`,
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
	cmd.Flags().StringVar(&target.file, "to", "", "write to this file, which must not exist")
	cmd.Flags().StringVar(&target.branch, "branch", "", "commit on this branch, which must not exist")
	return cmd
}

// An adoptTarget is where an adopted manifest is written: to a file or on a branch.
type adoptTarget struct{ file, branch string }

func (t adoptTarget) check(cmd *cobra.Command) error {
	switch {
	case t.file == "" && t.branch == "":
		return errors.New("nothing to write to: name a new file with --to FILE, or a new branch with --branch NAME")
	case t.branch != "":
		return apart(cmd, "branch", "to")
	}
	return checkNewFile(t.file)
}

// write writes a manifest, and returns what was done in a sentence.
func (t adoptTarget) write(f *model.Finding, a *adoption, edited []byte) (done string, err error) {
	file, _ := cutLine(f.Address)
	if t.branch == "" {
		return fmt.Sprintf("Written to %s. Put it in the place of %s, and commit it.", t.file, file), writeNew(t.file, edited)
	}
	paths := make([]string, len(f.Changes))
	for i := range f.Changes {
		paths[i] = phrase.Visible(f.Changes[i].Path)
	}
	message := fmt.Sprintf("%s: adopt the live state of %s\n\nFields: %s.\nA scan proved it: driftd finding %s.\n", phrase.Visible(file),
		phrase.Visible(phrase.Kind(f.Kind)+" "+f.Key.ID), strings.Join(paths, ", "), f.ID)
	hash, err := gitrepo.NewBranch{Name: t.branch, Message: message, Dir: a.folder.Dir, File: filepath.Join(a.folder.Dir, a.file), Content: edited}.Create(time.Now())
	if err != nil {
		return "", fmt.Errorf("--branch: %w", err)
	}
	return fmt.Sprintf("Committed on the new branch %s as %s. Nothing is pushed: review it, then push it.", t.branch, hash[:10]), nil
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
	if err := adoptable(&f); err != nil {
		return err
	}
	a, err := c.adoption(ctx, cmd, &f, paths, live)
	if err != nil {
		return err
	}
	if target.file != "" && inside(target.file, a.folder.Dir) {
		return fmt.Errorf("--to: %s is in the declaration %s, which would then declare everything in it twice: name a file elsewhere", target.file, f.Declaration)
	}
	edited, err := a.edit(&f)
	if err != nil {
		return byHand(&f, err)
	}
	stop := c.progress("scanning with and without the change")
	proof, err := a.prove(ctx, &f, edited)
	stop()
	if err != nil {
		return byHand(&f, err)
	}
	done, err := target.write(&f, a, edited)
	if err != nil {
		return err
	}
	return c.printAdopted(&f, proof, done)
}

// byHand adds the next step to the reason why a finding cannot be adopted.
func byHand(f *model.Finding, err error) error {
	return fmt.Errorf("not adopted: %w; driftd suggest %s says what to edit", err, f.ID)
}

// adoptable returns an error for a finding that no edit of a manifest can adopt.
func adoptable(f *model.Finding) error {
	secret := slices.IndexFunc(f.Changes, func(c model.Change) bool { return c.Secret })
	switch {
	case !f.Resolved.IsZero():
		return fmt.Errorf("finding %s is resolved: there is nothing to adopt", f.ID)
	case !slices.Contains([]model.Verdict{model.Changed, model.Undeclared, model.Bypassed}, f.Verdict) || len(f.Changes) == 0:
		return byHand(f, fmt.Errorf("the finding is %s, and only changed, undeclared and bypassed fields can be adopted", f.VerdictText()))
	case !strings.HasPrefix(f.Kind, "kubernetes/"):
		return byHand(f, errors.New("only fields of Kubernetes manifests can be adopted"))
	case secret >= 0:
		return byHand(f, fmt.Errorf("%s is a secret, and its value is never written", f.Changes[secret].Path))
	}
	return nil
}

// adoption opens the declaration and the source of a finding.
func (c *command) adoption(ctx context.Context, cmd *cobra.Command, f *model.Finding, paths []string, live liveFlags) (*adoption, error) {
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
	a := &adoption{cfg: cfg, declaration: cfg.Declarations[0], folder: manifests.Defaults()}
	if a.around, err = c.around(cfg); err != nil {
		return nil, err
	}
	if err := a.declaration.Decode(&a.folder); err != nil {
		return nil, err
	}
	if a.folder.Dir == "" {
		return nil, byHand(f, fmt.Errorf("the declaration %s is read from git, and only folders can be edited: check it out, run driftd scan on the folder, and adopt the finding of that scan", f.Declaration))
	}
	address, line := cutLine(f.Address)
	file, ok := a.folder.File(address)
	if !ok || line == 0 {
		return nil, fmt.Errorf("%s is not a place in a file of %s: name the folder as in the scan of the finding", f.Address, a.folder.Dir)
	}
	a.file, a.line = file, line
	err = a.openSources()
	return a, err
}

// cutLine splits an address into file and line; the line is 0 if it has none.
func cutLine(address string) (file string, line int) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return address, 0
	}
	line, err := strconv.Atoi(address[i+1:])
	if err != nil {
		return address, 0
	}
	return address[:i], line
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
	sorted, err := sortPaths(paths)
	if err != nil {
		return nil, err
	}
	sorted.manifests = slices.DeleteFunc(sorted.manifests, func(d config.Declaration) bool { return d.Name != f.Declaration })
	if len(sorted.manifests) == 0 {
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
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return nil, err
	}
	one := *cfg
	one.Declarations = slices.DeleteFunc(slices.Clone(cfg.Declarations), func(d config.Declaration) bool { return d.Name != f.Declaration })
	one.Sources = slices.DeleteFunc(slices.Clone(cfg.Sources), func(s config.Source) bool { return s.Name != f.Source })
	switch {
	case len(one.Declarations) == 0 || len(one.Sources) == 0:
		return nil, fmt.Errorf("the configuration has no declaration %s or no source %s: for a finding of a scan with PATH, give the PATH and the flags of the scan", f.Declaration, f.Source)
	case one.Declarations[0].Type != manifests.Definition().Type:
		return nil, byHand(f, fmt.Errorf("the declaration %s is of type %s, and only manifests can be adopted", f.Declaration, one.Declarations[0].Type))
	}
	return &one, nil
}

// edit returns the manifest of a finding with its live values.
func (a *adoption) edit(f *model.Finding) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(a.folder.Dir, a.file))
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	changes := make([]yamledit.Change, len(f.Changes))
	for i := range f.Changes {
		changes[i] = yamledit.Change{Path: f.Changes[i].Path, Was: f.Changes[i].Declared, Value: f.Changes[i].Live}
	}
	return yamledit.Object(data, a.line, changes)
}

// printAdopted prints what was written, and what the scans proved. It prints no lines of the file,
// which may contain secrets.
func (c *command) printAdopted(f *model.Finding, proof proof, done string) error {
	out := c.streams.Out
	for i := range f.Changes {
		change := &f.Changes[i]
		fmt.Fprintf(out, "%s: %s → %s\n", phrase.Visible(change.Path), phrase.Line(sideOf(change.Declared), 200), phrase.Line(sideOf(change.Live), 200))
	}
	name := phrase.Visible(phrase.Kind(f.Kind) + " " + f.Key.ID)
	switch {
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
