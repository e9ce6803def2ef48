package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// A Permission allows the loader to read a repository other than that of the declaration, if a source
// refers to it.
type Permission struct {
	// Git is the URL of the repository, or the absolute path of a local one. Sources can refer to it over
	// any protocol; driftd always connects to this URL.
	Git string `mapstructure:"git"`
	// SameRepository are further URLs that sources use for the repository, such as those of a mirror.
	SameRepository []string `mapstructure:"same_repository"`

	gitrepo.Access `mapstructure:",squash"`
}

// urls returns the URLs by which sources name the repository.
func (p Permission) urls() []string { return append([]string{p.Git}, p.SameRepository...) }

// A permitted is a repository that sources may name.
type permitted struct {
	*gitrepo.Repository

	urls []string
}

// permit returns the repositories of permissions. own are the URLs of the declaration's repository.
func permit(env declared.Env, permissions []Permission, of gitrepo.Place, l gitrepo.Lookback, own []string) ([]*permitted, error) {
	var all []*permitted
	for _, p := range permissions {
		at := of
		at.Dir, at.Git, at.Ref, at.Path, at.Access = "", p.Git, "", "", p.Access
		at.Username = cmp.Or(at.Username, gitrepo.DefaultPlace().Username)
		shown := withoutSecrets(p.Git)
		if p.Git == "" {
			return nil, errors.New("repositories: an entry has no git: name the URL of the repository")
		}
		if err := at.Check(""); err != nil {
			return nil, fmt.Errorf("repositories: %s: %w", shown, err)
		}
		for _, url := range p.urls() {
			switch {
			case sourceName(url) == "":
				return nil, fmt.Errorf("repositories: %q is no URL of a repository, such as https://git.example.org/shop.git", withoutSecrets(url))
			case strings.ContainsAny(url, "*?"):
				return nil, fmt.Errorf("repositories: %s: takes no patterns, list each repository", withoutSecrets(url))
			case isOneOf(own, url):
				return nil, fmt.Errorf("repositories: %s is the repository of the declaration, which is always read: remove the entry", withoutSecrets(url))
			case findRepository(all, url) != nil:
				return nil, fmt.Errorf("repositories: %s is listed twice, apart from its spelling: remove one entry", withoutSecrets(url))
			}
		}
		r, err := at.OpenWithHistory(env.CloneDir, l, env.Log)
		if err != nil {
			return nil, fmt.Errorf("repositories: %w", err)
		}
		all = append(all, &permitted{r, p.urls()})
	}
	return all, nil
}

// isOneOf reports whether a URL names a repository that one of urls names.
func isOneOf(urls []string, url string) bool {
	return slices.ContainsFunc(urls, func(other string) bool { return other == url || gitrepo.SameRepository(other, url) })
}

// findRepository returns the repository that a URL names, or nil.
func findRepository(all []*permitted, url string) *permitted {
	if i := slices.IndexFunc(all, func(p *permitted) bool { return isOneOf(p.urls, url) }); i >= 0 {
		return all[i]
	}
	return nil
}

// A checkout is a repository at a ref. The repository is nil for that of the declaration.
type checkout struct {
	repository *permitted
	ref        string
}

// outages bound the time that repositories that do not answer take from the rest of a reading.
type outages struct {
	// until is when no more time is left for other repositories: a quarter of the reading remains for the rest.
	until time.Time
	// silent are those that did not answer.
	silent map[*permitted]bool
}

// errSilent is the error of a repository that does not answer.
var errSilent = errors.New("it was not read in its part of the time: check that its server answers, or raise timeout")

// read calls do with a repository's checkout, and a context for reading it.
func (o *outages) read(ctx context.Context, at checkout, repository *gitrepo.Repository, ref string, do func(context.Context, gitrepo.Commit) error) error {
	if at.repository == nil {
		return repository.Read(ctx, ref, func(c gitrepo.Commit) error { return do(ctx, c) })
	}
	if o.silent[at.repository] {
		return errSilent
	}
	if deadline, bounded := ctx.Deadline(); bounded && o.until.IsZero() {
		o.until = deadline.Add(-time.Until(deadline) / 4)
	}
	reading, cancel := await.Half(ctx)
	defer cancel()
	if !o.until.IsZero() {
		reading, cancel = context.WithDeadline(reading, o.until)
		defer cancel()
	}
	err := repository.Read(reading, ref, func(c gitrepo.Commit) error {
		// Files that were not read in time must not count as absent.
		return cmp.Or(do(reading, c), reading.Err())
	})
	if err == nil || reading.Err() == nil || ctx.Err() != nil {
		return err
	}
	if o.silent == nil {
		o.silent = map[*permitted]bool{}
	}
	o.silent[at.repository] = true
	return errSilent
}

