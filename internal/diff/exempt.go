package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// An origin describes the writers of a live field that no declaration sets.
type origin struct {
	// writer is the last owner whose write is drift; nil if there is none.
	writer *model.Owner
	// applied reports whether the field was applied with the declaration.
	applied bool
	// exempt is the owner whose write is not drift, and reason is the evidence for that.
	// reason is "" if the field is not exempt.
	exempt *model.Owner
	reason string
	// unrecorded is the edit that the record of owners lacks, and for which the
	// writer's evidence does not count; nil where there is none.
	unrecorded *model.AuditEvent
}

// originOf returns the writers that set the node at the walk's path. For fields that are not
// declared, it includes the owner that applies the declaration, because any client can write under
// its name. Values that the system derives have no writer.
func (w *walk) originOf(owners []*model.Owner, schema *model.Schema, l model.Value) (by origin) {
	for _, o := range owners {
		if w.writers.isApplier(o) {
			if by, ok := w.ofApplier(o, schema, l); ok {
				return by
			}
		}
		if w.mayBeDerived(o, schema) {
			return origin{exempt: o, reason: "the system may have derived it when the object was made"}
		}
		why, missing := w.evidence(o, l)
		if why != "" {
			return origin{exempt: o, reason: why}
		}
		if missing != nil {
			by.unrecorded = missing
		}
		if by.writer == nil || o.At.After(by.writer.At) {
			by.writer = o
		}
	}
	return by
}

// ofApplier returns the origin of a field that the applier owns; ok is false if it is the origin of any other owner.
func (w *walk) ofApplier(o *model.Owner, schema *model.Schema, l model.Value) (by origin, ok bool) {
	switch keeps := keepsRecord(o); {
	case w.mark && keeps:
		return w.markedBy(o, l), true
	case o.Applies:
		return origin{applied: true}, true
	case w.leftToSystem(o, schema):
		return origin{}, true
	case keeps && w.schema == nil:
		return origin{exempt: o, reason: "not every default of the kind is known"}, true
	case w.newer() && !hasDefault(schema):
		return origin{exempt: o, reason: "not every default of the field is known"}, true
	}
	return origin{}, false
}

// markedBy returns the origin of a mark that the applier owns. A mark of the applier's own tool needs no
// exemption.
func (w *walk) markedBy(o *model.Owner, l model.Value) origin {
	switch why, missing := w.evidence(o, l); {
	case missing != nil:
		return origin{unrecorded: missing}
	case why != "":
		return origin{}
	}
	return origin{exempt: o, reason: "a mark of a tool that applies declarations"}
}

// leftToSystem reports whether the declaration's writer may have left the field to the
// system instead of setting it.
func (w *walk) leftToSystem(o *model.Owner, schema *model.Schema) bool {
	return w.writers.isApplier(o) && keepsRecord(o) && (w.mayDerive(schema) || w.schema != nil && w.schema.Filled)
}

// mayBeDerived reports whether the owner may own the field because the system derived it
// when the object was created.
func (w *walk) mayBeDerived(o *model.Owner, schema *model.Schema) bool {
	return w.mayDerive(schema) && w.isMaker(o)
}

// mayDerive reports whether the system may have derived the live value of the field by a rule that is unknown.
func (w *walk) mayDerive(schema *model.Schema) bool {
	return derived(schema) && schema.Derive == nil && !w.isSet()
}

// isSet reports whether the live value at the walk's path is known to be one that the system does not derive.
func (w *walk) isSet() bool { return slices.Contains(w.live.NotDerived, w.path.String()) }

// evidence returns why the owner's write at the walk's path is not drift; "" where
// it is. missing is the edit for which the evidence does not count.
func (w *walk) evidence(o *model.Owner, l model.Value) (why string, missing *model.AuditEvent) {
	return w.evidenceFor(&model.Write{Owner: o, Live: l})
}

func (w *walk) evidenceFor(write *model.Write) (why string, missing *model.AuditEvent) {
	if w.options.Exempt == nil || w.claim.Lens != nil {
		return "", nil
	}
	write.Kind, write.Path, write.Declared, write.Admission = w.live.Kind, w.path.steps(), w.claim.Value, w.subject.Admission
	if d := w.delegation(true); d != nil {
		write.Supplier = d.To
	}
	if why = w.options.Exempt(write); why == "" {
		return "", nil
	}
	missing = lastEvent(w.subject.AuditEvents, func(t *model.AuditEvent) bool {
		write.Missing = t.Account
		return w.isUnrecorded(t) && w.options.Exempt(write) == ""
	})
	if missing != nil {
		return "", missing
	}
	return why, nil
}

