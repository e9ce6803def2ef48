package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// overlay puts what the environment and the flags say over the file. Only
// single values can be overridden.
func (d *document) overlay(flags *pflag.FlagSet) error {
	v := viper.New()
	v.SetEnvPrefix("DRIFTD")
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_"))
	v.AutomaticEnv()
	if flags == nil {
		flags = &pflag.FlagSet{}
	}
	for _, s := range scalars("", reflect.TypeFor[Config]()) {
		origin := "DRIFTD_" + strings.ToUpper(strings.ReplaceAll(s.path, ".", "_"))
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

// flagName returns the flag of a path: "server-listen" for server.listen.
func flagName(path string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(path) }

// A scalar is a single value of the configuration.
type scalar struct {
	path  string
	field reflect.StructField
}

// scalars lists the single values of a struct, by path.
func scalars(path string, t reflect.Type) []scalar {
	var found []scalar
	for name, field := range fieldsOf(t) {
		at := child(path, name)
		switch field.Type.Kind() {
		case reflect.Struct:
			found = append(found, scalars(at, field.Type)...)
		case reflect.Slice:
		default:
			found = append(found, scalar{at, field})
		}
	}
	slices.SortFunc(found, func(a, b scalar) int { return strings.Compare(a.path, b.path) })
	return found
}

// put writes a value from outside the file into the tree. Where the file has
// something else than a map around it, that stays and will be complained of.
func (d *document) put(s scalar, text string) {
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
