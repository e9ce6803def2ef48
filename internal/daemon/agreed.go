package daemon

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// Agreement compares the declared value for the resource of the finding with the live value at the
// last time at which the declaration and the source agreed. It returns an error if the store cannot
// be read.
func (r lastReads) Agreement(f *model.Finding) (reconcile.Agreement, error) {
	r.e.mu.Lock()
	id := f.Key.ID
	if i := r.claim(f); i >= 0 {
		id = claimID(&r.e.loaded[f.Declaration].declaration.Claims[i])
	}
	schema := r.schema(f)
	r.e.mu.Unlock()
	seen, err := r.e.store.Observations([]model.Key{f.Key, {Source: model.DeclaredSource(f.Declaration), Kind: f.Kind, ID: id}})
	if err != nil {
		return reconcile.NeverAgreed, err
	}
	for i := range seen {
		seen[i] = r.e.estate.Secrets.Observations(f.Kind, seen[i])
	}
	p := newPast(schema, seen[0], seen[1])
	if secrets := r.e.estate.Secrets; secrets != nil {
		p.seal = secrets.Sealer().SealLike
	}
	return p.agreement(f), nil
}

// recorded reports whether the record of the last apply shows that what is declared now at a change was applied.
func recorded(f *model.Finding, c *model.Change) bool {
	return f.Verdict == model.Changed && c.Declared != nil && c.Recorded != nil && c.Recorded.Equal(*c.Declared)
}

// schema returns the schema of the kind of a finding, as the source has it or as a declaration defines it; nil if
// neither does. The caller holds mu.
func (r lastReads) schema(f *model.Finding) *model.Schema {
	if kind := r.e.collected[f.Source].snapshot.Kinds[f.Kind]; kind != nil && kind.Schema != nil {
		return kind.Schema
	}
	for _, d := range r.e.declarationsFor(f.Source) {
		if kind := d.Kinds[f.Kind]; kind != nil {
			return kind.Schema
		}
	}
	return nil
}

// A past compares the observations of a resource with those of its declaration, which are sorted newest first.
type past struct {
	schema         *model.Schema
	live, declared []model.Observation
	// seal seals a value wherever another one is sealed.
	seal func(v, like model.Value) model.Value
	// deviations are those of observations, and redeclared are the paths at which what is declared now differs from
	// observations of the declaration. Both are cached.
	deviations map[[2]int][]string
	redeclared map[int][]string
}

func newPast(schema *model.Schema, live, declared []model.Observation) *past {
	return &past{schema: schema, live: live, declared: declared, deviations: map[[2]int][]string{}, redeclared: map[int][]string{},
		seal: func(v, _ model.Value) model.Value { return v }}
}

// agreement returns the joint agreement of all fields of a finding that no record shows as applied.
// For a resource as a whole, these are all fields that are or were declared.
func (p *past) agreement(f *model.Finding) reconcile.Agreement {
	var paths []string
	for i := range f.Changes {
		if !recorded(f, &f.Changes[i]) {
			paths = append(paths, f.Changes[i].Path)
		}
	}
	switch {
	case len(f.Changes) > 0 && len(paths) == 0:
		return reconcile.Agreed
	case len(p.declared) == 0 || p.declared[0].Value == nil:
		return reconcile.NeverAgreed
	case len(f.Changes) == 0:
		paths = p.everDeclared()
	}
	result := reconcile.Agreed
	if len(paths) == 0 {
		result = reconcile.NeverAgreed
	}
	for _, path := range paths {
		switch p.at(path) {
		case reconcile.Moved:
			return reconcile.Moved
		case reconcile.NeverAgreed:
			result = reconcile.NeverAgreed
		}
	}
	return result
}

// everDeclared returns the paths of all fields that are declared, or were and are no more.
func (p *past) everDeclared() []string {
	paths := diff.Redeclared(p.schema, model.Value{}, *p.declared[0].Value)
	for k := range p.declared {
		if p.declared[k].Value != nil {
			paths = append(paths, p.changed(k)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// at returns the agreement at a path: that of the last time at which the resource was live as
// declared. If the declared value was another one then, a change of the declaration was not
// applied.
func (p *past) at(path string) reconcile.Agreement {
	if _, ok := fieldpath.Parse(path); !ok {
		return reconcile.NeverAgreed
	}
	var end time.Time // of an observation; zero for the newest one
	for i := range p.live {
		// The versions that were declared while the observation held, newest first.
		for k := range p.declared {
			if !end.IsZero() && !p.declared[k].At.Before(end) {
				continue
			}
			switch {
			case !p.agree(i, k, path):
			case p.moved(k, path):
				return reconcile.Moved
			default:
				return reconcile.Agreed
			}
			if !p.declared[k].At.After(p.live[i].At) {
				break
			}
		}
		end = p.live[i].At
	}
	for k := range p.declared {
		if p.moved(k, path) {
			return reconcile.Moved
		}
	}
	return reconcile.NeverAgreed
}

// agree reports whether an observation has at a path what another one declares.
func (p *past) agree(live, declared int, path string) bool {
	l, d := p.live[live].Value, p.declared[declared].Value
	if l == nil || d == nil {
		return false
	}
	at := [2]int{live, declared}
	paths, ok := p.deviations[at]
	if !ok {
		paths = diff.Deviations(p.schema, p.seal(*d, *l), p.seal(*l, *d))
		p.deviations[at] = paths
	}
	return !diff.Touches(paths, path)
}

// moved reports whether an observation declares something else at a path than the newest one.
func (p *past) moved(declared int, path string) bool {
	return p.declared[declared].Value == nil || diff.Touches(p.changed(declared), path)
}

// changed returns the paths at which the newest observation of the declaration differs from an earlier one.
func (p *past) changed(declared int) []string {
	paths, ok := p.redeclared[declared]
	if !ok {
		was, now := *p.declared[declared].Value, *p.declared[0].Value
		paths = diff.Redeclared(p.schema, p.seal(was, now), p.seal(now, was))
		p.redeclared[declared] = paths
	}
	return paths
}

// claim returns the index of the claim of a finding; -1 if there is none. The caller holds mu.
func (r lastReads) claim(f *model.Finding) int {
	return slices.IndexFunc(r.e.loaded[f.Declaration].declaration.Claims, func(c model.Claim) bool {
		kind := c.Kind == f.Kind || slices.Contains(c.AltKinds, f.Kind)
		return kind && c.Address == f.Address && (c.Name == f.Name || c.ByIdentity) && (c.Place == "" || c.Place == f.Place || c.AltID == f.Key.ID)
	})
}
