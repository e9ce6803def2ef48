package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Type is the first part of the kinds' names.
const Type = "netbox"

// A Kind is a model of NetBox, and how its objects are read.
type Kind struct {
	// Model is what NetBox calls it ("ipam.prefix"), Name the same with the type
	// before it.
	Model, Name string
	// Path is its list below /api/ ("ipam/prefixes").
	Path string
	// Since is the first version that has it.
	Since Version
	// Unlogged tells that NetBox writes no changelog of it.
	Unlogged bool

	fields table.Fields
	// called are the patterns of its name: the first that says something counts.
	called []string
	keys   []key
	older  []older
	rules  []model.SeverityRule
}

// A key is a pattern of what is unique in NetBox.
type key struct{ by, pattern string }

// An entry is a line of the table of kinds.
type entry struct {
	model, path string
	// since is the first version that has it, where driftd reads older ones.
	since Version
	// fields are the fields besides those that most kinds have, by their newest names.
	fields table.Fields
	// called is what people call an object: patterns, split by ";"; without it
	// its name. {a|b} is the first of two fields that says something.
	called string
	// keys are what is unique in NetBox, as by=pattern; without it the slug or
	// the name, "-" for nothing.
	keys     string
	older    []older
	unlogged bool
	// why says what all its fields decide, when drift of them is severe.
	why string
}

// Kinds returns every kind, those with the most objects first, so that their
// lists are begun first.
func Kinds() []*Kind {
	var kinds []*Kind
	for _, table := range [][]entry{crowds(), virtualization(), dcim(), components(), templates(), ipam(), tenancy(), extras(), circuits(), vpn(), users()} {
		for i := range table {
			kinds = append(kinds, table[i].kind())
		}
	}
	return kinds
}

func (e *entry) kind() *Kind {
	k := &Kind{Model: e.model, Name: Type + "/" + e.model, Path: e.path, Since: e.since, Unlogged: e.unlogged, older: e.older}
	k.fields = table.Join(e.fields, common())
	switch {
	case e.called != "":
		k.called = strings.Split(e.called, ";")
	case k.Has("name"):
		k.called = []string{"{name}"}
	}
	k.keys = e.unique(k)
	k.rules = k.fields.Rules(table.Edited())
	if e.why != "" {
		k.rules = slices.Concat(k.rules, table.Rate(model.High, e.why, "", append(table.Edited(), model.Missing)),
			table.Rate(model.Medium, e.why, "", table.Unmanaged()))
	}
	return k
}

func (e *entry) unique(k *Kind) []key {
	words := e.keys
	switch {
	case words == "-":
		return nil
	case words != "":
	case k.Has("slug"):
		words = "slug={slug}"
	default:
		words = "name={name}"
	}
	var keys []key
	for _, word := range strings.Fields(words) {
		by, pattern, _ := strings.Cut(word, "=")
		keys = append(keys, key{by: by, pattern: pattern})
	}
	return keys
}

// Noun returns what people call an object of the kind of that name ("rack").
func Noun(kind string) string { return kind[strings.LastIndexByte(kind, '.')+1:] }

// Has tells whether the kind has a field of this name.
func (k *Kind) Has(name string) bool { return k.fields.Has(name) }

// Query returns the fields to ask a version for, as the parameter "fields".
// Those that it does not have it leaves out.
func (k *Kind) Query(v Version) string {
	names := []string{"id"}
	for i := range k.fields {
		names = append(names, k.fields[i].Name)
	}
	for _, o := range k.older {
		if v.Before(o.until) {
			names = append(names, strings.Fields(o.fields)...)
		}
	}
	created := "created"
	if k.Model == "users.user" {
		created = "date_joined"
	}
	names = append(names, created, lastUpdated)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// call returns what people call an object, or "".
func (k *Kind) call(value model.Value) string {
	for _, pattern := range k.called {
		if name, ok := fill(pattern, value); ok {
			return name
		}
	}
	return ""
}

func (k *Kind) identities(value model.Value) []model.Identity {
	ids := make([]model.Identity, 0, len(k.keys))
	for _, key := range k.keys {
		if text, ok := fill(key.pattern, value); ok {
			ids = append(ids, model.Identity{By: key.by, Value: text})
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// fill puts an object's fields into a pattern. Without the first of them it says
// nothing; any other may be empty.
func fill(pattern string, value model.Value) (string, bool) {
	if name, plain := strings.CutPrefix(pattern, "{"); plain && strings.HasSuffix(name, "}") && !strings.ContainsAny(name[:len(name)-1], "{|") {
		text := value.At(name[:len(name)-1]).Text()
		return text, text != ""
	}
	var b strings.Builder
	first := true
	for {
		before, rest, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		names, after, _ := strings.Cut(rest, "}")
		text := firstOf(names, value)
		if first && text == "" {
			return "", false
		}
		first = false
		b.WriteString(text)
		pattern = after
	}
}

func firstOf(names string, value model.Value) string {
	for name := range strings.SplitSeq(names, "|") {
		if text := value.At(name).Text(); text != "" {
			return text
		}
	}
	return ""
}
