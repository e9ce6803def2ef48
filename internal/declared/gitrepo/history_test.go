package gitrepo_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

func open(t testing.TB, s gitrepo.Settings) *gitrepo.Repository {
	t.Helper()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	r, err := gitrepo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func local(t testing.TB, g gitFolder, limit int) *gitrepo.Repository {
	t.Helper()
	return open(t, gitrepo.Settings{URL: g.dir, History: limit})
}

const (
	alice = "Alice <alice@example.org>"
	bob   = "Bob <bob@example.org>"
	carol = "Carol <carol@example.org>"
)

func TestTouches(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		steps  []step
		limit  int
		// want is the author of app/a.yaml, "old" for a touch beyond the limit, or "" for
		// unknown.
		want string
	}{
		"Edited": {"last edit", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": "2"}},
			{author: carol, files: map[string]string{"app/b.yaml": "1", "a.yaml": "1"}},
		}, 500, "Bob"},
		"Reverted": {"revert", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": "2"}},
			{author: carol, files: map[string]string{"app/a.yaml": "1"}},
		}, 500, "Carol"},
		"Merged": {"edit on a merged branch", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1", "b": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": "2"}},
			{author: carol, from: []int{1}, files: map[string]string{"b": "2"}},
			{author: carol, from: []int{3, 2}, files: map[string]string{"app/a.yaml": "2"}},
		}, 500, "Bob"},
		"Ours": {"merge that discards the branch", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": "2"}},
			{author: carol, from: []int{1}, files: map[string]string{"b": "2"}},
			{author: carol, from: []int{3, 2}},
		}, 500, "Alice"},
		"Resolved": {"merge with a resolved conflict", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": "2"}},
			{author: alice, from: []int{1}, files: map[string]string{"app/a.yaml": "3"}},
			{author: carol, from: []int{3, 2}, files: map[string]string{"app/a.yaml": "2 and 3"}},
		}, 500, "Carol"},
		"Octopus": {"merge of three branches", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{author: alice, from: []int{1}, files: map[string]string{"b": "1"}},
			{author: bob, from: []int{1}, files: map[string]string{"app/a.yaml": "2"}},
			{author: carol, from: []int{1, 2, 3}, files: map[string]string{"b": "1", "app/a.yaml": "2"}},
		}, 500, "Bob"},
		"Renamed": {"renamed file", []step{
			{author: alice, files: map[string]string{"app/old.yaml": "1"}},
			{author: bob, files: map[string]string{"app/old.yaml": "", "app/a.yaml": "1"}},
			{author: carol, files: map[string]string{"b": "1"}},
		}, 500, "Bob"},
		"Folder": {"renamed folder", []step{
			{author: alice, files: map[string]string{"old/a.yaml": "1"}},
			{author: bob, files: map[string]string{"old/a.yaml": "", "app/a.yaml": "1"}},
		}, 500, "Bob"},
		"Back": {"deleted and added again", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1", "b": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml": ""}},
			{author: carol, files: map[string]string{"app/a.yaml": "1"}},
		}, 500, "Carol"},
		"Was a folder": {"folder replaced by a file", []step{
			{author: alice, files: map[string]string{"app/a.yaml/x": "1"}},
			{author: bob, files: map[string]string{"app/a.yaml/x": "", "app/a.yaml": "1"}},
			{author: carol, files: map[string]string{"app/a.yaml.bak": "1"}},
		}, 500, "Bob"},
		"Was a file": {"file replaced by a folder", []step{
			{author: alice, files: map[string]string{"app": "1"}},
			{author: bob, files: map[string]string{"app": "", "app/a.yaml": "1"}},
		}, 500, "Bob"},
		"Near": {"commit at the limit", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{files: map[string]string{"b": "1"}},
			{files: map[string]string{"b": "2"}},
		}, 3, "Alice"},
		"Far": {"commit beyond the limit", []step{
			{author: alice, files: map[string]string{"app/a.yaml": "1"}},
			{files: map[string]string{"b": "1"}},
			{files: map[string]string{"b": "2"}},
		}, 2, "old"},
		"Not at all":  {"history is disabled", []step{{author: alice, files: map[string]string{"app/a.yaml": "1"}}}, 0, ""},
		"Not there":   {"missing file", []step{{author: alice, files: map[string]string{"b": "1"}}}, 500, ""},
		"Only e-mail": {"author without a name", []step{{author: "<alice@example.org>", files: map[string]string{"app/a.yaml": "1"}}}, 500, "alice@example.org"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.commit(tc.steps...)
			got := ""
			if found, known := touches(t, local(t, g, tc.limit), "main", "app/a.yaml")["app/a.yaml"]; known {
				if got = found.Author; found.Commit == "" {
					got = "old"
				}
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestTouchesIn(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{author: alice, files: map[string]string{"infra/a.tf": "1", "modules/b.tf": "1"}}, step{author: bob, files: map[string]string{"modules/b.tf": "2"}})
	err := local(t, g, 10).Read(t.Context(), "", func(c gitrepo.Commit) error {
		found := c.TouchesIn(t.Context(), "infra", []string{"a.tf", "../modules/b.tf", "../../x", "gone.tf"})
		if len(found) != 2 || found["a.tf"].Author != "Alice" || found["../modules/b.tf"].Author != "Bob" || found["../modules/b.tf"].Path != "modules/b.tf" {
			t.Errorf("got %v", found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAuthors checks who changed files last, and why that is unknown.
func TestAuthors(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{author: alice, files: map[string]string{"old": "1"}}, step{author: bob, files: map[string]string{"new": "1"}})
	err := local(t, g, 1).Read(t.Context(), "", func(c gitrepo.Commit) error {
		authors := gitrepo.TouchesFunc(c.Touches).Authors(t.Context(), []string{"new", "old", "gone"})
		for name, want := range map[string]string{"new": "", "old": "raise history", "gone": "git does not show"} {
			if got := authors[name]; !strings.Contains(got.Reason, want) || (got.Name == "Bob") != (want == "") {
				t.Errorf("%s: got %+v, want %q", name, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	nameless := gitrepo.TouchesFunc(func(context.Context, []string) map[string]gitrepo.Touch {
		return map[string]gitrepo.Touch{"a": {Commit: "0123456789abcdef"}}
	})
	if got := nameless.Authors(t.Context(), []string{"a"})["a"]; got.Reason != "commit 0123456789ab, which changed the file last, has no author" {
		t.Errorf("a commit without author: got %+v", got)
	}
}

// TestTouchesOfLinks proves that a symbolic link is touched with its target, and when it
// changes.
func TestTouchesOfLinks(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	for link, to := range map[string]string{"link.yaml": "real/a.yaml", "folder": "real"} {
		if err := os.Symlink(to, filepath.Join(o.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	o.commit(map[string]string{"real/a.yaml": "1", "real/b.yaml": "1"})
	second := o.commit(map[string]string{"real/a.yaml": "2"})
	if err := os.Remove(filepath.Join(o.dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real/b.yaml", filepath.Join(o.dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	third := o.commit(nil)
	r := open(t, gitrepo.Settings{URL: o.dir, History: 10})
	names := []string{"link.yaml", "folder/a.yaml", "folder", "real/gone", "../x", "/x", ""}
	got := map[string]string{}
	for name, touch := range touches(t, r, "", names...) {
		got[name] = touch.Commit + " " + touch.Path
	}
	want := map[string]string{
		"link.yaml": third.String() + " link.yaml", "folder/a.yaml": second.String() + " real/a.yaml", "folder": second.String() + " real",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// randomHistory creates a history of branches and merges with wrong clocks, and returns its
// commits and files.
func randomHistory(g gitFolder, seed uint64, commits int) (hashes, names []string) {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same each time
	names = []string{"a", "a.b", "a-b", "d/a", "d/e/f", "d/e/g", "d.yaml", "z"}
	trees := []map[string]string{nil}
	steps := make([]step, commits)
	for i := range steps {
		s := step{clear: true, at: firstTime + rng.Int64N(5)*100, message: fmt.Sprint(i), files: map[string]string{}}
		if i > 0 {
			s.from = []int{i - rng.IntN(min(i, 4))}
		}
		if i > 4 && rng.IntN(3) == 0 {
			other := i - rng.IntN(4)
			if !slices.Contains(s.from, other) {
				s.from = append(s.from, other)
			}
		}
		for _, name := range names {
			for _, from := range s.from {
				if content := trees[from][name]; content != "" && (s.files[name] == "" || rng.IntN(2) == 0) {
					s.files[name] = content
				}
			}
			switch rng.IntN(20) {
			case 0:
				s.files[name] = fmt.Sprint(rng.IntN(4))
			case 1:
				delete(s.files, name)
			}
		}
		steps[i], trees = s, append(trees, s.files)
	}
	return g.commit(steps...), names
}

// TestTouchesLikeGit compares touches with git log, and cached results with new ones.
func TestTouchesLikeGit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			hashes, names := randomHistory(g, seed, 60)
			head := hashes[len(hashes)-1]
			for name, found := range touches(t, local(t, g, 1000), head, names...) {
				if want := g.run("", "log", "-1", "--format=%H", head, "--", name); found.Commit != want {
					t.Errorf("%s: got %s, git log: %s", name, found.Commit, want)
				}
			}
			for _, limit := range []int{1, 3, 8, 1000} {
				cached := local(t, g, limit)
				for i, hash := range hashes {
					fresh := touches(t, local(t, g, limit), hash, names...)
					if diff := cmp.Diff(fresh, touches(t, cached, hash, names...), cmp.AllowUnexported(gitrepo.Touch{})); diff != "" {
						t.Fatalf("limit %d, commit %d (-fresh +remembering):\n%s", limit, i, diff)
					}
				}
			}
		})
	}
}

// TestTouchesCached damages the repository after the first reading: cached touches are not
// read again.
func TestTouchesCached(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{author: alice, files: map[string]string{"a": "1"}}, step{author: bob, files: map[string]string{"b": "1"}})
	first := g.run("", "rev-parse", "main~1")
	r := local(t, g, 10)
	want := touches(t, r, "main", "a", "b")
	if err := os.Remove(filepath.Join(g.dir, ".git", "objects", first[:2], first[2:])); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, touches(t, r, "main", "a", "b"), cmp.AllowUnexported(gitrepo.Touch{})); diff != "" || len(want) != 2 {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if got := touches(t, local(t, g, 10), "main", "a", "b"); len(got) > 0 {
		t.Errorf("without a cache: %v", got)
	}
}

func TestAuditEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	cases := map[string]struct {
		reason string
		step   step
		file   string
		want   model.Actor
	}{
		"Plain": {"an author and a message of several lines", step{author: alice, message: "\n  Fix the web\n\nbecause\n"}, "a.yaml", model.Actor{
			Name: "Alice", At: time.Unix(firstTime+60, 0).UTC(), Message: "Fix the web",
		}},
		"Control": {"terminal control characters", step{author: "A\x1b[31ml\tice\u202e <a>", message: "fix\x00 \x1b]0;x\x07 it\r\nmore"}, "a.yaml", model.Actor{
			Name: "A [31ml ice", At: time.Unix(firstTime+60, 0).UTC(), Message: "fix ]0;x it",
		}},
		"Long": {"10 kB of name and message", step{author: long + " <a>", message: long}, "a.yaml", model.Actor{
			Name: long[:99] + "…", At: time.Unix(firstTime+60, 0).UTC(), Message: long[:199] + "…",
		}},
		"Bytes": {"invalid UTF-8", step{author: "J\xf6rg <a>", message: "\xff"}, "a.yaml", model.Actor{
			Name: "J\uFFFDrg", At: time.Unix(firstTime+60, 0).UTC(), Message: "\uFFFD",
		}},
		"Future": {"a time in the future is kept", step{author: alice, at: 4_000_000_000}, "a.yaml", model.Actor{
			Name: "Alice", At: time.Unix(4_000_000_000, 0).UTC(),
		}},
		"No time": {"an invalid time", step{author: alice, at: 1 << 60}, "a.yaml", model.Actor{Name: "Alice"}},
		"File":    {"a control character in the file name", step{author: alice}, "a\u202eb.yaml", model.Actor{Name: "Alice", At: time.Unix(firstTime+60, 0).UTC()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			tc.step.files = map[string]string{tc.file: "1"}
			hash := g.commit(tc.step)[0]
			tc.want.Via, tc.want.Confidence = "git", model.Likely
			tc.want.Evidence = "commit " + hash[:12] + " " + strings.ReplaceAll(tc.file, "\u202e", " ")
			got := gitrepo.AuditEvents(touches(t, local(t, g, 10), "main", tc.file), tc.file)
			if diff := cmp.Diff([]model.AuditEvent{{Actor: tc.want}}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAuditEventsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	touch := func(commit string, seconds int64) gitrepo.Touch {
		return gitrepo.Touch{Commit: commit, Author: "by " + commit, At: time.Unix(seconds, 0), Path: commit}
	}
	found := map[string]gitrepo.Touch{"a": touch("a", 5), "b": touch("b", 7), "old": {}, "nameless": {Commit: "n", At: time.Unix(9, 0)}}
	cases := map[string]struct {
		reason string
		files  []string
		want   string
	}{
		"Latest":   {"latest touch", []string{"a", "b"}, "by b"},
		"Order":    {"the order of files is ignored", []string{"b", "a"}, "by b"},
		"Old":      {"a touch beyond the limit is older", []string{"old", "a"}, "by a"},
		"All old":  {"all touches beyond the limit", []string{"old"}, ""},
		"Unknown":  {"an unknown touch may be later", []string{"a", "unknown"}, ""},
		"Nameless": {"the latest touch has no author", []string{"a", "nameless"}, ""},
		"None":     {"no file", nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if events := gitrepo.AuditEvents(found, tc.files...); len(events) > 0 {
				got = events[0].Actor.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// lines counts the lines of a log by level.
func lines(log *bytes.Buffer) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(log.String()) {
		for _, level := range []string{"WARN", "DEBUG"} {
			if strings.Contains(line, "level="+level) {
				counts[level]++
			}
		}
	}
	return counts
}

func logTo(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
