package acceptances

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

var update = flag.Bool("update", false, "update the golden file")

const sale = `# reviewed like code
version: 1
acceptances:
  - source: prod
    kind: kubernetes/Deployment.apps
    resource: shop/web
    changes:
      - path: spec.replicas
        declared: 3
        live: "3"
      - {path: metadata.labels, live: null}
    reason: >
      the sale
    owner: team-shop
    until: 2026-12-24

  - {source: prod, kind: kubernetes/Secret, resource: shop/db, declaration: shop, verdict: changed,
     basis: 0af1, reason: rotated by hand, owner: bob, by: alice, until: forever}
`

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, place gitrepo.Place) (model.Declaration, error) {
	t.Helper()
	config := Defaults()
	config.Place = place
	loader, err := opened(declared.Env{Name: "agreed", CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, config)
	if err != nil {
		t.Fatal(err)
	}
	return loader.Load(t.Context())
}

func opened(env declared.Env, config Config) (declared.Loader, error) {
	return Definition().Open(env, func(into any) error {
		*into.(*Config) = config
		return nil
	})
}

// wanted returns the decisions of sale.
func wanted(address string, at time.Time) []model.Decision {
	three, text, null := model.IntOf(3), model.StringOf("3"), model.Value{}
	return []model.Decision{
		{ID: "71c5a38f0936", Kind: model.Accept, Subject: model.Target{Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"}},
			Changes: []model.Change{{Path: "spec.replicas", Declared: &three, Live: &text}, {Path: "metadata.labels", Live: &null}},
			Reason:  "the sale", Owner: "team-shop", By: address + ":4", Via: address + ":4", At: at, From: "agreed",
			Until: time.Date(2026, 12, 24, 23, 59, 59, 999999999, time.UTC)},
		{ID: "ac08b32059e4", Kind: model.Accept,
			Subject: model.Target{Key: model.Key{Source: "prod", Kind: "kubernetes/Secret", ID: "shop/db"}, Declaration: "shop", Verdict: model.Changed},
			Basis:   "0af1", Reason: "rotated by hand", Owner: "bob", By: "alice", Via: address + ":17", At: at, From: "agreed"},
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, fileName), sale)
	write(t, filepath.Join(dir, "other.yaml"), "\n"+sale)
	for name, tc := range map[string]struct {
		reason, path string
		want         []model.Decision
	}{
		"folder": {"the file has a name of its own", dir, wanted("acceptances.yaml", time.Time{})},
		"file":   {"or is named", filepath.Join(dir, fileName), wanted("acceptances.yaml", time.Time{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := load(t, gitrepo.Place{Dir: tc.path})
			if err != nil {
				t.Fatal(err)
			}
			want := model.Declaration{Name: "agreed", Decisions: tc.want, Problems: []model.Problem{}}
			if diff := cmp.Diff(want, d); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	moved, err := load(t, gitrepo.Place{Dir: filepath.Join(dir, "other.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	if first := moved.Decisions[0]; first.ID != wanted("", time.Time{})[0].ID || first.Via != "other.yaml:5" {
		t.Errorf("a line more makes %s at %s of the first acceptance", first.ID, first.Via)
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	dir, when := t.TempDir(), time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
	repository, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ops", fileName), sale)
	tree, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Add("ops"); err != nil {
		t.Fatal(err)
	}
	hash, err := tree.Commit("accept", &git.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.org", When: when}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ops", fileName), "version: 1\n") // not committed
	d, err := load(t, gitrepo.Place{Git: dir, Path: "ops"})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Declaration{Name: "agreed", Revision: hash.String(), Revised: when, Decisions: wanted("ops/acceptances.yaml", when), Problems: []model.Problem{}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("Load() (-want +got):\n%s", diff)
	}
	checkAuthors(t, gitrepo.Place{Git: dir, Path: "ops"}, "commit "+hash.String()[:12]+" ops/"+fileName)
	checkAuthors(t, gitrepo.Place{Dir: filepath.Join(dir, "ops")}, "") // It differs from the committed file.
	write(t, filepath.Join(dir, "ops", fileName), sale)
	checkAuthors(t, gitrepo.Place{Dir: filepath.Join(dir, "ops")}, "commit "+hash.String()[:12]+" ops/"+fileName)
}

// checkAuthors checks the evidence of who changed the file last, for failed checks; "" means that it is unknown.
func checkAuthors(t *testing.T, place gitrepo.Place, want string) {
	t.Helper()
	config := Defaults()
	config.Place = place
	var got model.Actor
	loader, err := opened(declared.Env{Name: "agreed", CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		Check: func(ctx context.Context, files declared.Files) (func(*model.Declaration), error) {
			got = files.Authors(ctx, []string{files.Root})[files.Root]
			return func(*model.Declaration) {}, nil
		}}, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.Evidence != want || (want == "") != (got.Confidence == model.Unknown) {
		t.Errorf("%+v: author %+v, want evidence %q", place, got, want)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, content, want string }{
		"nothing":     {"an empty file is no answer", "", "0 documents, want one"},
		"two":         {"one file, one document", "version: 1\n---\nversion: 1\n", "2 documents"},
		"list":        {"no version, no meaning", "- source: prod\n", "it is not a map"},
		"version":     {"another form", "version: 2\nacceptances: []\n", "version: want 1"},
		"no version":  {"which form?", "acceptances: []\n", "version: want 1"},
		"quoted":      {"a number is a number", "version: \"1\"\n", "version: want 1"},
		"key":         {"a typo accepts nothing", "version: 1\nacceptance: []\n", `unknown key "acceptance": did you mean "acceptances"?`},
		"no list":     {"a map has no order", "version: 1\nacceptances: {a: b}\n", "acceptances: want a list"},
		"syntax":      {"broken YAML has a line", "version: 1\nacceptances:\n\t- a\n", "line 3"},
		"key twice":   {"which of them?", "version: 1\nversion: 1\n", "line 2"},
		"long folder": {"a folder in its place", "\x00dir", "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tc.content == "\x00dir" {
				write(t, filepath.Join(dir, fileName, "x"), "")
			} else {
				write(t, filepath.Join(dir, fileName), tc.content)
			}
			if _, err := load(t, gitrepo.Place{Dir: dir}); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), fileName) {
				t.Errorf("%s: Load() = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	if _, err := load(t, gitrepo.Place{Dir: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "accept --export") || strings.ContainsAny(err.Error(), "<>&") {
		t.Errorf("Load() of nothing = %v, want a hint that a chat shows as it is", err)
	}
	empty := t.TempDir()
	write(t, filepath.Join(empty, fileName), "version: 1\nacceptances:\n")
	if d, err := load(t, gitrepo.Place{Dir: empty}); err != nil || len(d.Decisions)+len(d.Problems) > 0 {
		t.Errorf("Load() of no acceptances = %+v, %v", d, err)
	}
}

func TestBadEntries(t *testing.T) {
	t.Parallel()
	const good = "source: prod, kind: a/B, resource: x, reason: r, owner: o, until: forever"
	for name, tc := range map[string]struct{ reason, entry, want string }{
		"text":        {"an entry is a map", "yes please", "not an acceptance"},
		"nothing":     {"all that is missing is said at once", "{}", "source is missing; kind is missing; resource is missing; reason is missing; owner is missing; until is missing"},
		"no reason":   {"nothing is accepted without a word", `{source: prod, kind: a/B, resource: x, reason: " ", owner: o, until: forever}`, "reason is empty"},
		"long reason": {"a reason is no essay", "{source: prod, kind: a/B, resource: x, reason: " + strings.Repeat("r", 2001) + ", owner: o, until: forever}", "reason has 2001 bytes: want at most 2000"},
		"long owner":  {"nobody has such a name", "{source: prod, kind: a/B, resource: x, reason: r, owner: " + strings.Repeat("o", 40_000) + ", until: forever}", "owner has 40000 bytes"},
		"no end":      {"forever must be written", "{source: prod, kind: a/B, resource: x, reason: r, owner: o}", "until is missing"},
		"null end":    {"null is not forever", "{source: prod, kind: a/B, resource: x, reason: r, owner: o, until: }", "until: want text"},
		"wrong end":   {"from when would 30 days count?", "{source: prod, kind: a/B, resource: x, reason: r, owner: o, until: 30d}", `until "30d": want a date`},
		"number":      {"a number is no name", "{" + good + ", by: 7}", "by: want text (put it in quotes)"},
		"key":         {"a typo is not ignored", "{" + good + ", verdcit: changed}", `unknown key "verdcit": did you mean "verdict"?`},
		"verdict":     {"verdicts are a closed list", "{" + good + ", verdict: in-sync}", `unknown verdict "in-sync"`},
		"severity":    {"severities are a closed list", "{" + good + ", severity: worst}", `unknown severity "worst"`},
		"changes":     {"fields are a list", "{" + good + ", changes: {path: a}}", "changes: want a list"},
		"change":      {"a field is a map", "{" + good + ", changes: [a]}", "changes[0]: want a path"},
		"no path":     {"which field?", "{" + good + ", changes: [{live: 1}]}", "changes[0]: path is missing"},
		"change key":  {"sides are a closed list", "{" + good + ", changes: [{path: a, liv: 1}]}", `changes[0]: unknown key "liv": did you mean "live"?`},
		"path twice":  {"which of them?", "{" + good + ", changes: [{path: a}, {path: a, live: 1}]}", `changes[1]: duplicate path "a"`},
		"entry twice": {"one is enough", "{" + good + ", by: b}\n- {by: b, " + good + "}", "line 7 has the same acceptance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := "version: 1\nacceptances:\n- source: prod\n  kind: a/B\n  resource: z\n  {reason: r, owner: o, until: forever}\n- " + tc.entry + "\n"
			content = strings.Replace(content, "  {reason: r, owner: o, until: forever}\n", "  <<: {reason: r, owner: o, until: forever}\n", 1)
			dir := t.TempDir()
			write(t, filepath.Join(dir, fileName), content)
			d, err := load(t, gitrepo.Place{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			line, others := ":7", 1
			if name == "entry twice" {
				line, others = ":8", 2
			}
			if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, tc.want) || d.Problems[0].Address != fileName+line || len(d.Decisions) != others {
				t.Errorf("%s: problems %+v beside %d acceptances, want %q at line %s", tc.reason, d.Problems, len(d.Decisions), tc.want, line)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		governs []string
		change  func(c *Config)
		want    string
	}{
		"nowhere": {"a file lies somewhere", nil, func(c *Config) { c.Dir = "" }, "neither dir nor git"},
		"governs": {"acceptances declare nothing", []string{"prod"}, func(*Config) {}, "leave governs out"},
		"timeout": {"every call is bounded", nil, func(c *Config) { c.Timeout = 0 }, "want more than 0"},
		"history": {"a number of commits is not negative", nil, func(c *Config) { c.Commits = -1 }, "history -1"},
		"git":     {"a URL is one", nil, func(c *Config) { c.Dir, c.Git = "", "ops" }, "neither a URL nor an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Defaults()
			config.Dir = "/x"
			tc.change(&config)
			if _, err := opened(declared.Env{Governs: tc.governs}, config); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: Open() = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	config := Defaults()
	config.Dir = t.TempDir()
	loader, err := opened(declared.Env{}, config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loader.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Load() = %v, want that it was cancelled", err)
	}
}

// agreed returns accepted findings with all kinds of values.
func agreed() []model.Finding {
	value := func(v model.Value) *model.Value { return &v }
	f := func(id string, verdict model.Verdict, changes ...model.Change) model.Finding {
		return model.Finding{ID: id, Verdict: verdict, Key: model.Key{Source: "prod", Kind: "kubernetes/ConfigMap", ID: "shop/" + id}, Declaration: "shop",
			Basis: "0123456789abcdef0123456789abcdef", Changes: changes,
			Decision: &model.Decision{Kind: model.Accept, Reason: "known: see the ticket", Owner: "team-shop", By: "alice",
				Until: time.Date(2026, 12, 24, 23, 59, 59, 999999999, time.UTC)}}
	}
	kinds := f("kinds", model.Changed,
		model.Change{Path: "a", Declared: value(model.IntOf(1)), Recorded: value(model.IntOf(1)), Live: value(model.StringOf("1"))},
		model.Change{Path: "b", Declared: value(model.StringOf("yes")), Live: value(model.BoolOf(true))},
		model.Change{Path: "c", Declared: value(model.StringOf("one\ntwo\n")), Live: value(model.ListOf(model.Value{}, model.MapOf(model.Field{Name: "k", Value: model.StringOf("a: b")})))})
	secret := f("secret", model.Changed,
		model.Change{Path: "data.password", Declared: value(model.DigestOf("d1ce")), Live: value(model.DigestOf("d2ce")), Secret: true},
		model.Change{Path: "data.user", Declared: value(model.StringOf("root")), Live: value(model.StringOf("admin"))})
	gone := f("gone", model.Changed, model.Change{Path: "metadata.labels.team", Declared: value(model.StringOf("shop"))})
	forever := f("forever", model.Unmanaged)
	forever.Declaration, forever.Decision.Until = "", time.Time{}
	snoozed := f("snoozed", model.Missing)
	snoozed.Decision.Kind = model.Snooze
	return []model.Finding{secret, kinds, f("open", model.Missing), gone, forever, snoozed}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	findings := agreed()
	findings[2].Decision = nil
	var out strings.Builder
	if err := Write(&out, findings); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/export.golden.yaml"
	if *update {
		write(t, name, out.String())
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	out.Reset()
	if err := Write(&out, nil); err != nil || !strings.HasSuffix(out.String(), "acceptances: []\n") {
		t.Errorf("Write() of nothing = %q, %v", out.String(), err)
	}
	findings[0].Basis = ""
	if err := Write(&out, findings); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("Write() without a basis for a secret = %v, want an error", err)
	}
}

// TestWrittenSeverity checks that an acceptance of a whole resource ends to apply when the finding becomes more severe, as
// the decision that it was written from does.
func TestWrittenSeverity(t *testing.T) {
	t.Parallel()
	f := model.Finding{ID: "f00d", Key: model.Key{Source: "cloud", Kind: "aws/rule", ID: "sgr-5"}, Verdict: model.Unmanaged, Severity: model.High, Basis: "ba515",
		Decision: &model.Decision{Kind: model.Accept, Severity: model.High, Reason: "bastion", Owner: "ops", By: "alice"}}
	var out strings.Builder
	if err := Write(&out, []model.Finding{f}); err != nil {
		t.Fatal(err)
	}
	for severity, want := range map[model.Severity]bool{model.Medium: true, model.High: true, model.Critical: false} {
		f.Severity = severity
		if got := holds(strings.SplitN(out.String(), "acceptances:\n", 2)[1], &f); got != want {
			t.Errorf("%s: applies %t, want %t:\n%s", severity, got, want, out.String())
		}
	}
	f.Severity = model.Critical
	byHand := "- {source: cloud, kind: aws/rule, resource: sgr-5, reason: r, owner: o, until: forever%s}"
	if holds(fmt.Sprintf(byHand, ", severity: high"), &f) || !holds(fmt.Sprintf(byHand, ", severity: critical"), &f) || !holds(fmt.Sprintf(byHand, ""), &f) {
		t.Error("an entry written by hand does not apply up to its severity")
	}
}

// TestSpecialFiles checks that a folder cannot make driftd block, read an endless file, or
// read outside of the folder.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	write(t, outside, sale)
	for name, tc := range map[string]struct {
		reason string
		make   func(file string) error
		want   string
	}{
		"pipe":   {"a named pipe without a writer", func(file string) error { return syscall.Mkfifo(file, 0o600) }, "not a regular file"},
		"device": {"a device without an end", func(file string) error { return os.Symlink("/dev/zero", file) }, "escapes"},
		"link":   {"a link out of the folder", func(file string) error { return os.Symlink(outside, file) }, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := tc.make(filepath.Join(dir, fileName)); err != nil {
				t.Fatal(err)
			}
			if _, err := load(t, gitrepo.Place{Dir: dir}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	// The operator sets the path itself.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if d, err := load(t, gitrepo.Place{Dir: link}); err != nil || len(d.Decisions) == 0 {
		t.Errorf("a link in the configuration: %v, %v", d, err)
	}
}

// TestChecksOfFile checks that the file is checked where checks are configured, and what their result is added to.
func TestChecksOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, fileName), sale)
	config := Defaults()
	config.Place = gitrepo.Place{Dir: dir}
	failure := errors.New("failed")
	for _, want := range []error{nil, failure} {
		loader, err := opened(declared.Env{Name: "agreed", Log: slog.New(slog.DiscardHandler), Check: func(_ context.Context, files declared.Files) (func(*model.Declaration), error) {
			if files.Root != fileName || files.Address(files.Root) != fileName {
				t.Errorf("check %s (%s)", files.Root, files.Address(files.Root))
			}
			return func(d *model.Declaration) { d.Violations = []model.PartViolation{{Address: fileName}} }, want
		}}, config)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := loader.Load(t.Context()); !errors.Is(err, want) || err == nil && (len(d.Violations) != 1 || len(d.Decisions) != 2) {
			t.Errorf("got %+v, error %v", d.Violations, err)
		}
	}
}
