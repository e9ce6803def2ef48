package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/model"
)

// plans is the plan engine. It runs a plan of Terraform or OpenTofu on a copy of a root.
type plans struct {
	*root

	// workTree returns the last commits of the files in a folder.
	workTree *gitrepo.WorkTree
	// planned stores the instances of the last Load, for History.
	planned planned
	// edit is set for a loader of edited files.
	edit *Edit
}

func newPlans(l *loader, limiter *plan.Limiter) (*plans, error) {
	r, err := newRoot(l, limiter)
	return &plans{root: r, workTree: gitrepo.NewWorkTree(l.config.Lookback, l.env.Log)}, err
}

// Load implements declared.Loader.
func (p *plans) Load(ctx context.Context) (model.Declaration, error) {
	if p.repository == nil {
		return p.folder(ctx)
	}
	var d model.Declaration
	err := p.checkedOut(ctx, func(c checkout) (err error) {
		d, err = p.atCommit(ctx, c)
		return err
	})
	return d, err
}

// folder plans the root in its folder, without a repository.
func (p *plans) folder(ctx context.Context) (model.Declaration, error) {
	options := p.options(p.config.Dir, gitrepo.TopOf(p.config.Dir))
	d, err := p.plan(ctx, options, p.touchesIn(cmp.Or(options.Within, options.Dir)))
	if err != nil {
		return d, err
	}
	blocks := p.blocksOfRoot(&options)
	addPositions(d.Claims, blocks, &options)
	p.addAuditEvents(ctx, d.Claims, blocks, p.touchesIn(p.config.Dir))
	return d, nil
}

// atCommit plans the root at a commit.
func (p *plans) atCommit(ctx context.Context, c checkout) (model.Declaration, error) {
	d, err := p.plan(ctx, c.Options, p.touchesAt(c.commit, "."))
	if err != nil {
		return d, err
	}
	if p.edit != nil {
		p.edit.sources.Revision = c.commit
	}
	d.Repository, d.Revision, d.Revised = p.repository.URL(), c.commit, c.when
	p.planned.setRevision(c.commit)
	blocks := p.blocksOfRoot(&c.Options)
	addPositions(d.Claims, blocks, &c.Options)
	p.addAuditEvents(ctx, d.Claims, blocks, p.touchesAt(c.commit, p.config.Root()))
	return d, nil
}

// plan plans a root and returns its declaration. Instances that no governed source has are compared
// with the live values that the plan's own providers read. Paths of touches are relative to the top of the files.
func (p *plans) plan(ctx context.Context, options plan.Options, touches gitrepo.TouchesFunc) (d model.Declaration, err error) {
	ctx, settle := budget.Part(ctx)
	defer func() { settle(d.Weight() + d.Live.Weight()) }()
	if is, err := IsRoot(options.Dir); !is {
		return model.Declaration{}, cmp.Or(err, fmt.Errorf("%s holds no Terraform configuration: check dir, or path",
			cmp.Or(options.Shown, options.Dir)))
	}
	options.Compare = p.edit == nil && p.config.Run.ComparePlans
	if p.edit != nil {
		if options, err = p.edit.begin(options); err != nil {
			return model.Declaration{}, err
		}
	}
	out, err := plan.Run(ctx, options)
	if err != nil {
		return model.Declaration{}, err
	}
	if p.edit != nil {
		p.edit.outcome = outcomeOf(out.Result)
	}
	t := newTranslator(p.env, p.tables, p.config.Providers)
	t.planned = time.Now()
	own := newOwn(p.env.Name, out.Tool)
	if !out.Complete {
		t.problems = append(t.problems, model.Problem{Address: p.env.Name, Reason: out.Reason})
	}
	varying := varyingOf(out.Varying)
	lost := slices.ContainsFunc(out.States, func(s model.StateRead) bool { return !s.Exists() })
	for i := range out.Instances {
		found := &out.Instances[i]
		first := len(t.claims)
		p.instance(t, own, found)
		for j := range t.claims[first:] {
			t.claims[first+j].Lost = lost
		}
		markVarying(t.claims[first:], found, varying[found.Address])
		delete(varying, found.Address)
	}
	p.planned.keep(out.Instances)
	d = model.Declaration{Name: p.env.Name, Governs: append(slices.Clone(p.env.Governs), own.snapshot.Source),
		DeployWindow: p.config.DeployWindow, ApplyBeforeMerge: p.config.ApplyBeforeMerge,
		Claims: t.sorted(), Includes: t.includes, Scopes: t.scopes(p.config.Unmanaged), Problems: t.problems, Live: own.sorted(), Tally: &t.tally,
		Notes: notes(out.Notes), Violations: varying.violations(), Undetermined: out.Undetermined}
	if p.edit == nil {
		d.States = out.States
	}
	err = p.check(ctx, &options, touches, &d)
	return d, err
}

