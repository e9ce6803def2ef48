package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An Entry lists fields that a controller writes and that no declaration sets.
type Entry struct {
	// Writer is a pattern for a field manager, or for a user in the audit log
	// (system:serviceaccount:NAMESPACE:NAME). "*" matches any characters.
	Writer string
	// Kinds lists patterns for the kinds of the objects, as in findings but without "kubernetes/";
	// empty matches every kind.
	Kinds []string
	// Fields lists patterns for fields. Each pattern includes the fields below it. An element of a
	// list is written [key]. If Fields is empty, every field that is not guarded matches.
	Fields []string
}

// A Policy decides which fields are not drift although no declaration sets them.
type Policy struct {
	rows []row
}

// A row is an entry of the shipped table, or of the operator's.
type row struct {
	// managers are patterns for field managers, and accounts for users of the audit
	// log.
	managers, accounts []string
	kinds, fields      []string
	// named are the fields that the name of a field manager exempts, which any client can choose; nil for fields.
	// They are what a controller notes for itself. Other fields with the same prefix instruct it: another image, another
	// identity in the cloud, a public load balancer.
	named []string
	// admission reports whether the row requires a declared webhook or policy that may
	// change objects of the kind.
	admission bool
}

// NewPolicy returns a policy with the built-in table and the additional entries.
func NewPolicy(entries []Entry) *Policy {
	rows := shippedRows()
	for _, e := range entries {
		rows = append(rows, row{managers: []string{e.Writer}, accounts: []string{e.Writer}, kinds: e.Kinds, fields: e.Fields})
	}
	return &Policy{rows}
}

// Controller reports whether a field manager, or a user in the audit log, is a known controller.
// The result is used only to name the actor and does not exempt fields.
func (p *Policy) Controller(writer string) bool {
	return controlPlane(writer) || slices.ContainsFunc(p.rows, func(r row) bool {
		named := func(pattern string) bool { return pattern != "*" && glob(pattern, writer) }
		return slices.ContainsFunc(r.managers, named) || slices.ContainsFunc(r.accounts, named)
	})
}

// Exempt returns the evidence that the written field is not drift; "" if it is drift. Since clients
// choose the name of the field manager, it is evidence only for the fields of its table entry, and
// only if the audit log does not name the user. For a guarded field, it is evidence only together
// with a declared webhook or policy.
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
		if !r.fitsManager(f, w) {
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

// isRewritten reports whether the record of writers is not reliable for the field: an
// account that may not write it made an edit that the record lacks. Only a mark of the
// table, which has no effect, is left to its writer.
func (p *Policy) isRewritten(w *model.Write, f field) bool {
	if w.Missing == "" || controlPlane(w.Missing) || p.lists(w.Missing, w, f) {
		return false
	}
	return w.Owner == nil || f.guarded || slices.ContainsFunc(bundleFields(), f.below) || !p.names(w, f)
}

// names reports whether the table has the writer, by its name or by an account that
// used it, with the field.
func (p *Policy) names(w *model.Write, f field) bool {
	return slices.ContainsFunc(p.rows, func(r row) bool { return r.fitsManager(f, w) }) || slices.ContainsFunc(w.Owner.Accounts, func(account string) bool { return p.lists(account, w, f) })
}

// byAccounts returns the evidence for a writer whose users the audit log names. Each of
// them must be exempt. A service account is also exempt for fields that a declared
// object or annotation requests. No part of the
// control plane adds a guarded field to a declared object.
func (p *Policy) byAccounts(w *model.Write, f field) string {
	for _, account := range w.Owner.Accounts {
		injected := strings.HasPrefix(account, serviceAccount) && (supplied(w) != "" || f.annotated != "")
		if !injected && (f.guarded || !controlPlane(account)) && !p.lists(account, w, f) {
			return ""
		}
	}
	return "audit log: " + strings.Join(w.Owner.Accounts, ", ")
}

// lists reports whether the table has an entry of the account that includes the field.
func (p *Policy) lists(account string, w *model.Write, f field) bool {
	return slices.ContainsFunc(p.rows, func(r row) bool {
		return slices.ContainsFunc(r.accounts, func(a string) bool { return glob(a, account) }) && r.fits(f, w) &&
			(!f.guarded || len(r.fields) > 0)
	})
}

// supplied returns the evidence if a declared object adds the field.
func supplied(w *model.Write) string {
	if w.Supplier == "" {
		return ""
	}
	return "added by the declared " + w.Supplier
}

// unowned returns the evidence for a field without an owner: changes at admission do
// not record one. For a guarded field, the webhook or policy must be declared.
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

// fitsManager reports whether the row has the field manager of the write with the field.
func (r *row) fitsManager(f field, w *model.Write) bool {
	return r.fits(f, w) && (r.named == nil || slices.ContainsFunc(r.named, f.below)) &&
		slices.ContainsFunc(r.managers, func(m string) bool { return glob(m, w.Owner.Name) })
}

// A field is a written field in the notation of the tables.
type field struct {
	kind string
	// plain are the paths of the field and of all fields above it, without the keys of
	// list elements; keyed are the same paths with the keys in brackets.
	plain, keyed []string
	// guarded reports whether the field is guarded; see isGuarded.
	guarded bool
	// annotated is the declared annotation that requests the field from a controller.
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

// below reports whether the pattern matches the field or one above it.
func (f field) below(pattern string) bool {
	paths := f.plain
	if strings.Contains(pattern, "[") {
		paths = f.keyed
	}
	return slices.ContainsFunc(paths, func(path string) bool { return glob(pattern, path) })
}

// glob reports whether the pattern matches the text; "*" matches any characters.
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
