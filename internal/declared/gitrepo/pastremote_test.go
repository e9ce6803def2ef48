package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// TestPastRemote proves that the history of a remote repository equals that of the local one,
// with each server configuration.
func TestPastRemote(t *testing.T) {
	t.Parallel()
	for name, tc := range serverConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.run("", append([]string{"config"}, tc.config...)...)
			hashes, _ := randomHistory(g, 11, 40)
			hub, cache := newGitServer(t, g), t.TempDir()
			remote := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: cache, History: 500})
			// Forwards, back, and to another branch; another branch moves as well.
			for n, i := range []int{20, 24, 22, 39, 12, 39} {
				g.run("", "update-ref", "refs/heads/main", hashes[i])
				g.run("", "update-ref", "refs/heads/other", hashes[39-3*n])
				g.run("", "update-ref", fmt.Sprintf("refs/pull/%d/head", n+1), hashes[30+n])
				_, want, wantGap := pastOf(t, local(t, g, 500), "main", hashes[i], hashes)
				head, got, gap := pastOf(t, remote, "main", hashes[i], hashes)
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" || gap != wantGap || gap != "" || head != hashes[i] {
					t.Fatalf("%s: step %d: head %s, gap %q and %q (-local +remote):\n%s", tc.reason, n, head, wantGap, gap, diff)
				}
			}
			bodies, _ := hub.requested()
			if got := strings.Contains(strings.Join(bodies, ""), "filter blob:limit"); got != tc.filters {
				t.Errorf("%s: requested a filter: %v", tc.reason, got)
			}
		})
	}
}

// pastOf is like past, with the IDs of whole trees as states.
func pastOf(t testing.TB, r *gitrepo.Repository, ref, revision string, hashes []string) (head string, spans []string, gap string) {
	t.Helper()
	head, err := r.History(t.Context(), gitrepo.Query{Ref: ref, Revision: revision, MaxFile: 1 << 20}, func(l gitrepo.Log) error {
		spans, gap = nil, l.Gap
		for _, s := range gitrepo.Spans(l, func(c *gitrepo.LogCommit) []string {
			id, err := c.Files.ID(".")
			if err != nil {
				t.Error(err)
			}
			return []string{id}
		}) {
			spans = append(spans, fmt.Sprintf("%x %d %d %s", s.State, slices.Index(hashes, s.From.Hash), slices.Index(hashes, s.Until.Hash), s.Branch))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, spans, gap
}

// TestPastTransfer proves that old files are fetched once, then only new commits, and that
// reading the declaration fetches none of them.
func TestPastTransfer(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"true", "false"} {
		g := newGit(t)
		g.run("", "config", "uploadpack.allowFilter", filter)
		steps := []step{{files: map[string]string{"a": "0", "b": strings.Repeat("filler ", 10_000)}}}
		for i := range 60 {
			steps = append(steps, step{files: a(fmt.Sprint(i + 1))})
		}
		hashes := g.commit(steps...)
		g.run("", "update-ref", "refs/heads/side", hashes[55])
		hub := newGitServer(t, g)
		s := gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 50}
		r := open(t, s)
		fetch := func(r *gitrepo.Repository, at, versions int, want string) (requests, sent int) {
			t.Helper()
			g.run("", "update-ref", "refs/heads/main", hashes[at])
			hub.requested()
			_, spans, gap := past(t, r, "main", hashes[at], hashes)
			if gap != want || len(spans) != versions {
				t.Fatalf("at %d: %d spans, gap %q, want %d, %q", at, len(spans), gap, versions, want)
			}
			bodies, sent := hub.requested()
			return len(bodies), sent
		}
		cut := "history is cut at 50 commits"
		if requests, sent := fetch(r, 57, 50, cut); requests != 1 || sent > 60_000 {
			t.Errorf("first: %d requests, %d bytes", requests, sent)
		}
		if requests, sent := fetch(r, 57, 50, cut); requests != 0 || sent > 2000 {
			t.Errorf("again: %d requests, %d bytes", requests, sent)
		}
		if requests, sent := fetch(open(t, s), 57, 50, cut); requests != 0 || sent > 2000 {
			t.Errorf("after a restart: %d requests, %d bytes", requests, sent)
		}
		if requests, sent := fetch(r, 58, 50, cut); requests != 1 || sent > 4000 {
			t.Errorf("one commit later: %d requests, %d bytes", requests, sent)
		}
		if requests, sent := fetch(r, 40, 41+15, ""); requests > 2 || sent > 60_000 {
			t.Errorf("moved back: %d requests, %d bytes", requests, sent)
		}
	}
}

// TestPastLeftOut proves that a server with filters does not send a large file of an old
// commit, and that reading the file is an error.
func TestPastLeftOut(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a(strings.Repeat("0", 3<<20))}, step{files: a("2")})
	for _, filter := range []string{"true", "false"} {
		g.run("", "config", "uploadpack.allowFilter", filter)
		r := open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
		for range 2 {
			sizes := map[int64]int{}
			_, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[2], MaxFile: 1 << 20}, func(l gitrepo.Log) error {
				for _, c := range l.Ref.Commits {
					switch info, err := c.Files.Stat("a"); {
					case errors.Is(err, gitrepo.ErrLeftOut):
						sizes[-1]++
					case err != nil:
						t.Error(err)
					default:
						sizes[info.Size()]++
					}
				}
				return nil
			})
			want := map[int64]int{1: 2, -1: 1}
			if filter == "false" {
				want = map[int64]int{1: 2, 3 << 20: 1}
			}
			if diff := cmp.Diff(want, sizes); diff != "" || err != nil {
				t.Errorf("filter %s: %v (-want +got):\n%s", filter, err, diff)
			}
		}
	}
	big := g.commit(step{files: a("1")}, step{files: a(strings.Repeat("0", 65<<20))}, step{files: a("2")})
	r := open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10})
	if head, spans, gap := past(t, r, "main", big[2], big); head != big[2] || len(spans) != 3 || gap != "" {
		t.Errorf("a huge file: head %s, %d spans, gap %q", head, len(spans), gap)
	}
}

