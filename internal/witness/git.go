package witness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// maxCommits bounds the commits that Heads reads.
const maxCommits = 10_000

// A repository pushes heads to a branch, each in a commit.
type repository struct {
	settings gitrepo.Settings
	branch   string
	env      Env
	name     string
}

func newGit(s Settings, env Env) (*repository, error) {
	r := &repository{branch: s.Branch, env: env, settings: gitrepo.Settings{
		URL: s.Git, Username: s.Username, TokenFile: s.TokenFile, CAFile: s.CAFile, SSHKeyFile: s.SSHKeyFile, KnownHostsFile: s.KnownHostsFile,
		CacheDir: env.CacheDir, History: maxCommits, Log: env.Log,
	}}
	opened, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("open witness: %w", err)
	}
	r.name = "branch " + s.Branch + " of " + opened.URL()
	return r, nil
}

// open returns the repository without what earlier calls learned about it: its pauses after
// failures are for calls that follow each other by themselves.
func (r *repository) open() (*gitrepo.Repository, error) { return gitrepo.New(r.settings) }

// Name implements Witness.
func (r *repository) Name() string { return r.name }

// path returns the path of the file with the head. The folder is the origin, with the bytes that
// are not letters, digits, dashes, underscores or inner dots as %XX.
func (r *repository) path() string {
	var b strings.Builder
	for i, c := range []byte(r.env.Origin) {
		isWord := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if isWord || c == '-' || c == '_' || c == '.' && i > 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String() + "/checkpoint"
}

// Publish implements Witness.
func (r *repository) Publish(ctx context.Context, h audit.Head, begun bool) error {
	_, err := await.Within(ctx, r.env.Timeout, func(ctx context.Context) (struct{}, error) {
		opened, err := r.open()
		if err == nil {
			err = opened.Append(ctx, gitrepo.Change{
				Branch: r.branch, File: r.path(), Content: h.Note, Message: fmt.Sprintf("driftd audit: %d entries\n", h.Size),
				Author: "driftd", Email: "driftd@localhost", When: r.env.Now(), MustExist: begun,
			})
		}
		if gitrepo.IsNoRef(err) {
			err = fmt.Errorf("push to %s: %w", r.name, errEmptied)
		}
		return struct{}{}, err
	})
	return err
}

// Heads implements Witness. It reads at most the last 10,000 commits.
func (r *repository) Heads(ctx context.Context, parse Parse) ([]audit.Head, error) {
	found, err := await.Within(ctx, r.env.Timeout, func(ctx context.Context) (reading, error) {
		opened, err := r.open()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return reading{}, err
		}
		return r.read(ctx, opened, parse)
	})
	if err != nil {
		return nil, err
	}
	return found.result()
}

func (r *repository) read(ctx context.Context, opened *gitrepo.Repository, parse Parse) (reading, error) {
	q := gitrepo.Query{Ref: "refs/heads/" + r.branch, MaxFile: maxNote, Only: true}
	head, err := opened.History(ctx, q, func(gitrepo.Log) error { return nil })
	if gitrepo.IsNoRef(err) {
		return reading{}, nil
	}
	if err != nil {
		return reading{}, err
	}
	q.Revision = head
	var found reading
	called := false
	_, err = opened.History(ctx, q, func(l gitrepo.Log) error {
		called, found = true, reading{}
		return errors.Join(r.collect(&found, l, parse), ctx.Err())
	})
	if err == nil && !called {
		err = fmt.Errorf("read git repository %s: the branch %s moved meanwhile: try again", opened.URL(), r.branch)
	}
	return found, err
}

// collect reads the heads of a history. The file with a head is in the commits of others that follow
// it, too.
func (r *repository) collect(found *reading, l gitrepo.Log, parse Parse) error {
	commits := l.Ref.Commits
	switch {
	case len(commits) == 0:
		return fmt.Errorf("read %s: %s", r.name, l.Gap)
	case len(commits) == maxCommits && l.Gap != "":
		found.older = fmt.Sprintf("%s: %s, and heads in older ones were not compared: name another branch in audit.witness, and keep this one", r.name, l.Gap)
	case l.Gap != "":
		found.cut("%s: %s, and heads in other commits were not compared", r.name, l.Gap)
	}
	seen := map[string]bool{}
	for _, c := range slices.Backward(commits) {
		r.others(found, c, seen, parse)
		id, err := c.Files.ID(r.path())
		if errors.Is(err, fs.ErrNotExist) || seen[id] {
			continue
		}
		var note []byte
		if err == nil {
			seen[id] = true
			note, err = bounded.ReadFile(c.Files, r.path(), maxNote)
		}
		if err == nil {
			err = found.add(note, parse)
		}
		if err != nil {
			found.refuse("%s, commit %.12s, %s: %v", r.name, c.Hash, r.path(), err)
		}
	}
	return nil
}

// maxLogs bounds the folders of a commit that are searched for heads.
const maxLogs = 1000

// others reads the heads of other origins in a commit. A log that was begun anew may have another one.
// Files that are no heads are no problem.
func (r *repository) others(found *reading, c *gitrepo.LogCommit, seen map[string]bool, parse Parse) {
	entries, err := c.Files.ReadDir(".")
	if err != nil {
		found.cut("%s, commit %.12s: %v", r.name, c.Hash, err)
		return
	}
	if len(entries) > maxLogs {
		found.cut("%s, commit %.12s: it has %d files and folders, and heads were searched in %d", r.name, c.Hash, len(entries), maxLogs)
		entries = entries[:maxLogs]
	}
	for _, e := range entries {
		path := e.Name() + "/checkpoint"
		if !e.IsDir() || path == r.path() {
			continue
		}
		id, err := c.Files.ID(path)
		if err != nil || seen[id] {
			continue
		}
		seen[id] = true
		if note, err := bounded.ReadFile(c.Files, path, maxNote); err == nil {
			_ = found.add(note, parse)
		}
	}
}
