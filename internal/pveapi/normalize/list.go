package normalize

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// isSeparator reports whether a character separates the items of a list in Proxmox VE: comma,
// semicolon, blank or NUL. Proxmox VE accepts all of them in every list.
func isSeparator(r rune) bool { return strings.ContainsRune(",; \t\r\n\x00", r) }

// split returns the items of a list, of a text with separators, or a single value.
func split(v model.Value) []model.Value {
	if v.Kind() != model.String {
		return itemsOf(v)
	}
	var items []model.Value
	for part := range strings.FieldsFuncSeq(v.Text(), isSeparator) {
		items = append(items, model.StringOf(part))
	}
	return items
}

// itemsOf returns the items of a list, or a single value.
func itemsOf(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}

// withNotation returns a list form that also accepts other notations, which items converts. A
// text without items is null.
func withNotation(list table.Form, elements func(model.Value) []model.Value) table.Form {
	read := list.Read
	list.Read = func(c *table.Context, v model.Value) model.Value {
		read := read(c, model.ListOf(elements(v)...))
		if read.IsEmpty() && v.Kind() != model.List {
			return model.Value{}
		}
		return read
	}
	return list
}

// listOr returns the list, or null for a text without items.
func listOr(sent model.Value, items []model.Value) model.Value {
	if len(items) == 0 && sent.Kind() != model.List {
		return model.Value{}
	}
	return model.ListOf(items...)
}

// sequence is a list whose order has a meaning.
func sequence() table.Form {
	f := withNotation(table.Ordered(text()), split)
	f.Schema.Each = nil
	return f
}

// set is a list of texts whose order has no meaning.
func set() table.Form { return setOf(text()) }

func setOf(each table.Form) table.Form { return withNotation(table.Set(each), split) }

// lines is a URL-encoded text with one item on each line.
func lines() table.Form {
	f := table.Ordered(text())
	f.Schema = model.Schema{List: model.Set}
	return withNotation(f, func(v model.Value) []model.Value {
		if v.Kind() != model.String {
			return itemsOf(v)
		}
		decoded, err := url.PathUnescape(v.Text())
		if err != nil {
			decoded = v.Text()
		}
		var items []model.Value
		for line := range strings.SplitSeq(decoded, "\n") {
			items = append(items, model.StringOf(strings.TrimSpace(line)))
		}
		return items
	})
}

// rows is a list of maps, or of property strings, which the named fields identify. Without
// names, the order of the rows has a meaning.
func rows(each table.Form, names ...string) table.Form {
	if len(names) == 0 {
		return withNotation(table.Sequence(each), itemsOf)
	}
	return withNotation(table.Keyed(each, names...), itemsOf)
}

// entries is a map, or a text that parse converts to entries.
func entries(each table.Form, parse func(v model.Value) []model.Field) table.Form {
	return table.Form{Secret: each.Secret, Read: func(c *table.Context, v model.Value) model.Value {
		parts := slices.Clone(v.Fields())
		if v.Kind() != model.Map {
			parts = parse(v)
		}
		for i := range parts {
			parts[i].Value = each.Read(c, parts[i].Value)
		}
		return table.MapOf(parts)
	}}
}

// priorities is a list of names with numbers ("pve1:2,pve2") as a map. The default is 0.
func priorities() table.Form {
	f := entries(number(), func(v model.Value) []model.Field {
		var parts []model.Field
		for _, item := range split(v) {
			if name, priority, _ := strings.Cut(item.Text(), ":"); name != "" {
				parts = append(parts, textPart(name, cmp.Or(priority, "0")))
			}
		}
		return parts
	})
	f.Schema.Each = &model.Schema{Content: true}
	return f
}

// environment is a NUL-separated list of NAME=value as a map. The values may be secrets and
// are sealed.
func environment() table.Form {
	return entries(secret(), func(v model.Value) []model.Field {
		var parts []model.Field
		for entry := range strings.SplitSeq(v.Text(), "\x00") {
			if name, value, _ := strings.Cut(entry, "="); name != "" {
				parts = append(parts, textPart(name, value))
			}
		}
		return parts
	})
}

// rawLines is a list of LXC's own settings, which are pairs of key and value.
func rawLines() table.Form {
	return table.Form{Read: func(c *table.Context, v model.Value) model.Value {
		items := make([]model.Value, 0, len(v.Items()))
		for _, pair := range v.Items() {
			items = append(items, rawLine(c, pair))
		}
		return listOr(v, items)
	}}
}

func rawLine(c *table.Context, pair model.Value) model.Value {
	if len(pair.Items()) != 2 {
		return verbatim(c, pair)
	}
	line := pair.Items()[0].Text() + ": " + pair.Items()[1].Text()
	if strings.HasPrefix(line, "lxc.environment") {
		return c.Sealer.Seal(line)
	}
	return model.StringOf(line)
}
