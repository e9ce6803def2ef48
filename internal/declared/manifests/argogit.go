package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// urls returns the URLs of the repository of the declaration.
func (c *argocd) urls() []string {
	urls := slices.Clone(c.SameRepository)
	if c.Git != "" {
		return append(urls, c.Git)
	}
	if origin, err := gitrepo.OriginOf(c.Dir); err == nil {
		urls = append(urls, origin.URL, origin.Top)
	}
	return slices.DeleteFunc(urls, func(url string) bool { return url == "" }) // a folder in no repository
}

// isArgoKind reports whether a kind of resources configures what Argo CD deploys.
func isArgoKind(kind string) bool {
	return slices.Contains([]string{"kubernetes/" + argoApplication, "kubernetes/" + argoApplicationSet, "kubernetes/" + argoProject}, kind)
}

// scopes returns the kinds of Argo CD that are governed: those of claims, in their namespaces.
func (c *argocd) scopes(claims []model.Claim) []model.Scope {
	var scopes []model.Scope
	for i := range claims {
		s := model.Scope{Kind: claims[i].Kind, Place: claims[i].Place}
		if c != nil && isArgoKind(s.Kind) && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// isOwnRepository reports whether the URL of a source is that of the declaration's repository.
func (r *argoReader) isOwnRepository(url string) bool { return isOneOf(r.urls, url) }

// locate returns the checkout that a URL and a revision name; ok is false if driftd does not read the repository.
func (r *argoReader) locate(url, revision string) (at checkout, ok bool) {
	if r.isOwnRepository(url) {
		return checkout{nil, revision}, true
	}
	other := findRepository(r.loader.others, url)
	return checkout{other, revisionRef(revision)}, other != nil
}

// isHere reports whether a checkout is the one that is read.
func (r *argoReader) isHere(at checkout) bool {
	return at.repository == r.repository && r.isOwn(at.ref)
}

// applications reads the Applications of a folder, and the objects that they deploy.
func (l *loader) applications(ctx context.Context, t *tree) (_ content, err error) {
	r := l.newArgoReader(ctx, func(revision string) bool { return l.isBranchOf(t, revision) })
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.root(t); err != nil {
		return content{}, err
	}
	if err := r.elsewhere(ctx, t); err != nil {
		return content{}, err
	}
	r.finish()
	return r.all, nil
}

// finish completes the objects after all were read.
func (r *argoReader) finish() {
	r.notDeployed()
	r.createdNamespaces()
	r.addConfigured()
}

// isDeclaredRevision reports whether a revision of an Application is the one that the declaration
// reads, as far as its name shows.
func (l *loader) isDeclaredRevision(revision string) bool {
	return cmp.Or(revision, "HEAD") == cmp.Or(l.config.Ref, "HEAD") || l.isSourceBranch(revision)
}

func (l *loader) isSourceBranch(revision string) bool {
	return revision != "" && strings.TrimPrefix(revision, "refs/heads/") == strings.TrimPrefix(l.argocd.SourceBranch, "refs/heads/")
}

// isBranchOf reports whether a folder stands for a revision of an Application.
func (l *loader) isBranchOf(t *tree, revision string) bool {
	if l.argocd.SourceBranch == "" {
		return t.isRef(revision)
	}
	return l.isSourceBranch(revision) || cmp.Or(revision, "HEAD") == "HEAD"
}

// pinned matches the revisions that are a commit or a version.
var pinned = lazyregexp.New(`^[0-9a-f]{7,40}$|^[v~^<>=]*[0-9]|\*`)

// leaveDeferred adds problems with work at other checkouts that is not done.
func (r *argoReader) leaveDeferred() {
	for _, d := range r.deferred {
		d.fail(r.leftAt(d.at))
	}
	r.deferred = nil
}

// leftAt returns why work at a checkout is not done.
func (r *argoReader) leftAt(at checkout) string {
	switch {
	case at.repository != nil:
		return ", of which driftd reads no earlier commits"
	case r.loader.repository == nil:
		return ", and the declaration is read at another one: set source_branch if the folder stands for it, or git instead of dir"
	}
	return ", and the declaration is read at another one"
}

// argocdGit reads the Applications of a repository. Sources at other revisions are read at
// theirs.
func (l *loader) argocdGit(ctx context.Context) (_ model.Declaration, err error) {
	r := l.newArgoReader(ctx, l.isDeclaredRevision)
	defer func() { err = errors.Join(err, r.close()) }()
	var at *tree
	var addChecks func(*model.Declaration)
	err = l.repository.Read(ctx, l.config.Ref, func(c gitrepo.Commit) (err error) {
		// A second call follows damage, and starts anew.
		r.reset()
		l.same.clear()
		at = l.commitTree(c.Files, c.Hash)
		at.revised, at.pinned, at.touches = c.When, c.Pinned(), c.Touches
		at = at.withFiles(ctx, l.edit.files(at.files), l.config.MaxFileSize)
		if err := r.root(at); err != nil {
			return err
		}
		if err := l.edit.keep(at, r.all, l.config.MaxFileSize); err != nil {
			return err
		}
		r.attribute(at, 0)
		addChecks, err = l.check(ctx, at)
		return err
	})
	if err != nil {
		return model.Declaration{}, err
	}
	if err := r.elsewhere(ctx, at); err != nil {
		return model.Declaration{}, err
	}
	r.finish()
	if ctx.Err() != nil {
		return model.Declaration{}, fmt.Errorf("read Applications: %w", ctx.Err())
	}
	if err := l.notEmpty(at, r.all); err != nil {
		return model.Declaration{}, err
	}
	if r.revised.After(at.revised) {
		at.revised = r.revised
	}
	at.touches = func(context.Context, []string) map[string]gitrepo.Touch { return nil }
	d, err := l.declaration(ctx, at, r.all)
	if err != nil {
		return model.Declaration{}, err
	}
	addChecks(&d)
	return d, nil
}

// reset forgets what was read.
func (r *argoReader) reset() {
	r.queue, r.deferred, r.left, r.all = nil, nil, nil, content{}
	r.read, r.failed, r.namespaces = map[string]object{}, map[string]bool{}, map[string]application{}
}

// attribute records where the objects from one on are written, and who wrote them.
func (r *argoReader) attribute(t *tree, from int) {
	objects := r.all.objects[from:]
	c := content{objects: objects}
	changes := t.lastChanges(r.ctx, c.files())
	for i := range objects {
		o := &objects[i]
		o.found = &provenance{t.alsoIn(*o), lastEvents(changes, o.files)}
	}
}

// maxCheckouts bounds the other revisions and repositories of one reading.
const maxCheckouts = 50

// elsewhere does the work at other checkouts, one after the other: the clone of a repository is locked while it is read, and two
// declarations may read each other's repository. root is the tree of the declaration.
func (r *argoReader) elsewhere(ctx context.Context, root *tree) error {
	for n := 0; len(r.deferred) > 0; n++ {
		now, later := takeFirst(r.deferred, func(d deferred) checkout { return d.at })
		at := now[0].at
		r.deferred = later
		reason := ""
		switch {
		case n >= maxCheckouts:
			reason = fmt.Sprintf(", and driftd reads %d other revisions and repositories at most", maxCheckouts)
		case at.repository != nil || r.loader.repository != nil:
			if err := r.checkout(ctx, root, at, now); err != nil {
				reason = ": " + shown(err.Error())
			}
		case at == (checkout{}) || r.loader.isBranchOf(root, at.ref):
			r.tree = root
			if err := r.do(now); err != nil {
				return err
			}
		default:
			reason = r.leftAt(at)
		}
		if r.ctx.Err() != nil {
			return fmt.Errorf("read Applications: %w", r.ctx.Err())
		}
		if reason != "" {
			for _, d := range now {
				d.fail(reason)
			}
		}
	}
	return nil
}

// do does deferred work in the tree.
func (r *argoReader) do(work []deferred) error {
	for _, d := range work {
		if err := d.do(); err != nil {
			return err
		}
	}
	return r.run()
}

// checkout does work at a checkout. Each revision is one commit in a reading.
func (r *argoReader) checkout(ctx context.Context, root *tree, at checkout, work []deferred) error {
	l, before := r.loader, r.state()
	repository, ref := l.repository, revisionRef(at.ref)
	if at.repository != nil {
		repository = at.repository.Repository
	} else if l.isDeclaredRevision(at.ref) {
		ref = root.revision
	}
	if hash := r.commits[at]; hash != "" {
		ref = hash
	}
	err := r.outages.read(ctx, at, repository, ref, func(reading context.Context, c gitrepo.Commit) error {
		r.restore(before)
		own := r.isOwn
		if at.repository == nil {
			l.same.set(at.ref, c.Hash == root.revision)
			t := l.commitTree(c.Files, c.Hash)
			t.revised, t.touches = c.When, c.Touches
			r.tree = t.withFiles(reading, t.files, l.config.MaxFileSize)
			r.isOwn = func(other string) bool { return other == at.ref || c.Hash == root.revision && own(other) }
		} else {
			r.tree, r.repository = l.otherTree(reading, at.repository, c), at.repository
			r.isOwn = func(other string) bool { return revisionRef(other) == at.ref }
		}
		defer func() { r.isOwn, r.repository = own, nil }()
		from := len(r.all.objects)
		if err := cmp.Or(r.do(work), reading.Err()); err != nil {
			return err
		}
		r.attribute(r.tree, from)
		r.commits[at] = c.Hash
		if c.When.After(r.revised) && at.repository != nil {
			r.revised = c.When
		}
		return nil
	})
	if err != nil {
		r.restore(before)
	}
	return err
}

// revisionRef returns the ref of a revision.
func revisionRef(revision string) string {
	if revision == "HEAD" {
		return ""
	}
	return revision
}

// A readState is what a reader has read.
type readState struct {
	deferred   []deferred
	all        content
	read       map[string]object
	failed     map[string]bool
	namespaces map[string]application
}

func (r *argoReader) state() readState {
	all := content{objects: slices.Clone(r.all.objects), problems: slices.Clone(r.all.problems)}
	return readState{slices.Clone(r.deferred), all, maps.Clone(r.read), maps.Clone(r.failed), maps.Clone(r.namespaces)}
}

func (r *argoReader) restore(s readState) {
	r.queue, r.deferred, r.all = nil, slices.Clone(s.deferred), content{objects: slices.Clone(s.all.objects), problems: slices.Clone(s.all.problems)}
	r.read, r.failed, r.namespaces = maps.Clone(s.read), maps.Clone(s.failed), maps.Clone(s.namespaces)
}

// applications finds the subjects in the Applications of a commit, and reports whether the outcome
// depends only on the files.
func (r *pastReader) applications(t *tree, found *outcome) (final bool) {
	if r.renderings <= 0 {
		found.merge(&outcome{all: "not rendered, because the limit of old Applications for one reading is reached; the next reading continues"})
		return false
	}
	l := r.loader
	reader := l.newArgoReader(r.ctx, func(revision string) bool { return l.isDeclaredRevision(revision) || l.same.has(revision) })
	reader.fetch = nil
	err := reader.root(t)
	reader.leaveDeferred()
	reader.createdNamespaces()
	err = errors.Join(err, reader.close())
	r.renderings -= max(1, reader.builds)
	switch {
	case r.ctx.Err() != nil:
		found.merge(&outcome{all: timedOut})
		return false
	case err != nil:
		found.merge(&outcome{all: truncate(err.Error())})
		return false
	}
	subjects := make([]int, len(r.cache.subjects))
	for n := range subjects {
		subjects[n] = n
	}
	r.match(found, reader.all, subjects)
	return !reader.all.passing
}
