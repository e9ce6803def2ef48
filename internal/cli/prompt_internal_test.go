package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/setup"
)

// TestChosenFrom checks the answers to a question with a list.
func TestChosenFrom(t *testing.T) {
	t.Parallel()
	things := []string{"prod", "edge", "3", "a b"}
	for answer, want := range map[string]string{"none": "", "all": "prod|edge|3|a b", "2,1": "prod|edge", " 1 , a b": "prod|a b", "3": "3", "1,1": "prod"} {
		if got, err := chosenFrom(things, answer); err != nil || strings.Join(got, "|") != want {
			t.Errorf("chosenFrom(%q) = %q, %v, want %s", answer, got, err, want)
		}
	}
	for _, answer := range []string{"0", "5", "lab", "1,", "-1"} {
		if got, err := chosenFrom(things, answer); err == nil {
			t.Errorf("chosenFrom(%q) = %q", answer, got)
		}
	}
}

// TestAsking answers every question of driftd init.
func TestAsking(t *testing.T) {
	t.Parallel()
	facts := setup.Facts{Contexts: []kubernetes.Context{{Name: "edge"}, {Name: "prod"}}, CurrentContext: "prod", Clouds: []string{"shop"},
		Trees: []setup.Tree{{Origin: gitrepo.Origin{URL: "https://git.example.org/a.git"}, Roots: []setup.Root{{Dir: "a", Outline: terraform.Outline{Providers: []terraform.ProviderOutline{{Name: "proxmox"}}}}}}}}
	flags := initFlags{file: "driftd.yaml"}
	flags.Contexts, flags.Clouds, flags.SlackTokenFile = facts.DefaultContexts(), facts.DefaultClouds(), "slack-token"
	var shown strings.Builder
	answers := "7\n1,2\n\npve\nhttps://pve.example.org\nfolder\nC01\n\n" + t.TempDir() + "/x.yaml\n"
	a := asking{newPrompter(strings.NewReader(answers), &shown), &facts, &flags, func(string) bool { return false }}
	if err := a.all(t.Context(), []string{"edge", "prod"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(flags.Contexts, []string{"edge", "prod"}) || !slices.Equal(flags.Clouds, []string{"shop"}) || flags.ProxmoxURL != "https://pve.example.org" ||
		!flags.WorkTree || flags.SlackChannel != "C01" || flags.SlackTokenFile != "slack-token" || !strings.HasSuffix(flags.file, "/x.yaml") {
		t.Errorf("chosen: %+v", flags)
	}
	for _, want := range []string{"2  prod", "[2]: ", `"7" is not in the list`, `"pve" is not an address`, "The address of the Proxmox VE that a manages"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("not shown: %s in:\n%s", want, shown.String())
		}
	}
	a.prompter = newPrompter(strings.NewReader("1"), io.Discard)
	if err := a.all(t.Context(), []string{"edge"}); err == nil || !strings.Contains(err.Error(), "the input ended") {
		t.Errorf("all() = %v", err)
	}
}

// TestPromptEnds checks that Ctrl-C ends a question.
func TestPromptEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("interrupted")
	cancel(stopped)
	in, out := io.Pipe()
	t.Cleanup(func() { _ = out.Close() })
	if _, err := newPrompter(in, io.Discard).line(ctx, "?", ""); !errors.Is(err, stopped) {
		t.Errorf("line() = %v", err)
	}
}
