package pvetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An encoder writes JSON in random order, like Perl's hashes.
type encoder struct{ random *rand.Rand }

// encode appends rows, lists and scalars as JSON.
func (e encoder) encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case Row:
		return e.object(b, v)
	case map[string]any:
		return e.object(b, v)
	case ordered:
		return e.items(b, v)
	case []Row:
		items := make([]any, len(v))
		for i, row := range v {
			items[i] = row
		}
		return e.list(b, items)
	case []string:
		items := make([]any, len(v))
		for i, text := range v {
			items[i] = text
		}
		return e.list(b, items)
	case []any:
		return e.list(b, v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pvetest: encode %T: %v", v, err))
	}
	return append(b, text...)
}

func (e encoder) object(b []byte, fields map[string]any) []byte {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	e.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(e.encode(b, name), ':')
		b = e.encode(b, e.unordered(name, fields[name]))
	}
	return append(b, '}')
}

func (e encoder) list(b []byte, items []any) []byte {
	items = slices.Clone(items)
	e.random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return e.items(b, items)
}

// An ordered list is encoded as it is.
type ordered []any

func (e encoder) items(b []byte, items []any) []byte {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.encode(b, item)
	}
	return append(b, ']')
}

// unordered shuffles the texts that Proxmox VE builds from hashes.
func (e encoder) unordered(name string, v any) any {
	text, ok := v.(string)
	if !ok || !slices.Contains([]string{"content", "nodes", "privs", "groups", "users", "exitnodes", "log_ratelimit"}, name) {
		return v
	}
	parts := strings.Split(text, ",")
	e.random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, ",")
}
