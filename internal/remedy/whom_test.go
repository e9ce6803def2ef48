package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	tool := model.Actor{Name: "kubectl-edit", Via: model.ViaManagedFields, Confidence: model.Likely}
	bob := model.Actor{Name: "bob", Via: "audit log", Confidence: model.Exact}
	size := model.Change{Path: "data.size", Declared: str("2"), Live: str("8")}
	bobs := size
	bobs.Actor = &bob
	for name, tc := range map[string]struct {
		reason string
		actor  model.Actor
		owner  string
		change model.Change
		want   string
	}{
		"person":       {"the one who changed it", bob, "team-shop", size, "Ask bob"},
		"owner":        {"a program cannot be asked", tool, "team-shop", size, "Ask team-shop"},
		"nobody":       {"the program is named, as such", tool, "", size, "No person to ask is known; kubectl-edit wrote it"},
		"one field":    {"a person changed a field", tool, "team-shop", bobs, "Ask bob"},
		"unknown":      {"nothing is known", model.UnknownActor("no log"), "", size, "No person to ask is known"},
		"responsible":  {"the owner is", model.UnknownActor("no log"), "team-shop", size, "Ask team-shop"},
		"controller":   {"an account of the cluster is no person", model.Actor{Name: "system:serviceaccount:a:b", Via: "audit log", Confidence: model.Exact}, "", size, "No person to ask is known; system:serviceaccount:a:b wrote it"},
		"bot's commit": {"a bot of GitHub is no person", model.Actor{Name: "renovate[bot]", Via: "git", Confidence: model.Likely}, "team-shop", size, "Ask team-shop"},
	} {
		f := finding(model.Changed, "kubernetes/ConfigMap", "shop/web", "web.yaml:1", tc.change)
		f.Actor, f.Owner = tc.actor, tc.owner
		s := remedy.For(f, remedy.Facts{})
		if s.Ask.Title != tc.want {
			t.Errorf("%s: %s: %q, want %q", name, tc.reason, s.Ask.Title, tc.want)
		}
		program := slices.ContainsFunc(s.Ask.Notes, func(n string) bool { return strings.Contains(n, "is the name of a program") })
		if want := tc.want != "Ask bob" && tc.actor == tool; program != want {
			t.Errorf("%s: %q explains the program: %t, want %t", name, s.Ask.Notes, program, want)
		}
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	f := finding(model.Changed, "kubernetes/ConfigMap", "shop/web", "web.yaml:1", model.Change{Path: "data.size", Declared: str("2"), Live: str("8")})
	f.Decision = &model.Decision{ID: "9b1c", Kind: model.Accept, By: "alice", Reason: "hotfix", Until: time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)}
	s := remedy.For(f, remedy.Facts{})
	want := remedy.Step{Title: "It is accepted already; it is reopened when it changes", Blocks: []remedy.Block{{Language: "sh", Text: "driftd decisions revoke 9b1c"}},
		Notes: []string{"Accepted by alice: hotfix, until 2026-12-24 00:00 UTC.", "The command ends this."}}
	if diff := cmp.Diff(want, s.Accept); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Next != "It is accepted; otherwise put it back, or adopt it in the declaration" {
		t.Errorf("next: %s", s.Next)
	}
	f.Decision.From, f.Decision.Via = "agreed", "acceptances.yaml:3"
	if s := remedy.For(f, remedy.Facts{}); len(s.Accept.Blocks) > 0 || !slices.Contains(s.Accept.Notes, "To end this, remove it in acceptances.yaml:3.") {
		t.Errorf("a decision in a file: %+v", s.Accept)
	}
}

func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	f := finding(model.Changed, "kubernetes/ConfigMap", "shop/web", "web.yaml:1", model.Change{Path: "data.size", Declared: str("2"), Live: str("8")})
	f.Ignored = []model.IgnoredChange{{Reason: "scaled"}, {Reason: "noise"}, {Reason: "scaled"}}
	s := remedy.For(f, remedy.Facts{})
	for _, want := range []string{"Not shown here: 2 fields hidden by ignore rule: scaled.", "Not shown here: 1 field hidden by ignore rule: noise."} {
		if !slices.Contains(s.PutBack.Notes, want) {
			t.Errorf("%q is not in %q", want, s.PutBack.Notes)
		}
	}
}

func TestWithFlags(t *testing.T) {
	t.Parallel()
	s := remedy.Suggestion{Accept: remedy.Step{Blocks: []remedy.Block{{Language: "sh", Text: "driftd accept 3f2a\nkubectl get x"}, {Language: "yaml", Text: "driftd accept"}}}}
	got := s.WithFlags("--config=my file.yaml").Accept.Blocks
	want := []remedy.Block{{Language: "sh", Text: "driftd accept 3f2a --config='my file.yaml'\nkubectl get x"}, {Language: "yaml", Text: "driftd accept"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, flags := range [][]string{nil, {"--config=a\nb"}} {
		if diff := cmp.Diff(s, s.WithFlags(flags...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", flags, diff)
		}
	}
	adopt := remedy.Suggestion{Finding: "3f2a", Adopt: remedy.Step{Blocks: []remedy.Block{{Language: "sh", Text: "driftd adopt 3f2a --to=FILE"}, {Language: "sh", Text: "driftd accept 3f2a"}}}}
	want = []remedy.Block{{Language: "sh", Text: "driftd adopt 3f2a './my app' --to=FILE"}, {Language: "sh", Text: "driftd accept 3f2a"}}
	if diff := cmp.Diff(want, adopt.WithPath("./my app").Adopt.Blocks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if remedy.Quote("driftd", "a b") != "driftd 'a b'" || remedy.Quote("a\nb") != "" {
		t.Error("Quote")
	}
}

// TestAskWriters checks that a dispute names the writer of each side.
func TestAskWriters(t *testing.T) {
	t.Parallel()
	by := func(name string) *model.Actor {
		return &model.Actor{Name: name, Via: "audit log", Confidence: model.Exact, At: time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)}
	}
	unknown := model.UnknownActor("its log is not read")
	field := func(path string) model.Change {
		return model.Change{Path: path, Live: number(8), LiveActor: by("bob"), Claims: []model.ClaimedValue{
			{Declaration: "intent", Address: "virtual-machines/8", Value: *number(4), Actor: by("mara")}, {Declaration: "infra", Address: "vm.db", Value: *number(2), Actor: &unknown}}}
	}
	f := finding(model.Disputed, "proxmox/qemu", "104", "", field("memory"), field("cores"))
	got := remedy.For(f, remedy.Facts{}).Ask
	want := remedy.Step{Title: "Ask bob and mara", Blocks: []remedy.Block{}, Notes: []string{
		"bob set it in the live system at 2026-11-20 03:00 UTC, according to audit log (exact).",
		"mara set it in intent (virtual-machines/8) at 2026-11-20 03:00 UTC, according to audit log (exact).",
		"Who set it in infra (vm.db) is unknown: its log is not read.",
		"team-shop is responsible according to the rules of owners."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
