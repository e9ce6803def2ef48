package daemon

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// Agreement compares what is declared for the resource of a finding with what it was when the declaration and the
// source agreed last.
func (r lastReads) Agreement(f *model.Finding) (reconcile.Agreement, error) {
	id := f.Key.ID
	r.e.mu.Lock()
	if i := r.claim(f); i >= 0 {
		id = claimID(&r.e.loaded[f.Declaration].declaration.Claims[i])
	}
	r.e.mu.Unlock()
	seen, err := r.e.store.Observations([]model.Key{f.Key, {Source: model.DeclaredSource(f.Declaration), Kind: f.Kind, ID: id}})
	if err != nil {
		return reconcile.NeverAgreed, err
	}
	for i := range seen {
		seen[i] = r.e.estate.Secrets.Observations(f.Kind, seen[i])
	}
	if len(f.Changes) == 0 {
		return agreement(seen[0], seen[1], ""), nil
	}
	result := reconcile.Agreed
	for i := range f.Changes {
		switch agreement(seen[0], seen[1], f.Changes[i].Path) {
		case reconcile.Moved:
			return reconcile.Moved, nil
		case reconcile.NeverAgreed:
			result = reconcile.NeverAgreed
		}
	}
	return result, nil
}

// agreement compares what is declared at a path, "" for the whole resource, with what it was when it was live
// last. Observations are sorted newest first.
func agreement(live, declared []model.Observation, path string) reconcile.Agreement {
	if _, ok := fieldpath.Parse(path); path != "" && !ok || len(declared) == 0 {
		return reconcile.NeverAgreed
	}
	now := at(declared[0].Value, path)
	var end time.Time // of an observation; zero for the newest one
	for i := range live {
		// The versions that were declared while the observation held, newest first.
		for k := range declared {
			if !end.IsZero() && !declared[k].At.Before(end) {
				continue
			}
			was := at(declared[k].Value, path)
			if agree(live[i].Value, was, path) {
				if was.Equal(now) {
					return reconcile.Agreed
				}
				return reconcile.Moved
			}
			if !declared[k].At.After(live[i].At) {
				break
			}
		}
		end = live[i].At
	}
	return reconcile.NeverAgreed
}

// agree reports whether a live resource has what is declared at a path. The whole resource has it if it exists.
func agree(live *model.Value, declared model.Value, path string) bool {
	if path == "" {
		return live != nil && !declared.IsNull()
	}
	return live != nil && at(live, path).Equal(declared)
}

// at returns the value at a path; null if there is none.
func at(v *model.Value, path string) model.Value {
	switch {
	case v == nil:
		return model.Value{}
	case path == "":
		return *v
	}
	steps, _ := fieldpath.Parse(path)
	found, _ := fieldpath.At(*v, steps)
	return found
}

// claim returns the index of the claim of a finding; -1 if there is none. The caller holds mu.
func (r lastReads) claim(f *model.Finding) int {
	return slices.IndexFunc(r.e.loaded[f.Declaration].declaration.Claims, func(c model.Claim) bool {
		return c.Kind == f.Kind && c.Address == f.Address && c.Name == f.Name && (c.Place == "" || c.Place == f.Place)
	})
}
