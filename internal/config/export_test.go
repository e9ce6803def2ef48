package config

import (
	"iter"
	"reflect"
	"slices"
)

// Keys returns every key of the configuration, without those of settings.
func Keys() []string { return keys(reflect.TypeFor[Config]()) }

func keys(t reflect.Type) []string {
	var found []string
	for name, field := range fieldsOf(t) {
		found = append(found, name)
		below := field.Type
		if below.Kind() == reflect.Slice {
			below = below.Elem()
		}
		if below.Kind() == reflect.Struct {
			found = append(found, keys(below)...)
		}
	}
	slices.Sort(found)
	return found
}

// LoadBytes is Load for the content of a file.
func LoadBytes(data []byte) (*Config, error) {
	doc := parse("driftd.yaml", "/etc/driftd", data)
	if doc.tree == nil {
		return nil, doc.err()
	}
	return build(doc, nil)
}

// SingleValues yields the path and the zero value of each single value, by path.
func SingleValues() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, l := range leaves("", reflect.TypeFor[Config]()) {
			if !l.isList() && !yield(l.path, reflect.Zero(l.field.Type).Interface()) {
				return
			}
		}
	}
}
