package mapping

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// onTexts applies f to a string, or to every string of a list.
func onTexts(f func(string) string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		switch v.Kind() {
		case model.String:
			return model.StringOf(f(v.Text()))
		case model.List:
			items := slices.Clone(v.Items())
			for i, item := range items {
				if item.Kind() == model.String {
					items[i] = model.StringOf(f(item.Text()))
				}
			}
			return model.ListOf(items...)
		}
		return v
	}
}

// trimLines removes line breaks at the end of a text; a text of blanks only becomes empty.
func trimLines(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return strings.TrimRight(s, "\r\n")
}

// fullLines removes blank lines, and the blanks around the other lines.
func fullLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// elements splits a list in a text at commas, semicolons and blanks.
func elements(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",; \t\r\n", r) })
}

// listed converts a text to a list.
func listed(v model.Value) model.Value {
	if v.Kind() != model.String {
		return v
	}
	items := []model.Value{}
	for _, part := range elements(v.Text()) {
		items = append(items, model.StringOf(part))
	}
	return model.ListOf(items...)
}

// joined returns a conversion of a list of scalars to one text.
func joined(by string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		texts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			texts[i] = item.Text()
		}
		return model.StringOf(strings.Join(texts, by))
	}
}

// rejoined returns a function that replaces the separators of a list in a text.
func rejoined(by string) func(string) string {
	return func(s string) string { return strings.Join(elements(s), by) }
}

func joinedSorted(by string) func(model.Value) model.Value {
	return func(v model.Value) model.Value { return onTexts(sortedBy(by))(joined(by)(v)) }
}

func sortedBy(by string) func(string) string {
	return func(s string) string {
		parts := elements(s)
		slices.SortFunc(parts, compareNatural)
		return strings.Join(parts, by)
	}
}

// compareNatural compares numbers by value, and other texts as texts.
func compareNatural(a, b string) int {
	if strings.Trim(a+b, "0123456789") == "" {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

// word returns a conversion to the word at an index of a text, from 0; a number if it is one.
func word(n string) func(model.Value) model.Value {
	at, err := strconv.Atoi(n)
	return func(v model.Value) model.Value {
		words := strings.Fields(v.Str())
		if err != nil || at < 0 || at >= len(words) {
			return model.Value{}
		}
		if number, ok := model.NumberOf(words[at]); ok {
			return number
		}
		return model.StringOf(words[at])
	}
}

// property returns a conversion to the value of a key in a property string. A text without
// keys is the value of that key.
func property(key string) func(model.Value) model.Value {
	return onTexts(func(s string) string {
		for part := range strings.SplitSeq(s, ",") {
			if name, value, named := strings.Cut(part, "="); named && name == key {
				return value
			}
		}
		if strings.Contains(s, "=") {
			return ""
		}
		return s
	})
}

// properties returns a conversion of a map to a property string: first the value of key without its
// name, and then the others, sorted by name.
func properties(key string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		if v.Kind() != model.Map || v.HasSecret() {
			return v
		}
		var parts []string
		for _, f := range v.Fields() {
			text := propertyText(f.Value)
			if f.Name != key {
				text = f.Name + "=" + text
			}
			parts = append(parts, text)
		}
		return model.StringOf(joinProperties(parts))
	}
}

func propertyText(v model.Value) string {
	switch {
	case v.Kind() == model.Bool && v.Text() == "true":
		return "1"
	case v.Kind() == model.Bool:
		return "0"
	}
	return joined(";")(v).Text()
}

// canonicalProperties returns a conversion of a property string to the order of properties.
func canonicalProperties(key string) func(model.Value) model.Value {
	return onTexts(func(s string) string {
		var parts []string
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); key != "" {
				part = strings.TrimPrefix(part, key+"=")
			}
			if part != "" {
				parts = append(parts, part)
			}
		}
		return joinProperties(parts)
	})
}

// joinProperties joins the parts, beginning with the one without a name.
func joinProperties(parts []string) string {
	named := func(s string) int { return strings.Count(s[:1+max(0, strings.IndexByte(s, '='))], "=") }
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(cmp.Compare(named(a), named(b)), cmp.Compare(a, b)) })
	return strings.Join(parts, ",")
}
