package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An Entry names the fields that a controller writes beside what is declared.
type Entry struct {
	// Writer is a pattern of a field manager, or of a user of the audit log
	// (system:serviceaccount:NAMESPACE:NAME). "*" stands for any characters.
	Writer string
	// Kinds are those of the objects, as in findings without "kubernetes/"; empty
	// means every kind.
	Kinds []string
	// Fields are patterns of fields; each covers what is below it. An element of
	// a list is written [key]. Empty means every field that is not guarded.
	Fields []string
}

// A Policy decides which fields that no declaration sets are not drift.
type Policy struct {
	rows []row
}

// A row is an entry of the shipped table, or of the operator's.
type row struct {
	// managers are patterns of field managers, accounts of users of the audit log.
	managers, accounts []string
	kinds, fields      []string
	// admission reports that the row counts only with a declared webhook or policy
	// that may change objects of the kind.
	admission bool
}

// NewPolicy returns the shipped table with the operator's entries.
func NewPolicy(entries []Entry) *Policy {
	rows := shippedRows()
	for _, e := range entries {
		rows = append(rows, row{managers: []string{e.Writer}, accounts: []string{e.Writer}, kinds: e.Kinds, fields: e.Fields})
	}
	return &Policy{rows}
}

// Controller reports whether a field manager or a user of the audit log is known
// as a controller. The answer decides who is named as an actor and hides nothing.
func (p *Policy) Controller(writer string) bool {
	return controlPlane(writer) || slices.ContainsFunc(p.rows, func(r row) bool {
		named := func(pattern string) bool { return pattern != "*" && glob(pattern, writer) }
		return slices.ContainsFunc(r.managers, named) || slices.ContainsFunc(r.accounts, named)
	})
}

// Exempt returns the evidence for which the written field is not drift; "" where
// it is drift. What a client says of itself, its field manager's name, counts
// only for exactly the fields of the table, never for a guarded one, and not at
// all where the audit log names the user.
func (p *Policy) Exempt(w *model.Write) string {
	f := fieldOf(w)
	switch {
	case p.isRewritten(w, f):
		return ""
	case w.Owner == nil:
		return unowned(w, f)
	case len(w.Owner.Accounts) > 0:
		return p.byAccounts(w, f)
	case w.Owner.Edits:
		return ""
	case supplied(w) != "":
		return supplied(w)
	case f.annotated != "":
		return "declared annotation " + f.annotated
	}
	for _, r := range p.rows {
		if !r.fits(f, w) || !slices.ContainsFunc(r.managers, func(m string) bool { return glob(m, w.Owner.Name) }) {
			continue
		}
		if r.admission {
			return "field manager " + w.Owner.Name + " in the table, and " + admittedBy(w.Admission)
		}
		if !f.guarded {
			return "field manager " + w.Owner.Name + " in the table"
		}
	}
	return ""
}

// isRewritten reports whether the record of writers is not to be believed about the
// field: an account that may not write it made an edit that the record lacks. Only a
// mark of the table, which decides nothing, is left to its writer.
func (p *Policy) isRewritten(w *model.Write, f field) bool {
	if w.Missing == "" || controlPlane(w.Missing) || p.lists(w.Missing, w, f) {
		return false
	}
	return w.Owner == nil || f.guarded || slices.ContainsFunc(bundleFields(), f.below) || !p.names(w, f)
}

// names reports whether the table has the writer, by its name or by an account that
// used it, with the field.
func (p *Policy) names(w *model.Write, f field) bool {
	return slices.ContainsFunc(p.rows, func(r row) bool {
		return r.fits(f, w) && slices.ContainsFunc(r.managers, func(m string) bool { return glob(m, w.Owner.Name) })
	}) || slices.ContainsFunc(w.Owner.Accounts, func(account string) bool { return p.lists(account, w, f) })
}

// byAccounts returns the evidence where the audit log names who used the writer:
// each of them must be exempt. No part of the control plane adds a guarded field
// to a declared object.
func (p *Policy) byAccounts(w *model.Write, f field) string {
	for _, account := range w.Owner.Accounts {
		injected := strings.HasPrefix(account, serviceAccount) && (supplied(w) != "" || f.annotated != "")
		if !injected && (f.guarded || !controlPlane(account)) && !p.lists(account, w, f) {
			return ""
		}
	}
	return "audit log: " + strings.Join(w.Owner.Accounts, ", ")
}

// lists reports whether the table has the account with the field.
func (p *Policy) lists(account string, w *model.Write, f field) bool {
	return slices.ContainsFunc(p.rows, func(r row) bool {
		return slices.ContainsFunc(r.accounts, func(a string) bool { return glob(a, account) }) && r.fits(f, w) &&
			(!f.guarded || len(r.fields) > 0)
	})
}

// supplied returns the evidence of a declared object that adds the field.
func supplied(w *model.Write) string {
	if w.Supplier == "" {
		return ""
	}
	return "added by the declared " + w.Supplier
}

// unowned returns the evidence for a field that nobody owns: whatever changes an
// object at admission leaves no owner. A guarded field needs one that is declared.
func unowned(w *model.Write, f field) string {
	switch {
	case len(w.Admission) > 0:
		return "no field manager, and " + admittedBy(w.Admission)
	case w.Admits && !f.guarded:
		return "no field manager, and a webhook or policy may change the kind at admission"
	}
	return ""
}

func admittedBy(refs []model.Ref) string {
	return "the declared " + strings.TrimPrefix(refs[0].Kind, "kubernetes/") + " " + refs[0].ID + " may change the kind at admission"
}

func (r *row) fits(f field, w *model.Write) bool {
	if r.admission && len(w.Admission) == 0 {
		return false
	}
	if len(r.kinds) > 0 && !slices.ContainsFunc(r.kinds, func(k string) bool { return glob(k, f.kind) }) {
		return false
	}
	return len(r.fields) == 0 || slices.ContainsFunc(r.fields, f.below)
}

// A field is a written field in the words of the tables.
type field struct {
	kind string
	// plain are the paths of the field and of all above it without keys, keyed
	// with them in brackets.
	plain, keyed []string
	// guarded reports that the field is never exempt by a name.
	guarded bool
	// annotated is the declared annotation by which a controller adds the field.
	annotated string
}

func fieldOf(w *model.Write) field {
	f := field{kind: strings.TrimPrefix(w.Kind, "kubernetes/")}
	var plain, keyed strings.Builder
	for i, step := range w.Path {
		switch {
		case step.Kind != model.FieldStep:
			keyed.WriteString("[" + keyText(step.Text) + "]")
		case i == 0:
			plain.WriteString(step.Text)
			keyed.WriteString(step.Text)
		default:
			plain.WriteString("." + step.Text)
			keyed.WriteString("." + step.Text)
		}
		f.plain, f.keyed = append(f.plain, plain.String()), append(f.keyed, keyed.String())
	}
	f.guarded = isGuarded(f, w.Live)
	f.annotated = injection(f, w.Declared)
	return f
}

// below reports whether the pattern covers the field or one above it.
func (f field) below(pattern string) bool {
	paths := f.plain
	if strings.Contains(pattern, "[") {
		paths = f.keyed
	}
	return slices.ContainsFunc(paths, func(path string) bool { return glob(pattern, path) })
}

// glob reports whether the pattern, in which "*" stands for any characters,
// matches the text.
func glob(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, first)
	if !wild || !ok {
		return ok && text == ""
	}
	for i := range len(text) + 1 {
		if glob(rest, text[i:]) {
			return true
		}
	}
	return false
}
