package main

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/config"
)

// A row is one key of a section.
type row struct{ key, typ, fallback, meaning string }

// A list is a key whose items have a section of their own.
type list struct {
	key  string
	elem reflect.Type
	// first is an item with defaults only.
	first reflect.Value
}

// A reader converts structs to rows. A missing comment is a problem.
type reader struct {
	comments *comments
	problems []error
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

func (r *reader) err() error { return errors.Join(r.problems...) }

// intro returns the page's text for a struct, from its comment.
func (r *reader) intro(t reflect.Type) string {
	d, err := r.comments.of(t)
	if err != nil {
		r.problem("%w", err)
		return ""
	}
	if d.text == "" {
		r.problem("%s has no comment: describe it in the code", t)
	}
	return prose(t.Name(), d.text, keysOf(t))
}

// rows returns the keys of a struct and of the structs in it, and its lists. Each key gets the
// prefix.
func (r *reader) rows(v reflect.Value, prefix string) (rows []row, lists []list) {
	d, err := r.comments.of(v.Type())
	if err != nil {
		r.problem("%w", err)
		return nil, nil
	}
	keys := keysOf(v.Type())
	for field, value := range v.Fields() {
		name, squash, ok := keyOf(field)
		switch {
		case !ok:
			continue
		case squash:
			below, more := r.rows(value, prefix)
			rows, lists = append(rows, below...), append(lists, more...)
			continue
		}
		if strings.TrimSpace(d.fields[field.Name]) == "" {
			r.problem("%s.%s has no comment: describe the key %q in the code", v.Type(), field.Name, prefix+name)
		}
		one := row{prefix + name, typeOf(field, d.fields[field.Name]), "", prose(field.Name, d.fields[field.Name], keys)}
		below := structOf(value)
		switch {
		case field.Type == reflect.TypeFor[config.Match]():
			one.typ = "[match](#match)"
			rows = append(rows, one)
		case below.IsValid():
			rows = append(rows, one)
			inner, more := r.rows(below, prefix+name+".")
			rows, lists = append(rows, inner...), append(lists, more...)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			rows = append(rows, one)
			lists = append(lists, list{prefix + name, field.Type.Elem(), firstOf(value)})
		default:
			one.fallback = written(value, one.typ)
			rows = append(rows, one)
		}
	}
	return rows, lists
}

// keyOf returns the key of a field, and whether the field's own fields replace it.
func keyOf(field reflect.StructField) (key string, squash, ok bool) {
	key, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
	return key, options == "squash", key != "-" && field.IsExported() && (key != "" || options == "squash")
}

// keysOf returns the keys of a struct by the names of its fields.
func keysOf(t reflect.Type) map[string]string {
	keys := map[string]string{}
	for field := range t.Fields() {
		key, squash, ok := keyOf(field)
		switch {
		case ok && squash:
			for name, key := range keysOf(field.Type) {
				keys[name] = key
			}
		case ok:
			keys[field.Name] = key
		}
	}
	return keys
}

// structOf returns the struct that a field holds or points to, except for types that are a single
// value in the file.
func structOf(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		v = v.Elem()
	}
	switch v.Interface().(type) {
	case time.Time, config.Settings:
		return reflect.Value{}
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v
}

// firstOf returns the first item of a list, or an empty one.
func firstOf(v reflect.Value) reflect.Value {
	if v.Len() > 0 {
		return v.Index(0)
	}
	return reflect.New(v.Type().Elem()).Elem()
}

// typeOf returns the name of a field's type in the file.
func typeOf(field reflect.StructField, comment string) string {
	path := field.Tag.Get("path") == "true"
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[time.Time]():
		return "date or time"
	case reflect.TypeFor[slog.Level]():
		return "text"
	}
	switch t.Kind() {
	case reflect.String:
		if path {
			return "path"
		}
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		switch {
		case t.Elem().Kind() == reflect.Struct:
			return "list"
		case path:
			return "list of paths"
		}
		return "list of texts"
	case reflect.Map:
		return "names and values"
	case reflect.Struct:
		return "keys"
	}
	if strings.Contains(strings.ReplaceAll(comment, "\n", " "), "in bytes") {
		return "size"
	}
	return "number"
}