// TestPastFails proves that a server that sends no history causes a gap and is retried after a
// pause, and that a server that cannot be reached is an error.
func TestPastFails(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")}, step{from: []int{1}, files: a("s")})
	g.run("", "update-ref", "refs/heads/main", hashes[1])
	g.run("", "update-ref", "refs/heads/side", hashes[2])
	hub := newGitServer(t, g)
	hub.set(func(h *gitServer) { h.broken = true })
	r := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 10})
	for range 20 {
		if head, spans, gap := past(t, r, "main", hashes[1], hashes); head != hashes[1] || len(spans) > 0 || !strings.HasPrefix(gap, "history cannot be fetched: ") || strings.Contains(gap, ";") {
			t.Fatalf("head %s, spans %q, gap %q", head, spans, gap)
		}
	}
	if bodies, _ := hub.requested(); len(bodies) != 4 {
		t.Errorf("%d requests, want 4", len(bodies))
	}
	hub.set(func(h *gitServer) { h.broken = false })
	for range 70 {
		past(t, r, "main", hashes[1], hashes)
	}
	if _, spans, gap := past(t, r, "main", hashes[1], hashes); len(spans) != 3 || gap != "" {
		t.Errorf("after it came back: %q, gap %q", spans, gap)
	}
	hub.Close()
	if head, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[1]}, nil); err == nil || head != "" {
		t.Errorf("not reached: head %q, %v", head, err)
	}
}

// TestPastRefs proves that the head of a tag is its commit, and that a ref that
// does not exist is an error.
func TestPastRefs(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")}, step{files: a("3")})
	g.run("", "-c", "user.name=t", "-c", "user.email=t", "tag", "-a", "-m", "v1", "v1", hashes[1])
	for where, r := range map[string]*gitrepo.Repository{
		"local":  local(t, g, 10),
		"remote": open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10}),
	} {
		want := []string{"2 2--", "1 1-2", "3 3-- main"}
		for _, ref := range []string{"v1", hashes[1]} {
			head, spans, gap := past(t, r, ref, hashes[1], hashes)
			if where == "afar" && ref == hashes[1] && gap != "" {
				// The server gives out no commit by its hash alone.
				continue
			}
			if diff := cmp.Diff(want, spans); diff != "" || gap != "" || head != hashes[1] {
				t.Errorf("%s: %s: head %s, gap %q (-want +got):\n%s", where, ref, head, gap, diff)
			}
		}
		if head, err := r.History(t.Context(), gitrepo.Query{Ref: "gone", Revision: hashes[1]}, nil); err == nil || head != "" {
			t.Errorf("%s: gone: head %q, %v", where, head, err)
		}
		if head, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[1]}, nil); err != nil || head != hashes[2] {
			t.Errorf("%s: moved: head %q, %v", where, head, err)
		}
	}
}

