package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Member is one of the declarations into which a declaration with a pattern expands.
type Member struct {
	// Name is the part of the member's name that follows the name of the declaration and a slash.
	Name string
	// Settings are the settings that replace those with the pattern.
	Settings map[string]any
}

// Pattern returns the key of the setting whose value is a pattern of folders, which is dir or path, and the
// pattern. Both are "" if there is none. The pattern of dir is absolute. Settings from the command line
// have no pattern, because a path there is one folder.
func (d *Declaration) Pattern() (key, pattern string) {
	if d.path == "" {
		return "", ""
	}
	for _, key := range []string{"dir", "path"} {
		text, _ := d.tree[key].(string)
		if !strings.ContainsAny(text, "*?[") || strings.Contains(text, "://") {
			continue
		}
		if key == "path" {
			return key, strings.TrimPrefix(text, "/")
		}
		if file, err := absolute(text, d.document().dir); err == nil {
			return key, file
		}
	}
	return "", ""
}

// Expand returns a copy of the configuration in which the members of a declaration replace it. If others is
// true, which means that it may have further members, the declaration also remains. A declaration without
// members remains unchanged. References to the declaration, or to its plan as a source, are replaced by
// references to all of them.
func (c *Config) Expand(members func(Declaration) (found []Member, others bool)) *Config {
	expanded := *c
	expanded.Declarations = nil
	names := map[string][]string{}
	for _, d := range c.Declarations {
		found, others := members(d)
		all := make([]Declaration, 0, len(found)+1)
		if others || len(found) == 0 {
			all = append(all, d)
		}
		for _, m := range found {
			one := d
			one.Name, one.Settings = d.Name+"/"+m.Name, d.With(m.Settings)
			all = append(all, one)
		}
		expanded.Declarations = append(expanded.Declarations, all...)
		for i := range all {
			if len(found) > 0 {
				names[d.Name] = append(names[d.Name], all[i].Name)
				names[model.LiveSource(d.Name)] = append(names[model.LiveSource(d.Name)], model.LiveSource(all[i].Name))
			}
		}
	}
	if len(names) == 0 {
		return c
	}
	expanded.Reconcile.Writers = nil
	for _, w := range c.Reconcile.Writers {
		for _, name := range replaced([]string{w.Declaration}, names) {
			w.Declaration = name
			expanded.Reconcile.Writers = append(expanded.Reconcile.Writers, w)
		}
	}
	for _, list := range []any{&expanded.Severity, &expanded.Owners, &expanded.Notify.Routes, &expanded.Reconcile.Rules, &expanded.Reconcile.Freezes, &expanded.Triggers} {
		replaceNames(reflect.ValueOf(list).Elem(), names)
	}
	return &expanded
}

// replaced returns a list with the names of the members instead of those of their declarations.
func replaced(list []string, names map[string][]string) []string {
	var all []string
	for _, name := range list {
		if members, ok := names[name]; ok {
			all = append(all, members...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// replaceNames replaces the names in the lists of sources and declarations below a value, which it copies as far as needed.
func replaceNames(v reflect.Value, names map[string][]string) {
	switch v.Kind() {
	case reflect.Slice:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		for i := range v.Len() {
			replaceNames(v.Index(i), names)
		}
	case reflect.Struct:
		for key, field := range fieldsOf(v.Type()) {
			below := v.FieldByIndex(field.Index)
			if list, ok := below.Interface().([]string); ok && slices.Contains([]string{"source", "sources", "declaration", "declarations"}, key) {
				below.Set(reflect.ValueOf(replaced(list, names)))
			} else if field.Type != reflect.TypeFor[Settings]() && below.Kind() == reflect.Struct {
				replaceNames(below, names)
			}
		}
	}
}

// Only returns the settings with the given names.
func (s Settings) Only(names ...string) Settings {
	tree := maps.Clone(s.tree)
	maps.DeleteFunc(tree, func(name string, _ any) bool { return !slices.Contains(names, name) })
	s.tree = tree
	return s
}
