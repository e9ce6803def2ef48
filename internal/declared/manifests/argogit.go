package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// repositories returns the IDs of the repository of the declaration.
func (c *argocd) repositories() map[string]bool {
	urls := slices.Clone(c.SameRepository)
	if c.Git != "" {
		urls = append(urls, c.Git)
	} else if origin, err := gitrepo.OriginOf(c.Dir); err == nil {
		urls = append(urls, origin.URL, origin.Top)
	}
	own := map[string]bool{}
	for _, url := range urls {
		own[repositoryID(url)] = true
	}
	delete(own, "") // a folder in no repository
	return own
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
func (r *argoReader) isOwnRepository(url string) bool { return r.repositories[repositoryID(url)] }

// applications reads the Applications of a folder, or of a commit, and the objects that they
// deploy from it.
func (l *loader) applications(ctx context.Context, t *tree) (_ content, err error) {
	r := l.newArgoReader(ctx, func(revision string) bool { return l.isBranchOf(t, revision) })
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.root(t); err != nil {
		return content{}, err
	}
	r.leaveDeferred()
	r.notDeployed()
	r.createdNamespaces()
	return r.all, nil
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
var pinned = regexp.MustCompile(`^[0-9a-f]{7,40}$|^[v~^<>=]*[0-9]|\*`)

// leaveDeferred adds problems with the sources at other revisions.
func (r *argoReader) leaveDeferred() {
	hint := ""
	if r.loader.repository == nil {
		hint = ": set source_branch if the folder stands for it, or git instead of dir"
	}
	for i := range r.deferred {
		d := &r.deferred[i]
		r.unread(&d.application, sketch{unknown: true}, "deploys the revision %s, and the declaration is read at another one%s", printable(cmp.Or(d.source.At("targetRevision").Str(), "HEAD")), hint)
	}
	r.deferred = nil
}

// argocdGit reads the Applications of a repository. Sources at other revisions are read at
// theirs.
func (l *loader) argocdGit(ctx context.Context) (_ model.Declaration, err error) {
	r := l.newArgoReader(ctx, l.isDeclaredRevision)
	defer func() { err = errors.Join(err, r.close()) }()
	var at *tree
	err = l.repository.Read(ctx, l.config.Ref, func(c gitrepo.Commit) error {
		// A second call follows damage, and starts anew.
		r.reset()
		l.same.clear()
		at = l.commitTree(c.Files, c.Hash)
		at.revised, at.touches = c.When, c.Touches
		at = at.withFiles(ctx, l.edit.files(at.files), l.config.MaxFileSize)
		if err := r.root(at); err != nil {
			return err
		}
		if err := l.edit.keep(at, r.all, l.config.MaxFileSize); err != nil {
			return err
		}
		r.attribute(at, 0)
		return nil
	})
	if err != nil {
		return model.Declaration{}, err
	}
	if err := r.otherRevisions(at.revision); err != nil {
		return model.Declaration{}, err
	}
	r.notDeployed()
	r.createdNamespaces()
	if ctx.Err() != nil {
		return model.Declaration{}, fmt.Errorf("read Applications: %w", ctx.Err())
	}
	if err := l.notEmpty(at, r.all); err != nil {
		return model.Declaration{}, err
	}
	at.touches = func(context.Context, []string) map[string]gitrepo.Touch { return nil }
	return l.declaration(ctx, at, r.all)
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
	touches := t.touches(r.ctx, c.files())
	for i := range objects {
		o := &objects[i]
		o.found = &provenance{t.alsoIn(*o), gitrepo.AuditEvents(touches, o.files...)}
	}
}

// maxRevisions bounds the other revisions of one reading.
const maxRevisions = 50

// otherRevisions reads the sources at other revisions. head is the commit of the declaration.
func (r *argoReader) otherRevisions(head string) error {
	for n := 0; len(r.deferred) > 0; n++ {
		if n == maxRevisions {
			r.leaveDeferred()
			return nil
		}
		revision := r.deferred[0].source.At("targetRevision").Str()
		var now []deferred
		r.deferred = slices.DeleteFunc(r.deferred, func(d deferred) bool {
			same := d.source.At("targetRevision").Str() == revision
			if same {
				now = append(now, d)
			}
			return same
		})
		if err := r.revision(head, revision, now); err != nil {
			if r.ctx.Err() != nil {
				return fmt.Errorf("read Applications: %w", r.ctx.Err())
			}
			for i := range now {
				r.unread(&now[i].application, sketch{unknown: true}, "deploys the revision %s: %s", printable(revision), printable(err.Error()))
			}
		}
	}
	return nil
}

// revision reads sources at a revision, a branch or a tag.
func (r *argoReader) revision(head, revision string, sources []deferred) error {
	l, before := r.loader, r.state()
	return l.repository.Read(r.ctx, revisionRef(revision), func(c gitrepo.Commit) error {
		r.restore(before)
		l.same.set(revision, c.Hash == head)
		t := l.commitTree(c.Files, c.Hash)
		t.revised, t.touches = c.When, c.Touches
		r.tree = t.withFiles(r.ctx, t.files, l.config.MaxFileSize)
		own := r.isOwn
		r.isOwn = func(other string) bool { return other == revision || c.Hash == head && own(other) }
		defer func() { r.isOwn = own }()
		from := len(r.all.objects)
		for i := range sources {
			if err := r.deploy(&sources[i].application, sources[i].source); err != nil {
				return err
			}
		}
		if err := r.run(); err != nil {
			return err
		}
		r.attribute(r.tree, from)
		return nil
	})
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
