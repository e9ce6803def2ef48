package witness_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/declared/gitrepo/gittest"
	"github.com/driftd/driftd/internal/witness"
)

const checkpoint = "witness.example%2Flog/checkpoint"

func TestGitCommits(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	g.Commit("main", "README", "x")
	g.Require("t0ken")
	e := env()
	e.CacheDir = t.TempDir()
	s := witness.Settings{Git: g.URL, CAFile: g.CAFile, Username: "git", TokenFile: file(t, "t0ken"), Branch: "driftd-audit"}
	log := newLog(t)
	w := open(t, s, e)
	var last audit.Head
	for i := range 3 {
		last = log.add()
		if err := w.Publish(t.Context(), last, false); err != nil {
			t.Fatal(err)
		}
		g.Commit("driftd-audit", "other", fmt.Sprint(i))
	}
	if err := w.Publish(t.Context(), last, false); err != nil {
		t.Fatal(err)
	}
	if got, want := g.Git("log", "--author=driftd", "--format=%an %cI %s", "driftd-audit"), strings.Join([]string{
		"driftd 2026-11-24T12:00:00Z driftd audit: 3 entries", "driftd 2026-11-24T12:00:00Z driftd audit: 2 entries",
		"driftd 2026-11-24T12:00:00Z driftd audit: 1 entries",
	}, "\n"); strings.ReplaceAll(got, "+00:00", "Z") != want {
		t.Errorf("commits\n%s\nwant\n%s", got, want)
	}
	if got := g.Git("show", "driftd-audit:"+checkpoint); got+"\n" != string(last.Note) {
		t.Errorf("file\n%s", got)
	}
	heads, err := w.Heads(t.Context(), log.parse)
	if err != nil || len(heads) != 3 || heads[2].Size != 3 {
		t.Errorf("%+v, %v", heads, err)
	}
	if got := g.Git("rev-list", "--count", "main"); got != "1" {
		t.Errorf("main has %s commits", got)
	}
	s.TokenFile = file(t, "s3cr3t")
	for what, err := range map[string]error{"publish": open(t, s, e).Publish(t.Context(), log.add(), false)} {
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "check token_file") {
			t.Errorf("%s with another token: %v", what, err)
		}
	}
	if _, err := open(t, s, e).Heads(t.Context(), log.parse); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("heads with another token: %v", err)
	}
}

// TestGitBuried checks that a head is found under many commits of others, and that the commits that
// are not read are named.
func TestGitBuried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		commits int
		want    string
	}{
		"found": {2000, ""},
		"cut":   {10_000, "history is cut at 10000 commits, and heads in older ones were not compared: name another branch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			log := newLog(t)
			patient := env()
			patient.Timeout = time.Hour
			w := open(t, witness.Settings{Git: "file://" + g.Dir, Branch: "heads"}, patient)
			if err := w.Publish(t.Context(), log.add(), false); err != nil {
				t.Fatal(err)
			}
			g.Commits("heads", "other", numbers(test.commits)...)
			heads, err := w.Heads(t.Context(), log.parse)
			records := (*witness.RecordsError)(nil)
			if cut := errors.As(err, &records) && records.Older != "" && strings.Contains(err.Error(), test.want); len(heads) != 1 || cut != (test.want != "") {
				t.Errorf("%d heads, error %v", len(heads), err)
			}
		})
	}
}

// TestGitRewritten checks that a branch without the heads that were pushed is not made anew, and
// that a forced push is seen.
func TestGitRewritten(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	e := env()
	e.CacheDir = t.TempDir()
	log := newLog(t)
	for _, s := range []witness.Settings{{Git: g.URL, CAFile: g.CAFile, Username: "git", Branch: "https"}, {Git: "file://" + g.Dir, Branch: "folder"}} {
		w := open(t, s, e)
		first := log.add()
		for i, h := range []audit.Head{first, log.add(), log.add()} {
			if err := w.Publish(t.Context(), h, i > 0); err != nil {
				t.Fatal(err)
			}
		}
		if heads, err := w.Heads(t.Context(), log.parse); len(heads) != 3 || err != nil {
			t.Fatalf("%d heads, %v", len(heads), err)
		}
		g.Git("update-ref", "refs/heads/"+s.Branch, s.Branch+"~2")
		if heads, err := w.Heads(t.Context(), log.parse); len(heads) != 1 || heads[0].Size != first.Size || err != nil {
			t.Errorf("%s after a forced push: %v, %v", s.Branch, heads, err)
		}
		g.Git("update-ref", "-d", "refs/heads/"+s.Branch)
		if heads, err := w.Heads(t.Context(), log.parse); len(heads) != 0 || err != nil {
			t.Errorf("%s without the branch: %v, %v", s.Branch, heads, err)
		}
		if err := w.Publish(t.Context(), first, true); err == nil || !strings.Contains(err.Error(), "it is missing or empty, and heads were sent to it before") {
			t.Errorf("%s without the branch: %v", s.Branch, err)
		}
	}
}

