package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/suggest"
)

// checkKeys adds a problem for every key of a tree without a field in the type.
func (d *document) checkKeys(path string, tree any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch tree := tree.(type) {
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return
		}
		for i, item := range tree {
			d.checkKeys(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())
		}
	case map[string]any:
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[Settings]() {
			return
		}
		fields := fieldsOf(t)
		for key, below := range tree {
			if field, ok := fields[key]; ok {
				d.checkKeys(child(path, key), below, field.Type)
			} else {
				valid := slices.Sorted(maps.Keys(fields))
				d.add(child(path, key), "%s", unknownKey(key, valid))
				if near, ok := suggest.Word(key, valid); ok {
					d.meant[child(path, near)] = true
				}
			}
		}
	}
}

// fieldsOf returns the fields of a struct by their key in the file.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		switch {
		case options == "squash":
			for name, inner := range fieldsOf(field.Type) {
				inner.Index = slices.Concat(field.Index, inner.Index)
				fields[name] = inner
			}
		case name == "-" || !field.IsExported():
		case name == "":
			fields[field.Name] = field
		default:
			fields[name] = field
		}
	}
	return fields
}

// unknownKey returns the problem of an unknown key, with a hint.
func unknownKey(key string, valid []string) string {
	text := fmt.Sprintf("unknown key %q", key)
	if secret.Name(key) {
		return text + ": secrets do not belong in this file, write it to a file of its own" + secretFile(key, valid)
	}
	if near, ok := suggest.Word(key, valid); ok {
		return fmt.Sprintf("%s: did you mean %q?", text, near)
	}
	if len(valid) == 0 {
		return text + ": there are no settings here, remove it"
	}
	return text + ": want one of " + strings.Join(valid, ", ")
}

// secretFile returns a hint with the key that takes the name of a secret's file.
func secretFile(key string, valid []string) string {
	if slices.Contains(valid, key+"_file") {
		return fmt.Sprintf(" and name that in %q", key+"_file")
	}
	if slices.Contains(valid, "token_file") {
		return ` and name that in "token_file"`
	}
	return ""
}