// check adds the failed checks of the files of a root. Paths of touches are relative to the top of the files.
func (p *plans) check(ctx context.Context, options *plan.Options, touches gitrepo.TouchesFunc, d *model.Declaration) (err error) {
	if p.env.Check == nil {
		return nil
	}
	top := cmp.Or(options.Within, options.Dir)
	root, err := filepath.Rel(top, options.Dir)
	if err != nil {
		return fmt.Errorf("find root: %w", err)
	}
	files, err := folder.Open(top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	checked := declared.Files{FS: files, Root: filepath.ToSlash(root), Address: func(name string) string { return name },
		Authors: touches.Authors}
	if p.repository != nil {
		checked.Repository = p.repository.URL()
	}
	addChecks, err := p.env.Check(ctx, checked)
	if err == nil {
		addChecks(d)
	}
	return err
}

// notes converts the notes of a plan to notes of a declaration.
func notes(found []policy.Note) []model.Note {
	list := make([]model.Note, len(found))
	for i, n := range found {
		list[i] = model.Note{Address: n.Place, Text: n.Text}
	}
	return list
}

// instance adds the claim of one instance: on the live resource of a governed source if a mapping
// table has its type, otherwise on the live value that the plan's provider read.
func (p *plans) instance(t *translator, own *own, i *plan.Instance) {
	provider := i.Provider[strings.LastIndexByte(i.Provider, '/')+1:]
	o := object{id: i.Address, address: i.Address, typ: i.Type, name: i.Name, provider: i.Provider, configuration: configured(provider, i.Alias),
		declared: i.Whole.Declared, recorded: i.Whole.Recorded, pending: i.Pending, replaces: i.Replaces,
		replaced: p.replaces(i), destroyed: i.Action == "delete", imported: i.Imports, ignored: i.Ignored, planned: i}
	if i.Deposed != "" {
		o.id += " (deposed " + i.Deposed + ")"
	}
	if i.Unchecked != "" {
		// The plan has no more than the recorded value; a governed source may still be compared
		// with it.
		o.declared, o.recordOnly, o.pending, o.replaced, o.destroyed = nil, true, "", false, false
	}
	if i.Recorded != nil {
		err := t.add(&o)
		if err == nil {
			if i.Unchecked != "" { // The declared value was not compared.
				t.claims = append(t.claims, own.add(&o, i))
			}
			return
		}
		t.addProblem(&o, err)
	}
	t.count(i.Unchecked == "")
	t.claims = append(t.claims, own.add(&o, i))
}

// replaces reports whether an apply replaces an instance that has a live side. This includes an
// instance that the provider does not find but that a governed source may have.
func (p *plans) replaces(i *plan.Instance) bool {
	if typ, known := p.tables.Find(i.Provider, i.Type); known {
		if _, without := typ.NoLiveSide(); without {
			return false
		}
	}
	return i.Action == "replace" || i.Action == "create" && i.Recorded != nil
}

// unknownWriter explains why the actor of a change is unknown if only a plan's own provider read
// the resource.
const unknownWriter = "Terraform's state does not record who applied, and a plan does not record who changed what: " +
	"see the log of the provider's system, or make that system a source of driftd"

// own builds the snapshot of the live values that a plan's own providers read.
type own struct {
	declaration string
	snapshot    model.Snapshot
}

func newOwn(declaration, tool string) *own {
	source := model.LiveSource(declaration)
	return &own{declaration, model.Snapshot{Source: source, Version: tool, Kinds: map[string]*model.Kind{},
		Coverage: []model.Coverage{{Source: source, Complete: true}}}}
}

// add adds the live value of an instance to the snapshot, and returns the claim on it.
func (w *own) add(o *object, i *plan.Instance) model.Claim {
	kind, source := plan.KindOf(i.Type), w.snapshot.Source
	if w.snapshot.Kinds[kind] == nil {
		w.snapshot.Kinds[kind] = &model.Kind{Name: kind, Schema: i.Schema, WriterUnknown: unknownWriter, Severities: severities(i.Type)}
	}
	name := cmp.Or(i.ID, i.Name)
	switch {
	case i.Live != nil:
		w.snapshot.Resources = append(w.snapshot.Resources, model.Resource{Key: model.Key{Source: source, Kind: kind, ID: o.id},
			Name: name, Value: *i.Live, WriterUnknown: unknownWriter})
	case !i.LiveRead:
		w.snapshot.Unread = append(w.snapshot.Unread, model.Unread{Ref: model.Ref{Kind: kind, ID: o.id},
			Reason: cmp.Or(i.Unchecked, "the provider did not read it")})
	}
	c := model.Claim{Declaration: w.declaration, Source: source, Address: o.address, Kind: kind, ID: o.id, Name: name, Recorded: i.Recorded,
		Complete: true, ClaimApply: model.ClaimApply{Pending: i.Pending, Replaces: o.replaces, Replaced: o.replaced, Destroyed: o.destroyed, Imported: i.Imports, Causes: i.Causes}, Unchecked: i.Unchecked, Unenforced: i.Unset}
	if i.Declared != nil {
		c.Value = *i.Declared
	}
	return c
}

// sorted returns the snapshot with its lists sorted.
func (w *own) sorted() *model.Snapshot {
	slices.SortFunc(w.snapshot.Resources, func(a, b model.Resource) int { return a.Compare(b.Key) })
	slices.SortFunc(w.snapshot.Unread, func(a, b model.Unread) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return &w.snapshot
}
