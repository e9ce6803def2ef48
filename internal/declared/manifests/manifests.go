// Package manifests implements declarations of Kubernetes manifests: plain YAML and JSON files,
// kustomizations, Helm releases, and repositories that Flux or Argo CD applies. It reads them from a folder
// or from a commit of a git repository.
package manifests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of declarations of manifests.
const Type = "manifests"

// Definition returns the definition of the loader type "manifests". Its loaders read a folder if the settings
// have a dir, and a git repository otherwise.
func Definition() declared.Definition {
	d := declared.Define(Type, Defaults(), func(env declared.Env, config Config) (declared.Loader, error) { return open(env, config) })
	d.IsMember = isMember
	return d
}

// isMember reports whether a folder has anything. Folders below it belong to it.
func isMember(fsys fs.FS, dir string, deep bool) (bool, error) {
	if deep {
		return false, errors.New("** would find folders within folders, and a declaration of manifests reads all below its folder: use * for each level")
	}
	entries, err := fs.ReadDir(fsys, dir)
	return len(entries) > 0, err
}

func open(env declared.Env, config Config) (*loader, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	chosen, err := newSelection(config.Include, config.Exclude)
	if err != nil {
		return nil, err
	}
	repository, err := config.OpenWithHistory(env.CloneDir, config.Lookback, env.Log)
	return &loader{
		env: env, config: config, chosen: chosen, repository: repository,
		workTree: gitrepo.NewWorkTree(config.Lookback, env.Log), past: newHistoryCache(), same: &sameRefs{}, heads: &heads{},
	}, err
}

type loader struct {
	env    declared.Env
	config Config
	chosen selection
	// repository is nil for a folder.
	repository *gitrepo.Repository
	// workTree finds the last commits that changed files of a folder.
	workTree *gitrepo.WorkTree
	// others are further repositories that sources of Flux or Argo CD may name.
	others []*permitted
	// past caches the results of History.
	past *historyCache
	// release is set for a declaration of a Helm release.
	release *HelmConfig
	// flux is set for a declaration of a repository that Flux applies.
	flux *FluxConfig
	// rendered caches the objects of the release.
	rendered *chartCache
	// charts caches the objects of the charts that Applications and HelmReleases name.
	charts *chartCaches
	// remote are the charts that they name, which may be fetched.
	remote *remoteCharts
	// installing is set for the chart of a HelmRelease of Flux.
	installing *installing
	// excluded reports whether the source of such a chart leaves out a file; nil leaves out none.
	excluded func(name string) bool
	// fetched is the source of a chart that is in no tree; nil for another one.
	fetched *fetch.Source
	// templating is set for a chart that is rendered without a release.
	templating *templating
	// argocd is set for a declaration of Applications of Argo CD.
	argocd *argocd
	// same are the refs that named what was read last.
	same *sameRefs
	// heads are the commits of refs that were read.
	heads *heads
	// edit is set for a loader of edited files.
	edit *Edit
	// plain leaves the data of Secrets as it is.
	plain bool
}

// Load implements declared.Loader. It first fetches a remote repository. If the fetch fails, Load returns
// an error and does not fall back to an earlier commit.
func (l *loader) Load(ctx context.Context) (model.Declaration, error) {
	read := l.git
	switch {
	case l.config.placeless:
		return await.Within(ctx, l.config.Timeout, l.withoutPlace)
	case l.argocd != nil && l.repository != nil:
		return await.Within(ctx, l.config.Timeout, l.argocdGit)
	case l.repository == nil:
		read = l.folder
	}
	return await.Within(ctx, l.config.Timeout, func(ctx context.Context) (d model.Declaration, err error) {
		err = l.withOthers(ctx, func(ctx context.Context, o *otherBuilds) (err error) {
			d, err = read(ctx, o)
			return err
		})
		return d, err
	})
}

// LoadPlain implements declared.PlainLoader.
func (l *loader) LoadPlain(ctx context.Context) (model.Declaration, error) {
	plain := *l
	plain.plain = true
	return plain.Load(ctx)
}