// numbers returns n texts.
func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list
}

// TestGitTwoDaemons checks that two logs share a branch while both push.
func TestGitTwoDaemons(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	// The first push of each waits for the other: one of them follows a commit that moved on.
	var both sync.WaitGroup
	both.Add(2)
	var first sync.Map
	g.Before(func(r *http.Request) {
		user, _, _ := r.BasicAuth()
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "git-receive-pack") {
			return
		}
		if _, again := first.LoadOrStore(user, true); !again {
			both.Done()
			both.Wait()
		}
	})
	var daemons sync.WaitGroup
	logs := []testLog{newLog(t), newLog(t)}
	for i, name := range []string{"a.example", "b.example"} {
		e := env()
		e.Origin = name
		w := open(t, witness.Settings{Git: g.URL, CAFile: g.CAFile, Username: name, TokenFile: file(t, "t"), Branch: "heads"}, e)
		h := logs[i].add()
		daemons.Go(func() {
			if err := w.Publish(t.Context(), h, false); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	daemons.Wait()
	if got := g.Git("ls-tree", "-r", "--name-only", "heads"); got != "a.example/checkpoint\nb.example/checkpoint" {
		t.Errorf("files\n%s", got)
	}
	if got := g.Git("rev-list", "--count", "heads"); got != "2" {
		t.Errorf("%s commits", got)
	}
}

// TestGitForgery checks what people with push access can do.
func TestGitForgery(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, content, want string
	}{
		"large":  {"a file is bounded", strings.Repeat("x", 1<<20), "commit "},
		"empty":  {"a file without a head", "", "malformed note"},
		"folder": {"the file became a folder", "", ""},
	} {
		g := gittest.New(t)
		log := newLog(t)
		w := open(t, witness.Settings{Git: g.URL, CAFile: g.CAFile, Username: "git", Branch: "heads"}, env())
		if err := w.Publish(t.Context(), log.add(), false); err != nil {
			t.Fatal(err)
		}
		path := checkpoint
		if name == "folder" {
			g.Commit("heads", checkpoint+"/x", "y")
			test.want = "commit "
		} else {
			g.Commit("heads", path, test.content)
		}
		heads, err := w.Heads(t.Context(), log.parse)
		if len(heads) != 1 || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %s: %d heads, error %v", name, test.reason, len(heads), err)
		}
	}
}

// TestGitOrigins checks that the heads of all origins are read, also those that others overwrote: a log
// that was begun anew has another origin.
func TestGitOrigins(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	s := witness.Settings{Git: "file://" + g.Dir, Branch: "heads"}
	for i, name := range []string{"a.example", "b.example"} {
		e := env()
		e.Origin = name
		log := newLog(t)
		if err := open(t, s, e).Publish(t.Context(), log.add(), i > 0); err != nil {
			t.Fatal(err)
		}
	}
	g.Commit("heads", "a.example/checkpoint", "x")
	g.Commit("heads", "c/checkpoint", strings.Repeat("x", 1<<20))
	var shared bool
	parse := func(note []byte) (audit.Head, error) {
		h, err := audit.ParseUnverified(note)
		if err == nil && shared {
			err = witness.ErrShared
		}
		return h, err
	}
	w := open(t, s, env())
	if heads, err := w.Heads(t.Context(), parse); len(heads) != 2 || err != nil {
		t.Errorf("%+v, %v", heads, err)
	}
	shared = true
	if heads, err := w.Heads(t.Context(), parse); len(heads) != 0 || err != nil {
		t.Errorf("shared: %+v, %v", heads, err)
	}
}
