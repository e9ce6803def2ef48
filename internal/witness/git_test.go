package witness_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

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
		if err := w.Publish(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		g.Commit("driftd-audit", "other", fmt.Sprint(i))
	}
	if err := w.Publish(t.Context(), last); err != nil {
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
	for what, err := range map[string]error{"publish": open(t, s, e).Publish(t.Context(), log.add())} {
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "check token_file") {
			t.Errorf("%s with another token: %v", what, err)
		}
	}
	if _, err := open(t, s, e).Heads(t.Context(), log.parse); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("heads with another token: %v", err)
	}
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
			if err := w.Publish(t.Context(), h); err != nil {
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
		if err := w.Publish(t.Context(), log.add()); err != nil {
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
