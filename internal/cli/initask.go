package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/setup"
)

// completeChoices completes the choices with the answers of the user, or with the defaults.
func (c *command) completeChoices(cmd *cobra.Command, facts *setup.Facts, flags *initFlags) error {
	contexts := make([]string, len(facts.Contexts))
	for i := range facts.Contexts {
		contexts[i] = facts.Contexts[i].Name
	}
	var err error
	asks := !flags.yes && isTerminal(cmd.InOrStdin())
	given := cmd.Flags().Changed
	if given("context") {
		flags.Contexts, err = namedIn("--context", "the kubeconfig", contexts, flags.Contexts)
	} else {
		flags.Contexts = facts.DefaultContexts()
	}
	if given("cloud") {
		var cloudErr error
		flags.Clouds, cloudErr = namedIn("--cloud", "the clouds.yaml", facts.Clouds, flags.Clouds)
		err = errors.Join(err, cloudErr)
	} else {
		flags.Clouds = facts.DefaultClouds()
	}
	if err != nil {
		return err
	}
	if asks {
		a := asking{newPrompter(cmd.InOrStdin(), c.streams.Err), facts, flags, given}
		if err := a.all(cmd.Context(), contexts); err != nil {
			return err
		}
	}
	if missing := setup.Questions(facts, &flags.Choices); len(missing) > 0 {
		lines := make([]string, len(missing))
		for i, q := range missing {
			lines[i] = fmt.Sprintf("--%s (%s; none leaves it out)", q.Flag, q.Text)
		}
		return fmt.Errorf("driftd init needs %s", strings.Join(lines, ", "))
	}
	return flags.place(c.stateDir)
}

// place sets the folders of the configuration.
func (f *initFlags) place(stateDir string) (err error) {
	file := f.file
	if file == stdout {
		file = "driftd.yaml" // its paths are relative to this folder
	}
	if f.Base, err = filepath.Abs(filepath.Dir(file)); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if stateDir != "" {
		f.StateDir, err = filepath.Abs(stateDir)
	} else if !f.isService() {
		f.StateDir = "./state"
	}
	return err
}

// namedIn returns the names of a flag, each of which must be in a list.
func namedIn(flag, place string, known, names []string) ([]string, error) {
	if slices.Equal(names, []string{setup.None}) {
		return nil, nil
	}
	var problems []error
	for _, name := range names {
		if !slices.Contains(known, name) {
			has := "it has none"
			if len(known) > 0 {
				has = "it has " + strings.Join(known, ", ")
			}
			problems = append(problems, fmt.Errorf("%s %s is not in %s: %s", flag, name, place, has))
		}
	}
	return names, errors.Join(problems...)
}

// asking asks for the choices that no flag makes.
type asking struct {
	*prompter
	facts *setup.Facts
	flags *initFlags
	given func(flag string) bool
}

func (a asking) all(ctx context.Context, contexts []string) (err error) {
	if len(contexts) > 0 && !a.given("context") {
		if a.flags.Contexts, err = a.choose(ctx, "Kubernetes contexts to read", contexts, a.flags.Contexts); err != nil {
			return err
		}
	}
	if len(a.facts.Clouds) > 0 && !a.given("cloud") {
		if a.flags.Clouds, err = a.choose(ctx, "OpenStack clouds to read", a.facts.Clouds, a.flags.Clouds); err != nil {
			return err
		}
	}
	for _, q := range setup.Questions(a.facts, &a.flags.Choices) {
		answer := map[string]*string{"proxmox-url": &a.flags.ProxmoxURL, "netbox-url": &a.flags.NetBoxURL}[q.Flag]
		question := strings.ToUpper(q.Text[:1]) + q.Text[1:]
		if *answer, err = a.valid(ctx, question, setup.None, setup.CheckAddress); err != nil {
			return err
		}
	}
	if err := a.origin(ctx); err != nil {
		return err
	}
	if err := a.slack(ctx); err != nil {
		return err
	}
	if !a.given("output") {
		before := a.flags.file
		_, err = a.valid(ctx, "File to write", before, func(file string) error {
			a.flags.file = file
			if file == stdout {
				return nil
			}
			return a.flags.checkFile()
		})
	}
	return err
}

// origin asks whether git remotes are read.
func (a asking) origin(ctx context.Context) error {
	at := slices.IndexFunc(a.facts.Trees, func(t setup.Tree) bool { return t.Origin.URL != "" })
	if at < 0 || a.given("work-tree") {
		return nil
	}
	question := fmt.Sprintf("Read what is pushed to %s (git), or the folder as it is (folder)?", visible(a.facts.Trees[at].Origin.URL))
	answer, err := a.valid(ctx, question, "git", func(text string) error {
		if text != "git" && text != "folder" {
			return errors.New("want git or folder")
		}
		return nil
	})
	a.flags.WorkTree = answer == "folder"
	return err
}

// slack asks for the channel of notifications.
func (a asking) slack(ctx context.Context) (err error) {
	if a.given("slack-channel") {
		return nil
	}
	if a.flags.SlackChannel, err = a.line(ctx, "ID of the Slack channel for notifications, such as C0123456789", setup.None); err != nil {
		return err
	}
	if a.flags.SlackChannel == setup.None {
		a.flags.SlackChannel = ""
		return nil
	}
	if !a.given("slack-token-file") {
		a.flags.SlackTokenFile, err = a.line(ctx, "File with the token of the Slack bot", a.flags.SlackTokenFile)
	}
	return err
}
