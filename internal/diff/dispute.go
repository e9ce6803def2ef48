package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// disputed returns the fields for which two claims in the same words name
// different values, each once with every claim's value, sorted by path and then
// in the order of the claims.
func disputed(s *model.Subject, claims []*model.Claim, o Options) []dispute {
	if len(claims) < 2 {
		return nil
	}
	byPath := map[saying]path{}
	for i, c := range claims {
		for _, other := range claims[i+1:] {
			if other.Lens == c.Lens {
				d := disagreement{lens: c.Lens, paths: byPath}
				d.node(wordsOf(s, c.Lens).schema, c.Value, other.Value)
			}
		}
	}
	disputes := make([]dispute, 0, len(byPath))
	for about, p := range byPath {
		disputes = append(disputes, disputeOver(s, claims, about, p, o))
	}
	first := func(d dispute) int {
		return slices.IndexFunc(claims, func(c *model.Claim) bool { return c.Lens == d.about.lens })
	}
	slices.SortFunc(disputes, func(a, b dispute) int {
		return cmp.Or(cmp.Compare(a.about.path, b.about.path), cmp.Compare(first(a), first(b)))
	})
	return disputes
}

// A dispute is a field that claims disagree on.
type dispute struct {
	about  saying
	change model.Change
	// reason says who stands alone, where that can be told.
	reason string
	// voices are the sayings of those who dispute in different words.
	voices []saying
}

func disputeOver(s *model.Subject, claims []*model.Claim, about saying, p path, o Options) dispute {
	change := model.Change{Path: about.path}
	words := wordsOf(s, about.lens)
	live, ok := lookUp(words.live, p)
	if ok {
		change.Live, change.Secret = &live, live.HasSecret()
	}
	actor := model.UnknownActor("two declarations differ; nobody needs to have touched the resource")
	var voices []voice
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
		change.Claims = append(change.Claims, model.ClaimedValue{Declaration: c.Declaration, Address: c.Address, Value: v, Actor: &who})
		actor = latest(actor, who)
		voices = append(voices, voice{claim: c, agrees: Equal(schema, v, live)})
	}
	if len(voices) > 0 {
		hand := lastWriterOf(s, voices[len(voices)-1].claim, p, o)
		change.LiveActor = &hand
		if !slices.ContainsFunc(voices, func(v voice) bool { return v.agrees }) {
			actor = cameLast(s, actor, hand)
		}
	}
	change.Actor = &actor
	return dispute{about: about, change: change, reason: alone(s, voices)}
}

// lastWriterOf returns who last wrote the live field at a path of a claim.
func lastWriterOf(s *model.Subject, c *model.Claim, p path, o Options) model.Actor {
	w := newWalk(s, c, s.Live.Value, o)
	w.path = p
	hand := w.changedBy()
	if o := w.lastWriter(); o != nil && hand.Confidence == model.Unknown && (len(w.writers.of(p)) > 0 || w.asRecorded()) {
		hand = w.actor(o)
	}
	return hand
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

// cameLast returns who came last if the live field is as no claim declares it: the
// last one to declare it, or the one who wrote it.
func cameLast(s *model.Subject, declared, hand model.Actor) model.Actor {
	switch {
	case declared.Confidence != model.Unknown || hand.Confidence != model.Unknown:
		return latest(declared, hand)
	case len(s.Live.Owners) > 0:
		return model.UnknownActor("live is as none of the declarations has it, and " + s.Live.OwnersFrom + " does not tell who made it so")
	}
	return hand
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

// words are how a live resource and its schema look to claims of one kind.
type words struct {
	schema *model.Schema
	live   model.Value
}

func wordsOf(s *model.Subject, lens model.Lens) words {
	switch {
	case lens != nil:
		return words{lens.Schema(), lens.View(s.Live.Value)}
	case s.Kind != nil:
		return words{s.Kind.Schema, s.Live.Value}
	}
	return words{nil, s.Live.Value}
}

// A disagreement collects the paths at which two trees both speak and differ.
type disagreement struct {
	lens  model.Lens
	paths map[saying]path
	path  path
}

func (d *disagreement) node(schema *model.Schema, a, b model.Value) {
	switch {
	case a.IsNull() || b.IsNull() || hidden(schema) || Equal(schema, a, b):
	case a.Kind() == model.Map && b.Kind() == model.Map:
		for _, f := range a.Fields() {
			if v, ok := b.Get(f.Name); ok {
				d.below(fieldSegment(f.Name), schema.Field(f.Name), f.Value, v)
			}
		}
	case a.Kind() == model.List && b.Kind() == model.List && granular(schema):
		d.elements(schema, a, b)
	case sequences(schema, a, b) && alike(a, b):
		d.sequence(schema, a, b)
	default:
		d.note()
	}
}

func (d *disagreement) sequence(schema *model.Schema, a, b model.Value) {
	for _, p := range pairSequence(schema, a.Items(), b.Items()) {
		d.below(p.segment(schema, itemAt(a, p.d)), schema.Element(), itemAt(a, p.d), itemAt(b, p.l))
	}
}

func (d *disagreement) note() { d.paths[saying{d.lens, d.path.String()}] = slices.Clone(d.path) }

func (d *disagreement) elements(schema *model.Schema, a, b model.Value) {
	triples, ok := pairElements(schema, a.Items(), nil, b.Items())
	if !ok {
		d.note()
		return
	}
	for _, t := range triples {
		d.below(elementSegment(schema, t.any()), schema.Element(), t.declared(), t.live())
	}
}

func (d *disagreement) below(s segment, schema *model.Schema, a, b model.Value) {
	d.path = append(d.path, s)
	d.node(schema, a, b)
	d.path = d.path[:len(d.path)-1]
}