// isUnrecorded reports whether the event is an edit, later than the last write of the
// declaration, that may have changed the field at the walk's path and whose writer
// the record of owners lacks. Any client that can write a resource can change that record:
// the time of the declaration's write counts only if the log confirms it.
func (w *walk) isUnrecorded(t *model.AuditEvent) bool {
	if t.Action != model.Edited || t.Account == "" || len(t.Fields) > 0 && !names(t, w.livePath()) {
		return false
	}
	if d := w.writers.applier(); d != nil && t.Actor.At.Before(d.At) && d.User != "" {
		return false
	}
	return !slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool { return o.Name == t.Writer })
}

// unrecordedActor returns the actor of an edit that the record of owners lacks.
func (w *walk) unrecordedActor(t *model.AuditEvent) model.Actor {
	actor := t.Actor
	actor.Confidence = model.Likely
	actor.Evidence += ", a write that " + w.live.OwnersFrom + " lacks"
	return actor
}

// delegation returns the delegation, of the node or of one above it, to another object that
// determines the value or, if adds is set, that adds it. It returns nil if there is none.
func (w *walk) delegation(adds bool) *model.Delegation {
	if len(w.subject.Delegated)+len(w.claim.Delegated) == 0 {
		return nil
	}
	path := w.path.String()
	for _, list := range [][]model.Delegation{w.claim.Delegated, w.subject.Delegated} {
		for i := range list {
			if model.Below(path, list[i].Path) && list[i].Adds == adds {
				return &list[i]
			}
		}
	}
	return nil
}

// isHidden reports whether no output may show the value at the walk's path, or a part of it.
func (w *walk) isHidden() bool {
	path := w.path.String()
	return slices.ContainsFunc(w.claim.Delegated, func(d model.Delegation) bool {
		return d.Hidden && model.Overlap(path, d.Path)
	})
}

// exemptIfDelegated reports whether another object determines the node, or whether the declaration has
// the live value for some clusters. If so, the live value is recorded as exempt.
func (w *walk) exemptIfDelegated(schema *model.Schema, d, l model.Value) bool {
	by := w.decider(schema, d, l)
	switch {
	case by == nil:
		return false
	case by.Among:
		w.recordExemption(l, by.To, "declared so for some clusters")
	default:
		w.recordExemption(l, by.To, cmp.Or(by.Why, "decided by another declared object"))
	}
	return true
}

// decider returns the delegation of the node, or of one above it, if it explains a live value that differs from the
// declared one; nil otherwise.
func (w *walk) decider(schema *model.Schema, d, l model.Value) *model.Delegation {
	by := w.delegation(false)
	if by == nil || by.Among && !w.isOtherwise(schema, l) || by.Positive && (d.Text() == "0" || l.Text() == "0") {
		return nil
	}
	return by
}

// declaredFor returns the recorded value if the declaration has that one, too, for the cluster to which it was applied, or
// else the declared one.
func (w *walk) declaredFor(schema *model.Schema, d, r model.Value) model.Value {
	if by := w.delegation(false); by != nil && by.Among && w.record.whole && w.isOtherwise(schema, r) {
		return r
	}
	return d
}

// isOtherwise reports whether one of the claim's values has the live value at the node.
func (w *walk) isOtherwise(schema *model.Schema, l model.Value) bool {
	return within(schema, w.path.in(w.claim.Value), l) ||
		slices.ContainsFunc(w.claim.Otherwise, func(v model.Value) bool { return within(schema, w.path.in(v), l) })
}

// exempt records that the live value is not drift. docs/decisions/0027 lists the evidence
// that a field needs to be exempt.
func (w *walk) exempt(l model.Value, o *model.Owner, why string) {
	writer := ""
	if o != nil {
		writer = o.Name
	}
	w.recordExemption(l, writer, why)
}

func (w *walk) recordExemption(l model.Value, writer, why string) {
	if w.options.exempted == nil {
		return
	}
	if w.isHidden() {
		l = model.Value{}
	}
	*w.options.exempted = append(*w.options.exempted, model.Exemption{Key: w.subject.Key, Declaration: w.claim.Declaration,
		Path: w.path.String(), Live: brief(l), Writer: writer, Why: why})
}

// exempted returns the number of recorded exemptions.
func (w *walk) exempted() int {
	if w.options.exempted == nil {
		return 0
	}
	return len(*w.options.exempted)
}

// mergeExempt replaces the exemptions from index since on, which are those of the
// parts of one element, with one.
func (w *walk) mergeExempt(since int, l model.Value) {
	if w.exempted() <= since+1 {
		return
	}
	first := (*w.options.exempted)[since]
	*w.options.exempted = slices.Delete(*w.options.exempted, since, w.exempted())
	w.recordExemption(l, first.Writer, first.Why)
}

// maxBrief bounds the text of an exempt value, in runes.
const maxBrief = 160

// brief returns a value as text, shortened and without secrets.
func brief(v model.Value) string {
	if v.IsNull() {
		return ""
	}
	text := []rune(v.Public().String())
	if len(text) > maxBrief {
		return string(text[:maxBrief-1]) + "…"
	}
	return string(text)
}
