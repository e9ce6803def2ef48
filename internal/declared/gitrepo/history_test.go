package gitrepo_test

import (
	"bytes"
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
		// want is, of app/a.yaml, the author, or "old", or "" for unknown.
		want string
	}{
		"Edited": {"who edited last", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": "2"}},
			{who: carol, files: map[string]string{"app/b.yaml": "1", "a.yaml": "1"}},
		}, 500, "Bob"},
		"Reverted": {"who went back to what was", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": "2"}},
			{who: carol, files: map[string]string{"app/a.yaml": "1"}},
		}, 500, "Carol"},
		"Merged": {"who edited it on a branch, not who merged that", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1", "b": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": "2"}},
			{who: carol, from: []int{1}, files: map[string]string{"b": "2"}},
			{who: carol, from: []int{3, 2}, files: map[string]string{"app/a.yaml": "2"}},
		}, 500, "Bob"},
		"Ours": {"a merge that keeps its own side: the other one has not counted", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": "2"}},
			{who: carol, from: []int{1}, files: map[string]string{"b": "2"}},
			{who: carol, from: []int{3, 2}},
		}, 500, "Alice"},
		"Resolved": {"a merge that makes a third thing of two", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": "2"}},
			{who: alice, from: []int{1}, files: map[string]string{"app/a.yaml": "3"}},
			{who: carol, from: []int{3, 2}, files: map[string]string{"app/a.yaml": "2 and 3"}},
		}, 500, "Carol"},
		"Octopus": {"a merge of three", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{who: alice, from: []int{1}, files: map[string]string{"b": "1"}},
			{who: bob, from: []int{1}, files: map[string]string{"app/a.yaml": "2"}},
			{who: carol, from: []int{1, 2, 3}, files: map[string]string{"b": "1", "app/a.yaml": "2"}},
		}, 500, "Bob"},
		"Renamed": {"who gave it its name", []step{
			{who: alice, files: map[string]string{"app/old.yaml": "1"}},
			{who: bob, files: map[string]string{"app/old.yaml": "", "app/a.yaml": "1"}},
			{who: carol, files: map[string]string{"b": "1"}},
		}, 500, "Bob"},
		"Folder": {"who gave its folder its name", []step{
			{who: alice, files: map[string]string{"old/a.yaml": "1"}},
			{who: bob, files: map[string]string{"old/a.yaml": "", "app/a.yaml": "1"}},
		}, 500, "Bob"},
		"Back": {"who added it again", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1", "b": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml": ""}},
			{who: carol, files: map[string]string{"app/a.yaml": "1"}},
		}, 500, "Carol"},
		"Was a folder": {"who made a file of a folder", []step{
			{who: alice, files: map[string]string{"app/a.yaml/x": "1"}},
			{who: bob, files: map[string]string{"app/a.yaml/x": "", "app/a.yaml": "1"}},
			{who: carol, files: map[string]string{"app/a.yaml.bak": "1"}},
		}, 500, "Bob"},
		"Was a file": {"who made a folder of a file", []step{
			{who: alice, files: map[string]string{"app": "1"}},
			{who: bob, files: map[string]string{"app": "", "app/a.yaml": "1"}},
		}, 500, "Bob"},
		"Near": {"as many commits back as are looked at", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{files: map[string]string{"b": "1"}},
			{files: map[string]string{"b": "2"}},
		}, 3, "Alice"},
		"Far": {"one more", []step{
			{who: alice, files: map[string]string{"app/a.yaml": "1"}},
			{files: map[string]string{"b": "1"}},
			{files: map[string]string{"b": "2"}},
		}, 2, "old"},
		"Not at all":  {"nobody is looked for", []step{{who: alice, files: map[string]string{"app/a.yaml": "1"}}}, 0, ""},
		"Not there":   {"a file that the commit lacks", []step{{who: alice, files: map[string]string{"b": "1"}}}, 500, ""},
		"Only e-mail": {"an author without a name", []step{{who: "<alice@example.org>", files: map[string]string{"app/a.yaml": "1"}}}, 500, "alice@example.org"},
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
	g.commit(step{who: alice, files: map[string]string{"infra/a.tf": "1", "modules/b.tf": "1"}}, step{who: bob, files: map[string]string{"modules/b.tf": "2"}})
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