func (l *loader) folder(ctx context.Context, o *otherBuilds) (model.Declaration, error) {
	t, top, err := openFolder(l.config.Dir, l.config.label(), l.config.MaxFileSize)
	if err != nil {
		return model.Declaration{}, err
	}
	t.top, t.others = top, o
	refs := map[string]bool{}
	t.isRef = func(ref string) bool {
		at, known := refs[ref]
		if !known {
			// Without an answer, the folder stands for no ref.
			at, _ = gitrepo.IsAt(top, ref)
			refs[ref] = at
		}
		return at
	}
	if l.flux != nil {
		// Kustomizations name folders from the top of the repository.
		t.Base, t.Prefix = ".", ""
	}
	t.touches = func(ctx context.Context, names []string) map[string]gitrepo.Touch {
		return l.workTree.Touches(ctx, top, names)
	}
	d, err := l.read(ctx, t)
	if closeErr := t.close(); err == nil {
		err = closeErr
	}
	return d, err
}

func (l *loader) git(ctx context.Context, o *otherBuilds) (d model.Declaration, err error) {
	err = l.repository.Read(ctx, o.ref(l.config.Ref), func(c gitrepo.Commit) error {
		l.same.clear()
		t := l.commitTree(c.Files, c.Hash)
		t.revised, t.touches, t.isRef, t.others = c.When, c.Touches, o.at(c.Hash, c.Is), o
		t.pinned = c.Pinned()
		d, err = l.read(ctx, t)
		return err
	})
	return d, err
}

// commitTree returns the tree of the files of the commit hash.
func (l *loader) commitTree(files fs.FS, hash string) *tree {
	p := place{Root: l.config.Root(), Base: ".", Prefix: l.config.label(), Outside: outsideRepository}
	t := p.tree(files, l.config.MaxFileSize)
	t.revision, t.where = hash, fmt.Sprintf("%s at %.12s", l.repository.URL(), hash)
	return t
}

// read reads the declaration from t.
func (l *loader) read(ctx context.Context, t *tree) (model.Declaration, error) {
	t = t.withFiles(ctx, l.edit.files(t.files), l.config.MaxFileSize)
	content, err := l.content(ctx, t)
	if err != nil || t.others.isWaiting() {
		return model.Declaration{}, err
	}
	if ctx.Err() != nil {
		// Files that were not read in time must not count as absent.
		return model.Declaration{}, fmt.Errorf("read manifests: %w", ctx.Err())
	}
	if err := l.notEmpty(t, content); err != nil {
		return model.Declaration{}, err
	}
	if err := l.edit.keep(t, content, l.config.MaxFileSize); err != nil {
		return model.Declaration{}, err
	}
	d, err := l.declaration(ctx, t, content)
	if err != nil {
		return d, err
	}
	addChecks, err := l.check(ctx, t)
	if err != nil {
		return model.Declaration{}, err
	}
	addChecks(&d)
	return d, nil
}

// check checks the files of a tree, and returns a function that adds the checks that failed to the declaration.
func (l *loader) check(ctx context.Context, t *tree) (func(*model.Declaration), error) {
	if l.env.Check == nil {
		return func(*model.Declaration) {}, nil
	}
	return l.env.Check(ctx, declared.Files{FS: t.files, Root: t.Root, Repository: l.repositoryURL(), Pinned: t.pinned, Address: t.address, Authors: t.touches.Authors})
}

// notEmpty returns an error if the declaration has nothing. A chart may declare nothing.
func (l *loader) notEmpty(t *tree, c content) error {
	switch {
	case l.release != nil || len(c.objects)+len(c.problems) > 0:
		return nil
	case l.argocd != nil:
		return fmt.Errorf("no Application found in %s: looked for Applications and ApplicationSets of argoproj.io below the path; check the path", t.where)
	}
	return fmt.Errorf("no manifest found in %s: looked for *.yaml, *.yml and *.json files "+
		"with apiVersion and kind, and for kustomizations; check the path, include and exclude", t.where)
}

// content reads the objects: those of the release or of the Applications, or of all manifests in
// the declared folder.
func (l *loader) content(ctx context.Context, t *tree) (content, error) {
	switch {
	case l.release != nil:
		return l.chart(ctx, t)
	case l.argocd != nil:
		return l.applications(ctx, t)
	case l.flux != nil:
		return l.applied(ctx, t)
	}
	found, err := l.walk(ctx, t)
	if err != nil {
		return content{}, err
	}
	all, err := l.plainFiles(ctx, t, found.files)
	if err != nil {
		return content{}, err
	}
	all.problems = append(all.problems, found.problems...)
	rendered, err := l.kustomizations(ctx, t, found.kustomizations)
	all.add(rendered)
	return all, err
}
