package shape

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// isSeparator tells what stands between the elements of Proxmox's lists: comma,
// semicolon, blank or NUL, all of which it reads everywhere.
func isSeparator(r rune) bool { return strings.ContainsRune(",; \t\r\n\x00", r) }

// elements returns the elements of a list that is written as one, as text with
// separators, or as a single scalar, each read by its form.
func elements(sealer model.Sealer, each reader, v model.Value) []model.Value {
	raw := v.Items()
	switch v.Kind() {
	case model.String:
		for part := range strings.FieldsFuncSeq(v.Text(), isSeparator) {
			raw = append(raw, model.StringOf(part))
		}
	case model.Bool, model.Number, model.Map, model.Secret:
		raw = []model.Value{v}
	}
	items := make([]model.Value, 0, len(raw))
	for _, item := range raw {
		if e := each(sealer, item); !e.IsNull() {
			items = append(items, e)
		}
	}
	return items
}

// listOr returns the list, or null for text that held no element.
func listOr(sent model.Value, items []model.Value) model.Value {
	if len(items) == 0 && sent.Kind() != model.List {
		return model.Value{}
	}
	return model.ListOf(items...)
}

// sequence is a list whose order counts.
func sequence() form {
	return form{read: func(sealer model.Sealer, v model.Value) model.Value {
		return listOr(v, elements(sealer, text().read, v))
	}}
}

// set is a list whose order does not count, of texts.
func set() form { return setOf(text()) }

func setOf(each form) form {
	return form{schema: model.Schema{List: model.Set}, read: func(sealer model.Sealer, v model.Value) model.Value {
		items := elements(sealer, each.read, v)
		slices.SortFunc(items, compareScalars)
		return listOr(v, slices.CompactFunc(items, model.Value.Equal))
	}}
}

// compareScalars orders numbers by what they are, also where they are text.
func compareScalars(a, b model.Value) int {
	if isDigits(a.Text()) && isDigits(b.Text()) {
		return cmp.Or(cmp.Compare(len(a.Text()), len(b.Text())), cmp.Compare(a.Text(), b.Text()))
	}
	return cmp.Or(cmp.Compare(a.Text(), b.Text()), cmp.Compare(a.Kind(), b.Kind()))
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// lines is a URL-encoded text of one element a line.
func lines() form {
	each := text().read
	return form{schema: model.Schema{List: model.Set}, read: func(sealer model.Sealer, v model.Value) model.Value {
		if v.Kind() != model.String {
			return listOr(v, elements(sealer, each, v))
		}
		decoded, err := url.PathUnescape(v.Text())
		if err != nil {
			decoded = v.Text()
		}
		var items []model.Value
		for line := range strings.SplitSeq(decoded, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				items = append(items, model.StringOf(line))
			}
		}
		return listOr(v, items)
	}}
}

// rows is a list of maps, or of property strings, that the named fields tell
// apart; without names the rows' order counts.
func rows(each form, names ...string) form {
	schema := model.Schema{List: model.Keyed, Keys: names, Each: &each.schema}
	if len(names) == 0 {
		schema.List = model.Sequence
	}
	return form{schema: schema, read: func(sealer model.Sealer, v model.Value) model.Value {
		if v.Kind() == model.String {
			v = model.ListOf(v)
		}
		items := elements(sealer, each.read, v)
		if len(names) > 0 {
			slices.SortFunc(items, func(a, b model.Value) int { return compareRows(names, a, b) })
		}
		return listOr(v, items)
	}}
}

// compareRows orders rows by the named fields, and rows alike in these by all
// that they hold.
func compareRows(names []string, a, b model.Value) int {
	for _, name := range names {
		if order := compareScalars(a.At(name), b.At(name)); order != 0 {
			return order
		}
	}
	return slices.Compare(a.AppendJSON(nil), b.AppendJSON(nil))
}

// priorities is a list of names with numbers ("pve1:2,pve2") as a map; no
// number is 0.
func priorities() form {
	read := number().read
	return form{schema: model.Schema{Each: &model.Schema{Content: true}}, read: func(sealer model.Sealer, v model.Value) model.Value {
		parts := slices.Clone(v.Fields())
		if v.Kind() != model.Map {
			for _, item := range elements(sealer, text().read, v) {
				name, priority, _ := strings.Cut(item.Text(), ":")
				parts = append(parts, textPart(name, cmp.Or(priority, "0")))
			}
		}
		if len(parts) == 0 {
			return model.Value{}
		}
		for i := range parts {
			parts[i].Value = read(sealer, parts[i].Value)
		}
		return model.MapOf(parts...)
	}}
}

// rawLines are LXC's own settings, which come as pairs, as in its file.
func rawLines() form {
	return form{read: func(sealer model.Sealer, v model.Value) model.Value {
		items := make([]model.Value, 0, len(v.Items()))
		for _, pair := range v.Items() {
			items = append(items, rawLine(sealer, pair))
		}
		return listOr(v, items)
	}}
}

func rawLine(sealer model.Sealer, pair model.Value) model.Value {
	if len(pair.Items()) != 2 {
		return asSent(pair)
	}
	line := pair.Items()[0].Text() + ": " + pair.Items()[1].Text()
	if strings.HasPrefix(line, "lxc.environment") {
		return sealer.Seal(line)
	}
	return model.StringOf(line)
}

// environment is a NUL-separated list of NAME=value as a map; programs are
// given their secrets there.
func environment() form {
	seal := secret().read
	return form{read: func(sealer model.Sealer, v model.Value) model.Value {
		parts := slices.Clone(v.Fields())
		if v.Kind() != model.Map {
			for entry := range strings.SplitSeq(v.Text(), "\x00") {
				if name, value, _ := strings.Cut(entry, "="); name != "" {
					parts = append(parts, textPart(name, value))
				}
			}
		}
		if len(parts) == 0 {
			return model.Value{}
		}
		for i := range parts {
			parts[i].Value = seal(sealer, parts[i].Value)
		}
		return model.MapOf(parts...)
	}}
}
