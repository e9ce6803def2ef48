package mapping

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A declaration selects the attributes of an instance that a table compares, in the form in
// which they are compared.
type declaration struct {
	sealer model.Sealer
	// onlyKnown omits attributes that the instance lacks.
	onlyKnown bool
}

// attribute returns the value of the attribute in the form in which it is compared, or null if it
// is not set.
func (d declaration) attribute(a *attribute, v model.Value) model.Value {
	if v.Kind() == model.Secret || a.optional && a.block != plainValue && v.IsEmpty() {
		return d.secretOrNull(v)
	}
	switch a.block {
	case oneBlock:
		return model.ListOf(d.block(a, first(v)))
	case manyBlocks:
		return d.many(a, v)
	case objectBlock:
		if v.IsNull() {
			return v
		}
		return d.block(a, v)
	case namedBlocks:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			fields = append(fields, model.Field{Name: f.Name, Value: d.block(a, f.Value)})
		}
		return model.MapOf(fields...)
	case plainValue:
	}
	return d.plain(a, v)
}

// secretOrNull returns null if the value is not a secret, or is an empty one.
func (d declaration) secretOrNull(v model.Value) model.Value {
	if v.Kind() == model.Secret && !v.Equal(d.sealer.Seal("")) {
		return v
	}
	return model.Value{}
}

func (d declaration) block(a *attribute, v model.Value) model.Value {
	d.onlyKnown = false
	return model.MapOf(d.fields(a.attributes, v)...)
}

func (d declaration) plain(a *attribute, v model.Value) model.Value {
	if a.convert.declared != nil && !v.IsNull() {
		v = a.convert.declared(v)
	}
	v = a.formed(v)
	switch {
	case a.optional && v.Kind() == model.String && v.Text() == "":
		return model.Value{}
	case a.sealed && !v.IsEmpty(), a.sealedURL && hasPassword(v.Str()):
		return d.sealer.SealTree(v)
	}
	return v
}

// hasPassword reports whether the value is a URL with a password, or may be one.
func hasPassword(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil {
		return strings.Contains(text, "@")
	}
	_, has := parsed.User.Password()
	return has
}

func (d declaration) many(a *attribute, v model.Value) model.Value {
	items := make([]model.Value, 0, len(v.Items()))
	for _, item := range v.Items() {
		off, _ := item.Get(a.onlyIf)
		if item.IsNull() || off.Kind() == model.Bool && off.Text() == "false" {
			continue
		}
		if item.Kind() == model.Map {
			item = d.block(a, item)
		}
		items = append(items, item)
	}
	return model.ListOf(items...)
}

func (d declaration) fields(attributes []attribute, v model.Value) []model.Field {
	fields := make([]model.Field, 0, len(attributes))
	for i := range attributes {
		if d.onlyKnown && !attributes[i].known(v) {
			continue
		}
		held, _ := v.Get(attributes[i].name)
		if or := attributes[i].or; or != "" && held.IsEmpty() {
			held, _ = v.Get(or)
		}
		if v := d.attribute(&attributes[i], held); !v.IsNull() {
			fields = append(fields, model.Field{Name: attributes[i].name, Value: v})
		}
	}
	return fields
}

// known reports whether the attributes of an instance contain this one, if only as null.
func (a *attribute) known(attributes model.Value) bool {
	_, known := attributes.Get(a.name)
	if !known && a.or != "" {
		_, known = attributes.Get(a.or)
	}
	return known
}
