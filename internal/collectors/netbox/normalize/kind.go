package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of the collector and the prefix of the kinds.
const Type = "netbox"

// A Kind is a model of NetBox and describes how its objects are read.
type Kind struct {
	// Model is the name of the model, such as "ipam.prefix". Name is the same with the type before
	// it.
	Model, Name string
	// Path is the path of its list below /api/, such as "ipam/prefixes".
	Path string
	// Since is the first version with the model.
	Since Version
	// Unlogged reports whether the changelog of NetBox does not contain the model.
	Unlogged bool

	fields table.Fields
	// namePatterns are the patterns of an object's name: the first that gives a text applies.
	namePatterns []string
	keys         []key
	legacy       []legacy
	rules        []model.SeverityRule
}

// A key is a pattern of a unique key of NetBox.
type key struct{ by, pattern string }

// An entry is a line of the table of kinds.
type entry struct {
	model, path string
	// since is the first version with the model, if it is newer than 3.7.
	since Version
	// fields are the fields in addition to the common ones, by their newest names.
	fields table.Fields
	// namePatterns are the patterns of an object's name, separated by ";"; by default the field
	// name. {a|b} is the first of two fields with a value.
	namePatterns string
	// keys are the unique keys of NetBox, as by=pattern; by default the slug or the name. "-"
	// means none.
	keys     string
	legacy   []legacy
	unlogged bool
	// refers are the models to which fields refer, as field=model, in addition to references
	// and in place of those of the same name.
	refers string
	// highReason rates edits and missing objects of the kind high, and unmanaged ones medium.
	highReason string
}

// Kinds returns every kind. Those with the most objects come first, so that their lists are started
// first.
func Kinds() []*Kind {
	var kinds []*Kind
	for _, table := range [][]entry{largest(), virtualization(), dcim(), components(), templates(), ipam(), tenancy(), extras(), circuits(), vpn(), users()} {
		for i := range table {
			kinds = append(kinds, table[i].kind())
		}
	}
	return kinds
}

func (e *entry) kind() *Kind {
	k := &Kind{Model: e.model, Name: Type + "/" + e.model, Path: e.path, Since: e.since, Unlogged: e.unlogged, legacy: e.legacy}
	k.fields = table.Join(e.fields, common())
	e.refer(k.fields)
	switch {
	case e.namePatterns != "":
		k.namePatterns = strings.Split(e.namePatterns, ";")
	case k.Has("name"):
		k.namePatterns = []string{"{name}"}
	}
	k.keys = e.unique(k)
	k.rules = k.fields.Rules(table.Edited())
	if e.highReason != "" {
		k.rules = slices.Concat(k.rules, table.Rate(model.High, e.highReason, "", append(table.Edited(), model.Missing)),
			table.Rate(model.Medium, e.highReason, "", table.Unmanaged()))
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

// Noun returns the noun for an object of a kind, such as "rack".
func Noun(kind string) string { return kind[strings.LastIndexByte(kind, '.')+1:] }

// Has reports whether the kind has a field with the name.
func (k *Kind) Has(name string) bool { return k.fields.Has(name) }

// Query returns the value of the parameter "fields" for a version. NetBox ignores names of fields
// that it does not have.
func (k *Kind) Query(v Version) string {
	names := []string{"id"}
	for i := range k.fields {
		names = append(names, k.fields[i].Name)
	}
	for _, o := range k.legacy {
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

// displayName returns the name of an object, or "".
func (k *Kind) displayName(value model.Value) string {
	for _, pattern := range k.namePatterns {
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

// fill replaces the fields in a pattern by an object's values. It returns false if the first
// one is blank; others may be blank.
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