// TestManyBranches proves that the number of branches and requests is bounded, that the newest
// requests are read, and that the rest is a gap.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	steps := []step{{files: a("main")}}
	for i := range 250 {
		steps = append(steps, step{from: []int{1}, files: a(fmt.Sprint(i + 1))})
	}
	hashes := g.commit(steps...)
	g.run("", "update-ref", "refs/heads/main", hashes[0])
	var refs strings.Builder
	for i := 1; i <= 250; i++ {
		fmt.Fprintf(&refs, "create refs/pull/%d/head %s\n", i, hashes[i])
	}
	g.run(refs.String(), "update-ref", "--stdin")
	for where, r := range map[string]*gitrepo.Repository{
		"local":  local(t, g, 10),
		"remote": open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10}),
	} {
		_, spans, gap := past(t, r, "main", hashes[0], hashes)
		if len(spans) != 201 || gap != "50 of 250 branches and pull requests are not read" ||
			spans[1] != "250 251-- pull request 250" || spans[200] != "51 52-- pull request 51" {
			t.Errorf("%s: %d spans, gap %q: %q", where, len(spans), gap, spans)
		}
	}
}

// TestLongBranch proves that the commits of a branch are bounded. A branch is left out if it
// is unknown which of its commits the ref contains.
func TestLongBranch(t *testing.T) {
	t.Parallel()
	steps := []step{{files: a("main")}}
	for i := range 120 {
		steps = append(steps, step{files: a(fmt.Sprint(i))})
	}
	g := newGit(t)
	hashes := g.commit(steps...)
	g.run("", "update-ref", "refs/heads/main", hashes[0])
	g.run("", "update-ref", "refs/heads/long", hashes[120])
	_, spans, gap := past(t, local(t, g, 500), "main", hashes[0], hashes)
	if len(spans) != 101 || gap != "long: history is cut at 100 commits" {
		t.Errorf("%d spans, gap %q", len(spans), gap)
	}

	// The ref contains the branch, but only so many commits further back.
	g.run("", "update-ref", "refs/heads/main", hashes[120])
	g.run("", "update-ref", "refs/heads/long", hashes[110])
	_, spans, gap = past(t, local(t, g, 5), "main", hashes[120], hashes)
	if len(spans) != 5 || gap != "history is cut at 5 commits" {
		t.Errorf("contained, on this machine: spans %q, gap %q", spans, gap)
	}
	r := open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 5})
	_, spans, gap = past(t, r, "main", hashes[120], hashes)
	if len(spans) != 5 || gap != "history is cut at 5 commits; long: it is not known which of its commits the ref contains" {
		t.Errorf("contained, remote: spans %q, gap %q", spans, gap)
	}
}

// TestDamagedPast proves that a damaged clone of the history is created again.
func TestDamagedPast(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"objects/pack/*.pack", "objects/pack/*.idx", "shallow", "refs/driftd/past-2/*"} {
		g := newGit(t)
		hashes := g.commit(step{files: a("1")}, step{files: a("2")}, step{files: a("3")})
		cache := t.TempDir()
		s := gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: cache, History: 2}
		want := []string{"3 3--", "2 2-3"}
		for range 2 {
			if _, spans, gap := past(t, open(t, s), "main", hashes[2], hashes); !cmp.Equal(want, spans) || gap != "history is cut at 2 commits" {
				t.Errorf("%s: got %q, gap %q", pattern, spans, gap)
			}
			truncate(t, glob(t, cache, "*.past")[0], pattern)
		}
	}
}

// TestPastWithRead proves that the declaration and its history can be read at the same time.
func TestPastWithRead(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")})
	s := gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10}
	r := open(t, s)
	_, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[1]}, func(gitrepo.Log) error {
		return r.Read(t.Context(), "main", func(gitrepo.Commit) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Read(t.Context(), "main", func(gitrepo.Commit) error {
		_, spans, gap := past(t, r, "main", hashes[1], hashes)
		if len(spans) != 2 || gap != "" {
			return fmt.Errorf("spans %q, gap %q", spans, gap)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, spans, gap := past(t, open(t, s), "main", hashes[1], hashes); len(spans) != 2 || gap != "" {
				t.Errorf("spans %q, gap %q", spans, gap)
			}
		})
		all.Go(func() { touches(t, open(t, s), "main", "a") })
	}
	all.Wait()
}

// TestPastTimeout proves that a timeout is a gap, that waiting for the clone ends with the
// context, and that files cannot be read after History returns.
func TestPastTimeout(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")})
	s := gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 10}
	r := open(t, s)
	var kept *gitrepo.FS
	_, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[1]}, func(l gitrepo.Log) error {
		kept = l.Ref.Commits[0].Files
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var gap string
		head, err := open(t, s).History(ctx, gitrepo.Query{Ref: "main", Revision: hashes[1]}, func(l gitrepo.Log) error {
			gap = l.Gap
			return nil
		})
		if head != hashes[1] || err != nil || !strings.Contains(gap, "wait for clone") {
			t.Errorf("waiting: head %q, gap %q, %v", head, gap, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Open("a"); err == nil {
		t.Error("files can be read after the end")
	}
	own := errors.New("error of read")
	if _, err := r.History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[1]}, func(gitrepo.Log) error { return own }); !errors.Is(err, own) {
		t.Errorf("got %v, want the error of read", err)
	}
}

