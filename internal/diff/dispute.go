package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// disputed returns the fields for which two claims of the same form declare different values, each
// with the value of every claim, sorted by path and then in the order of the claims.
func disputed(s *model.Subject, claims []*model.Claim, o Options) []dispute {
	if len(claims) < 2 {
		return nil
	}
	byPath := map[fieldRef]path{}
	for i, c := range claims {
		for _, other := range claims[i+1:] {
			if other.Lens == c.Lens {
				d := conflictFinder{lens: c.Lens, paths: byPath}
				d.node(formOf(s, c).schema, c.Value, other.Value)
			}
		}
	}
	disputes := make([]dispute, 0, len(byPath))
	for about, p := range byPath {
		disputes = append(disputes, disputeOver(s, claims, about, p, o))
	}
	first := func(d dispute) int {
		return slices.IndexFunc(claims, func(c *model.Claim) bool { return c.Lens == d.field.lens })
	}
	slices.SortFunc(disputes, func(a, b dispute) int {
		return cmp.Or(cmp.Compare(a.field.path, b.field.path), cmp.Compare(first(a), first(b)))
	})
	return disputes
}

// A dispute is a field that claims disagree on.
type dispute struct {
	field  fieldRef
	change model.Change
	// reason is the result of minority.
	reason string
	// statements are those of the disputing claims that have another Lens.
	statements []fieldRef
}

func disputeOver(s *model.Subject, claims []*model.Claim, about fieldRef, p path, o Options) dispute {
	change := model.Change{Path: about.path}
	words := formOf(s, claims[slices.IndexFunc(claims, func(c *model.Claim) bool { return c.Lens == about.lens })])
	live, ok := lookUp(words.live, p)
	if ok {
		change.Live, change.Secret = &live, live.HasSecret()
	}
	actor := model.UnknownActor("what is declared differs: the resource itself may be unchanged")
	var statements []statement
	schema := schemaAt(words.schema, p)
	for _, c := range claims {
		v, ok := lookUp(c.Value, p)
		if !ok || c.Lens != about.lens {
			continue
		}
		if change.Declared == nil {
			change.Declared = &v
		}
		change.Secret = change.Secret || v.HasSecret()
		who := declaredBy(c, schema, p, v)
		change.Claims = append(change.Claims, model.ClaimedValue{Declaration: c.Declaration, Address: c.Address, Position: c.Position, Value: v, Actor: &who})
		actor = latest(actor, who)
		statements = append(statements, statement{claim: c, agrees: Equal(schema, v, live)})
	}
	if len(statements) > 0 {
		writer := lastWriterOf(s, statements[len(statements)-1].claim, p, o)
		change.LiveActor = &writer
		if !slices.ContainsFunc(statements, func(s statement) bool { return s.agrees }) {
			actor = lastToAct(s, actor, writer)
		}
	}
	change.Actor = &actor
	return dispute{field: about, change: change, reason: minority(s, statements)}
}

// lastWriterOf returns who last wrote the live field at a path of a claim.
func lastWriterOf(s *model.Subject, c *model.Claim, p path, o Options) model.Actor {
	w := newWalk(s, c, s.Live.Value, o)
	w.path = p
	writer := w.changedBy()
	if o := w.lastWriter(); o != nil && writer.Confidence == model.Unknown && (len(w.writers.ownersAt(p)) > 0 || w.asRecorded()) {
		writer = w.actor(o)
	}
	return writer
}

// asRecorded reports whether the live field at the walk's path is as it was last applied.
func (w *walk) asRecorded() bool {
	if w.claim.Lens != nil || w.live.LastApplied == nil {
		return false
	}
	applied, recorded := lookUp(*w.live.LastApplied, w.path)
	live, ok := lookUp(w.live.Value, w.path)
	return recorded && ok && Equal(schemaAt(w.schema, w.path), applied, live)
}

// lastToAct returns the later one of the last actor that declared a field and the last
// one that wrote it live, for a live field that no claim agrees with.
func lastToAct(s *model.Subject, declared, writer model.Actor) model.Actor {
	switch {
	case declared.Confidence != model.Unknown || writer.Confidence != model.Unknown:
		return latest(declared, writer)
	case len(s.Live.Owners) > 0:
		return model.UnknownActor("live is as none of the declarations has it, and " + s.Live.OwnersFrom + " does not tell who made it so")
	}
	return writer
}

// schemaAt returns the schema of the node at a path; nil where it has none.
func schemaAt(schema *model.Schema, p path) *model.Schema {
	for _, s := range p {
		if s.kind == model.FieldStep {
			schema = schema.Field(s.name)
		} else {
			schema = schema.Element()
		}
	}
	return schema
}

// A form is a live resource and its schema as claims of one lens have them.
type form struct {
	schema *model.Schema
	live   model.Value
}

// formOf returns the live resource of a subject in the form of a claim.
func formOf(s *model.Subject, c *model.Claim) form { return formIn(s, c, liveOf(s, c).Value) }

// formIn returns a value of the live resource in the form of a claim.
func formIn(s *model.Subject, c *model.Claim, live model.Value) form {
	switch {
	case c.LiveRead != nil:
		return form{c.LiveRead.Schema, live}
	case c.Lens != nil:
		return form{c.Lens.Schema(), c.Lens.View(live)}
	case s.Kind != nil:
		return form{s.Kind.Schema, live}
	}
	return form{nil, live}
}

// liveOf returns the live resource that a claim is compared with: with the value that the engine of
// the declaration read, if it read one.
func liveOf(s *model.Subject, c *model.Claim) *model.Resource {
	if s.Live == nil || c.LiveRead == nil {
		return s.Live
	}
	live := *s.Live
	live.Value = c.LiveRead.Value
	return &live
}

// A conflictFinder collects the paths at which two trees both have a value and differ.
type conflictFinder struct {
	lens  model.Lens
	paths map[fieldRef]path
	path  path
}

func (d *conflictFinder) node(schema *model.Schema, a, b model.Value) {
	switch {
	case a.IsNull() || b.IsNull() || incomparable(schema) || Equal(schema, a, b):
	case a.Kind() == model.Map && b.Kind() == model.Map:
		for _, f := range a.Fields() {
			if v, ok := b.Get(f.Name); ok {
				d.descend(fieldSegment(f.Name), schema.Field(f.Name), f.Value, v)
			}
		}
	case a.Kind() == model.List && b.Kind() == model.List && granular(schema):
		d.elements(schema, a, b)
	case sequences(schema, a, b) && sameLength(a, b):
		d.sequence(schema, a, b)
	default:
		d.add()
	}
}

func (d *conflictFinder) sequence(schema *model.Schema, a, b model.Value) {
	for _, p := range pairSequence(schema, a.Items(), b.Items()) {
		d.descend(p.segment(schema, itemAt(a, p.d)), schema.Element(), itemAt(a, p.d), itemAt(b, p.l))
	}
}

func (d *conflictFinder) add() { d.paths[fieldRef{d.lens, d.path.String()}] = slices.Clone(d.path) }

func (d *conflictFinder) elements(schema *model.Schema, a, b model.Value) {
	triples, ok := pairElements(schema, a.Items(), nil, b.Items())
	if !ok {
		d.add()
		return
	}
	for _, t := range triples {
		d.descend(elementSegment(schema, t.any()), schema.Element(), t.declared(), t.live())
	}
}

func (d *conflictFinder) descend(s segment, schema *model.Schema, a, b model.Value) {
	d.path = append(d.path, s)
	d.node(schema, a, b)
	d.path = d.path[:len(d.path)-1]
}
