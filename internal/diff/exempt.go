package diff

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An authorship is who set a live field that no declaration sets.
type authorship struct {
	// writer is the last owner whose write is drift; nil if there is none.
	writer *model.Owner
	// applied reports whether the field was applied with the declaration.
	applied bool
	// exempt is the owner whose write is not drift, and why the evidence for that; why
	// is "" if the field is not exempt.
	exempt *model.Owner
	why    string
}

// author returns who set the node at the walk's path. The writer that applies the
// declaration is included for fields that it owns and that are not declared, because
// any client can write under its name. Values that the system derives have no author.
func (w *walk) author(owners []*model.Owner, schema *model.Schema, l model.Value) (by authorship) {
	for _, o := range owners {
		switch {
		case w.writers.declares(o) && o.Applies:
			return authorship{applied: true}
		case w.leaves(o, schema):
			return authorship{}
		case w.writers.declares(o) && w.newer() && !hasDefault(schema):
			return authorship{exempt: o, why: "not every default of the field is known"}
		}
		if why := w.evidence(o, l); why != "" {
			return authorship{exempt: o, why: why}
		}
		if by.writer == nil || o.At.After(by.writer.At) {
			by.writer = o
		}
	}
	return by
}

// leaves reports whether the system may have filled in a field of the owner, or the
// field is a mark of a delivery tool, so that the owner did not set it.
func (w *walk) leaves(o *model.Owner, schema *model.Schema) bool {
	if w.writers.declares(o) && keepsRecord(o) {
		return w.foreign || derived(schema) || w.schema == nil || w.schema.Filled
	}
	return derived(schema) && !o.Edits && (o.Inherits || o.At.Equal(w.live.Created))
}

// evidence returns why the owner's write at the walk's path is not drift; "" if it is
// drift. A nil owner stands for a field without an owner.
func (w *walk) evidence(o *model.Owner, l model.Value) string {
	return w.evidenceFor(&model.Write{Owner: o, Live: l})
}

func (w *walk) evidenceFor(write *model.Write) string {
	if w.options.Exempt == nil || w.claim.Lens != nil {
		return ""
	}
	write.Kind, write.Path, write.Declared, write.Admission = w.live.Kind, w.path.steps(), w.claim.Value, w.subject.Admission
	if d := w.delegation(true); d != nil {
		write.Supplier = d.To
	}
	return w.options.Exempt(write)
}

// delegation returns the delegation of the node, or of one above it, to another object
// that decides it, or, with adds, that adds it; nil if there is none.
func (w *walk) delegation(adds bool) *model.Delegation {
	if len(w.subject.Delegated)+len(w.claim.Delegated) == 0 {
		return nil
	}
	path := w.path.String()
	for _, list := range [][]model.Delegation{w.claim.Delegated, w.subject.Delegated} {
		for i := range list {
			rest, below := strings.CutPrefix(path, list[i].Path)
			if below && (rest == "" || rest[0] == '.' || rest[0] == '[') && list[i].Adds == adds {
				return &list[i]
			}
		}
	}
	return nil
}

// exemptDelegated reports whether another object decides the node, and if so, records
// the live value as exempt.
func (w *walk) exemptDelegated(l model.Value) bool {
	d := w.delegation(false)
	if d == nil {
		return false
	}
	w.note(l, d.To, "decided by another declared object")
	return true
}

// exempt records that the live value is not drift.
func (w *walk) exempt(l model.Value, o *model.Owner, why string) {
	writer := ""
	if o != nil {
		writer = o.Name
	}
	w.note(l, writer, why)
}

func (w *walk) note(l model.Value, writer, why string) {
	if w.options.exempted == nil {
		return
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
	w.note(l, first.Writer, first.Why)
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