// TestPastWithoutDepth has a server without shallow clones: it sends the whole history once,
// and then new commits.
func TestPastWithoutDepth(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	first, second := o.commit(a("1")), o.commit(a("2"))
	h := newHub(t, o)
	s := h.settings(t.TempDir())
	s.History = 10
	r := open(t, s)
	hashes := []string{first.String(), second.String()}
	for _, want := range [][]string{{"2 2--", "1 1-2"}, {"3 3--", "2 2-3", "1 1-2"}} {
		last := hashes[len(hashes)-1]
		if head, spans, gap := past(t, r, "", last, hashes); !cmp.Equal(want, spans) || gap != "" || head != last {
			t.Errorf("head %s, got %q, gap %q, want %q", head, spans, gap, want)
		}
		hashes = append(hashes, o.commit(a("3")).String())
	}
}

// TestPastOverSSH fetches the history from git over ssh: all of it once, and then new commits.
func TestPastOverSSH(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")}, step{files: a("3")}, step{files: a("4")}, step{from: []int{1}, files: a("s")})
	host, _ := newKey(t)
	user, userFile := newKey(t)
	address := serveSessions(t, func(channel io.ReadWriter) error {
		c := g.command(t.Context(), "upload-pack", ".")
		c.Stdin, c.Stdout = channel, channel
		return c.Run()
	}, host, user.PublicKey())
	known := filepath.Join(t.TempDir(), "known")
	writeAll(t, map[string]string{known: knownhosts.Line([]string{address}, host.PublicKey()) + "\n"})
	r := open(t, gitrepo.Settings{
		URL: "ssh://git@" + address + "/shop.git", SSHKeyFile: userFile, KnownHostsFile: known, CacheDir: t.TempDir(), History: 3,
	})
	g.run("", "update-ref", "refs/heads/side", hashes[4])
	g.run("", "update-ref", "refs/heads/main", hashes[2])
	want := []string{"3 3--", "2 2-3", "1 1-2", "s 5-- side"}
	if _, spans, gap := past(t, r, "main", hashes[2], hashes); !cmp.Equal(want, spans) || gap != "" {
		t.Errorf("first: got %q, gap %q, want %q", spans, gap, want)
	}
	g.run("", "update-ref", "refs/heads/main", hashes[3])
	// The first commit is no longer read, but still known to be the ref's.
	want = []string{"4 4--", "3 3-4", "2 2-3", "s 5-- side"}
	if _, spans, gap := past(t, r, "main", hashes[3], hashes); !cmp.Equal(want, spans) || gap != "history is cut at 3 commits" {
		t.Errorf("later: got %q, gap %q, want %q", spans, gap, want)
	}
}

// TestPastMovedRef proves that History returns the new head of a ref that moves during the
// fetch.
func TestPastMovedRef(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("1")}, step{files: a("2")})
	hub := newGitServer(t, g)
	hub.set(func(h *gitServer) {
		h.broken = true
		h.onHistoryRequest = func() { g.run("", "update-ref", "refs/heads/main", hashes[0]) }
	})
	r := open(t, gitrepo.Settings{URL: hub.URL + "/r.git", CacheDir: t.TempDir(), History: 10})
	if head, spans, gap := past(t, r, "main", hashes[1], hashes); head != hashes[0] {
		t.Errorf("head %s, got %q, gap %q", head, spans, gap)
	}
}

// TestPastOfDamagedRepository proves that missing objects of a local repository are a gap.
func TestPastOfDamagedRepository(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(gitFolder, []string){
		"commit": func(g gitFolder, hashes []string) { remove(g, hashes[0]) },
		"file":   func(g gitFolder, hashes []string) { remove(g, g.run("", "rev-parse", hashes[0]+":a")) },
		"folder": func(g gitFolder, hashes []string) { remove(g, g.run("", "rev-parse", hashes[0]+"^{tree}")) },
	} {
		g := newGit(t)
		hashes := g.commit(step{files: a("1")}, step{files: a("2")})
		spoil(g, hashes)
		head, spans, gap := past(t, local(t, g, 10), "main", hashes[1], hashes)
		if head != hashes[1] || len(spans) > 0 || gap != "history cannot be read: objects are missing from the repository" {
			t.Errorf("%s: head %s, got %q, gap %q", name, head, spans, gap)
		}
	}
}

// remove removes a loose object.
func remove(g gitFolder, hash string) {
	g.t.Helper()
	if err := os.Remove(filepath.Join(g.dir, ".git", "objects", hash[:2], hash[2:])); err != nil {
		g.t.Fatal(err)
	}
}