// takeFirst returns the work at the checkout of the first work, which at returns, and the rest. There is some.
func takeFirst[T any](work []T, at func(T) checkout) (now, later []T) {
	first := at(work[0])
	for _, w := range work {
		if at(w) == first {
			now = append(now, w)
		} else {
			later = append(later, w)
		}
	}
	return now, later
}

// shown returns the checkout for a message.
func (c checkout) shown() string {
	text := shown(cmp.Or(c.ref, "HEAD"))
	if c.repository != nil {
		text += " of " + c.repository.URL()
	}
	return text
}

// foreign separates the URL of a repository from the path of a file in it. Paths in a repository do not contain it.
const foreign = "//"

// isForeign reports whether the name of a file is that of one in another repository than the declaration's.
func isForeign(name string) bool { return strings.Contains(name, foreign) }

// otherTree returns the tree of a commit of another repository.
func (l *loader) otherTree(ctx context.Context, r *permitted, c gitrepo.Commit) *tree {
	p := place{Root: ".", Base: ".", Outside: outsideRepository, Repository: r.URL()}
	t := p.tree(c.Files, l.config.MaxFileSize)
	t.revision, t.where, t.revised, t.touches = c.Hash, fmt.Sprintf("%s at %.12s", r.URL(), c.Hash), c.When, c.Touches
	return t.withFiles(ctx, t.files, l.config.MaxFileSize)
}

// file returns the name of a file of the tree among the files of objects.
func (p place) file(name string) string {
	if p.Repository == "" || isForeign(name) {
		return name
	}
	return p.Repository + foreign + path.Clean(name)
}

// own returns the name of a file of an object as a path in the tree; ok is false for a file in another tree.
func (p place) own(file string) (name string, ok bool) {
	if p.Repository == "" {
		return file, !isForeign(file)
	}
	return strings.CutPrefix(file, p.Repository+foreign)
}

// nameFiles names the files of objects that were read from the tree.
func (p place) nameFiles(c *content) {
	if p.Repository == "" {
		return
	}
	for i := range c.objects {
		o := &c.objects[i]
		o.files = slices.Clone(o.files)
		for k, name := range o.files {
			o.files[k] = p.file(name)
		}
	}
}

// lastChanges returns the last commits that changed those of the files of objects that are in the tree.
func (t *tree) lastChanges(ctx context.Context, files []string) map[string]gitrepo.Touch {
	var names []string
	for _, file := range files {
		if name, ok := t.own(file); ok {
			names = append(names, name)
		}
	}
	found := t.touches(ctx, names)
	changes := make(map[string]gitrepo.Touch, len(found))
	for name, touch := range found {
		if touch.Path != "" {
			touch.Path = t.file(touch.Path) // that of evidence
		}
		changes[t.file(name)] = touch
	}
	return changes
}

// lastEvents returns who last changed one of the files of an object. There is none if one of the repositories does not
// show it.
func lastEvents(changes map[string]gitrepo.Touch, files []string) []model.AuditEvent {
	byRepository := map[string][]string{}
	for _, file := range files {
		repository := ""
		if i := strings.LastIndex(file, foreign); i >= 0 {
			repository = file[:i]
		}
		byRepository[repository] = append(byRepository[repository], file)
	}
	var last []model.AuditEvent
	for _, repository := range slices.Sorted(maps.Keys(byRepository)) {
		events := gitrepo.AuditEvents(changes, byRepository[repository]...)
		if len(events) == 0 {
			return nil
		}
		if len(last) == 0 || events[0].Actor.At.After(last[0].Actor.At) {
			last = events
		}
	}
	return last
}