// TestLinks proves that a file behind a link is touched with either.
func TestLinks(t *testing.T) {
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

// randomHistory makes a history of branches and merges, with clocks that are
// wrong, and returns its commits and files.
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

// TestLikeGit proves that what is told is what git log tells, whatever the
// history, and the same whether it was looked up or remembered in part.
func TestLikeGit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			hashes, names := randomHistory(g, seed, 60)
			head := hashes[len(hashes)-1]
			for name, found := range touches(t, local(t, g, 1000), head, names...) {
				if want := g.run("", "log", "-1", "--format=%H", head, "--", name); found.Commit != want {
					t.Errorf("%s: got %s, git says %s", name, found.Commit, want)
				}
			}
			for _, limit := range []int{1, 3, 8, 1000} {
				remembering := local(t, g, limit)
				for i, hash := range hashes {
					fresh := touches(t, local(t, g, limit), hash, names...)
					if diff := cmp.Diff(fresh, touches(t, remembering, hash, names...), cmp.AllowUnexported(gitrepo.Touch{})); diff != "" {
						t.Fatalf("limit %d, commit %d (-fresh +remembering):\n%s", limit, i, diff)
					}
				}
			}
		})
	}
}

// TestRemembered proves that what was told is not looked up again: not even a
// repository that is spoilt since then matters.
func TestRemembered(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.commit(step{who: alice, files: map[string]string{"a": "1"}}, step{who: bob, files: map[string]string{"b": "1"}})
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
		t.Errorf("somebody who does not remember: %v", got)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	cases := map[string]struct {
		reason string
		step   step
		file   string
		want   model.Actor
	}{
		"Plain": {"an author and a message of several lines", step{who: alice, message: "\n  Fix the web\n\nbecause\n"}, "a.yaml", model.Actor{
			Name: "Alice", At: time.Unix(firstTime+60, 0).UTC(), Message: "Fix the web",
		}},
		"Control": {"characters that do things to a terminal", step{who: "A\x1b[31ml\tice\u202e <a>", message: "fix\x00 \x1b]0;x\x07 it\r\nmore"}, "a.yaml", model.Actor{
			Name: "A [31ml ice", At: time.Unix(firstTime+60, 0).UTC(), Message: "fix ]0;x it",
		}},
		"Long": {"10 kB of name and message", step{who: long + " <a>", message: long}, "a.yaml", model.Actor{
			Name: long[:99] + "…", At: time.Unix(firstTime+60, 0).UTC(), Message: long[:199] + "…",
		}},
		"Bytes": {"bytes that are no text", step{who: "J\xf6rg <a>", message: "\xff"}, "a.yaml", model.Actor{
			Name: "J\uFFFDrg", At: time.Unix(firstTime+60, 0).UTC(), Message: "\uFFFD",
		}},
		"Future": {"a clock that is wrong is said as it stands", step{who: alice, at: 4_000_000_000}, "a.yaml", model.Actor{
			Name: "Alice", At: time.Unix(4_000_000_000, 0).UTC(),
		}},
		"No time": {"a time that no calendar has", step{who: alice, at: 1 << 60}, "a.yaml", model.Actor{Name: "Alice"}},
		"File":    {"a file whose name does things", step{who: alice}, "a\u202eb.yaml", model.Actor{Name: "Alice", At: time.Unix(firstTime+60, 0).UTC()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			tc.step.files = map[string]string{tc.file: "1"}
			hash := g.commit(tc.step)[0]
			tc.want.Via, tc.want.Confidence = "git", model.Likely
			tc.want.Evidence = "commit " + hash[:12] + " " + strings.ReplaceAll(tc.file, "\u202e", " ")
			got := gitrepo.Traces(touches(t, local(t, g, 10), "main", tc.file), tc.file)
			if diff := cmp.Diff([]model.AuditEvent{{Actor: tc.want}}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTracesOfSeveral(t *testing.T) {
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
		"Latest":   {"the latest counts", []string{"a", "b"}, "by b"},
		"Order":    {"in any order", []string{"b", "a"}, "by b"},
		"Old":      {"what is too old came before", []string{"old", "a"}, "by a"},
		"All old":  {"all of it is too old", []string{"old"}, ""},
		"Unknown":  {"one of which nothing is known may have come later", []string{"a", "unknown"}, ""},
		"Nameless": {"who is last has no name: nobody else did it", []string{"a", "nameless"}, ""},
		"None":     {"no file", nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if traces := gitrepo.Traces(found, tc.files...); len(traces) > 0 {
				got = traces[0].Actor.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// lines counts the lines of a log, by level.
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
