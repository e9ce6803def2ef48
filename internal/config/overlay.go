package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// overlay replaces values of the file by those of the environment and of the flags; a flag
// has precedence over a variable. Lists cannot be overridden.
func (d *document) overlay(flags *pflag.FlagSet) error {
	v := viper.New()
	v.SetEnvPrefix(strings.TrimSuffix(prefix, "_"))
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_"))
	v.AutomaticEnv()
	if flags == nil {
		flags = &pflag.FlagSet{}
	}
	all := leaves("", reflect.TypeFor[Config]())
	d.checkEnvironment(all, os.Environ())
	for _, s := range all {
		if s.isList() {
			continue
		}
		origin := variable(s.path)
		if flag := flags.Lookup(flagName(s.path)); flag != nil {
			if err := v.BindPFlag(s.path, flag); err != nil {
				return fmt.Errorf("bind flag --%s: %w", flag.Name, err)
			}
			if flag.Changed {
				origin = "--" + flag.Name
			}
		}
		if v.IsSet(s.path) {
			d.origins[s.path] = origin
			d.put(s, v.GetString(s.path))
		}
	}
	return nil
}

// flagName returns the name of the flag for a path: "server-listen" for server.listen.
func flagName(path string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(path) }

// A leaf is a single value of the configuration, or a list.
type leaf struct {
	path  string
	field reflect.StructField
}

func (l leaf) isList() bool {
	return l.field.Type.Kind() == reflect.Slice || l.field.Type.Kind() == reflect.Map
}

// leaves returns the single values and the lists of a struct, by path.
func leaves(path string, t reflect.Type) []leaf {
	var found []leaf
	for name, field := range fieldsOf(t) {
		at := child(path, name)
		if field.Type.Kind() == reflect.Struct {
			found = append(found, leaves(at, field.Type)...)
		} else {
			found = append(found, leaf{at, field})
		}
	}
	slices.SortFunc(found, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	return found
}

// overrides returns the values of the environment and the flags, by path.
func (d *document) overrides() []string {
	var all []string
	for path, origin := range d.origins {
		all = append(all, path+" by "+origin)
	}
	slices.Sort(all)
	return all
}

// put writes a value of the environment or of a flag into the tree. If the file has something
// other than a map at an enclosing key, put leaves it in place, and decode adds a problem.
func (d *document) put(s leaf, text string) {
	value := any(text)
	if n, err := strconv.Atoi(text); err == nil && s.field.Type.Kind() == reflect.Int {
		value = n
	}
	if s.field.Tag.Get("path") == "true" {
		path, err := absolute(text, "")
		if err != nil {
			d.add(s.path, "%v", err)
		}
		value = path
	}
	node, rest := d.tree, s.path
	for {
		key, below, nested := strings.Cut(rest, ".")
		if !nested {
			node[key] = value
			return
		}
		if node[key] == nil {
			node[key] = map[string]any{}
		}
		next, ok := node[key].(map[string]any)
		if !ok {
			return
		}
		node, rest = next, below
	}
}
