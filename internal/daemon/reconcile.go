package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// world is what an Engine read last, for package reconcile.
type world struct{ e *Engine }

// Evidence returns what the last reads of the finding's source and declaration prove.
func (w world) Evidence(f *model.Finding) reconcile.Evidence {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	var v reconcile.Evidence
	source, ok := w.e.collected[f.Source]
	switch covered, why := source.snapshot.Covers(f.Kind, f.Place); {
	case !ok:
		v.Unread = fmt.Sprintf("source %s was not read yet", f.Source)
	case source.err != nil:
		v.Unread = fmt.Sprintf("source %s could not be read: %v", f.Source, source.err)
	case source.held:
		v.Unread = fmt.Sprintf("source %s lost many resources at once, and the next scan has to confirm that", f.Source)
	case !covered:
		v.Unread = fmt.Sprintf("%s in %s was not fully read: %s", f.Kind, f.Source, why)
	case w.e.unsaved[f.Source]:
		v.Unread = fmt.Sprintf("the last scan of source %s could not be saved", f.Source)
	}
	l, ok := w.e.loaded[f.Declaration]
	switch d := &l.declaration; {
	case v.Unread != "":
	case !ok:
		v.Unread = fmt.Sprintf("declaration %s was not read yet", f.Declaration)
	case l.err != nil:
		v.Unread = fmt.Sprintf("declaration %s could not be read: %v", f.Declaration, l.err)
	case len(d.Problems) > 0:
		v.Unread = fmt.Sprintf("a part of declaration %s could not be read: %s", f.Declaration, d.Problems[0].Reason)
	case d.Revision == "":
		v.Uncommitted = fmt.Sprintf("declaration %s is not read from a commit: use git, so that what is put back was reviewed", f.Declaration)
	}
	for i := range l.declaration.Claims {
		if l.declaration.Claims[i].Kind == f.Kind {
			v.Declared++
		}
	}
	return v
}

// Subject returns what is declared for the resource of a finding.
func (w world) Subject(f *model.Finding) (reconcile.Subject, error) {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	for i := range w.e.loaded[f.Declaration].declaration.Claims {
		c := &w.e.loaded[f.Declaration].declaration.Claims[i]
		if c.Kind != f.Kind || c.Address != f.Address || c.Name != f.Name || c.Place != "" && c.Place != f.Place {
			continue
		}
		if c.Lens != nil {
			return reconcile.Subject{}, &reconcile.Refusal{Guard: "kind", Why: fmt.Sprintf("%s declares it in another form: apply that declaration", f.Declaration)}
		}
		return reconcile.Subject{Finding: f, Declared: c.Value, Plain: w.plain(f, c)}, nil
	}
	return reconcile.Subject{}, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s no longer declares it", f.Declaration)}
}

// plain returns the function that reads the declaration of a claim again, without sealing.
func (w world) plain(f *model.Finding, sealed *model.Claim) func(context.Context) (plain, same model.Value, err error) {
	return func(ctx context.Context) (plain, same model.Value, err error) {
		at := slices.IndexFunc(w.e.estate.Declarations, func(d Declaration) bool { return d.Name == f.Declaration })
		if at < 0 || w.e.estate.Declarations[at].Loader == nil {
			return plain, same, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s is gone", f.Declaration)}
		}
		d, err := w.e.estate.Declarations[at].Loader.Load(ctx)
		if err != nil {
			return plain, same, w.e.estate.Secrets.Error(err)
		}
		for i := range d.Claims {
			if c := &d.Claims[i]; c.Kind == sealed.Kind && c.Address == sealed.Address && c.Name == sealed.Name && c.Place == sealed.Place {
				plain = c.Value
				again := w.e.estate.Secrets.Declaration(model.Declaration{Name: d.Name, Claims: []model.Claim{*c}})
				return plain, again.Claims[0].Value, nil
			}
		}
		return plain, same, &reconcile.Refusal{Guard: "still-so", Why: fmt.Sprintf("declaration %s no longer declares it", f.Declaration)}
	}
}
