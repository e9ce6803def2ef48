package config

import (
	"encoding"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-viper/mapstructure/v2"

	"github.com/driftd/driftd/internal/timeparse"
)

// decode fills a struct with the part of the tree at path. It adds a problem for each unknown
// key and each value of the wrong type.
func (d *document) decode(path string, tree map[string]any, into any) {
	d.checkKeys(path, tree, reflect.TypeOf(into))
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     into,
		RootName:   path,
		DecodeHook: convert,
		MatchName:  func(key, field string) bool { return key == field },
	})
	if err == nil {
		err = decoder.Decode(tree)
	}
	d.addDecodeErrors(path, err)
}

// addDecodeErrors adds a problem for each of the errors that are joined in err.
func (d *document) addDecodeErrors(path string, err error) {
	var joined interface{ Unwrap() []error }
	var one *mapstructure.DecodeError
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			d.addDecodeErrors(path, e)
		}
	case errors.As(err, &one):
		d.add(one.Name(), "%s: %v", one.Name()[strings.LastIndex(one.Name(), ".")+1:], one.Unwrap())
	default:
		d.add(path, "%v", err)
	}
}

// convert parses the scalar types that YAML lacks, and rejects values of the wrong type. Its
// errors contain a value only where that cannot be a secret.
func convert(from, to reflect.Value) (any, error) {
	begin(to)
	switch to.Interface().(type) {
	case time.Duration:
		return duration(from)
	case time.Time:
		return instant(from)
	case slog.Level:
		return level(from)
	case int64:
		if from.Kind() == reflect.String {
			return bytesIn(from.String())
		}
	}
	if expanded, ok, err := expand(from, to); ok {
		return expanded, err
	}
	if to.Kind() == reflect.Slice || to.Kind() == reflect.Map {
		to.SetZero() // replaces the default instead of modifying it
	}
	if fits(from, to) {
		return from.Interface(), nil
	}
	if isInteger(from) && isInteger(to) || from.CanFloat() && to.CanFloat() {
		return nil, errors.New("the number is out of range")
	}
	return nil, fmt.Errorf("want %s, got %s", wanted(from, to), nameOf(from.Kind()))
}

// expand returns the full form of a section that the file may abbreviate; ok reports whether
// the file did.
func expand(from, to reflect.Value) (expanded any, ok bool, err error) {
	if short, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok && from.Kind() == reflect.String {
		err = short.UnmarshalText([]byte(from.String()))
		return to.Interface(), true, err
	}
	tree, isTree := from.Interface().(map[string]any)
	switch to.Interface().(type) {
	case Settings:
		return Settings{tree: tree}, isTree, nil
	case Controller:
		return map[string]any{"writer": from.String()}, from.Kind() == reflect.String, nil
	case Match:
		return listed(tree, reflect.TypeFor[Match]()), isTree, nil
	case SeverityMatch:
		return listed(tree, reflect.TypeFor[SeverityMatch]()), isTree, nil
	case ReconcileMatch:
		return listed(tree, reflect.TypeFor[ReconcileMatch]()), isTree, nil
	}
	return nil, false, nil
}

// begin sets the defaults of a list item that a 0 in the file replaces.
func begin(to reflect.Value) {
	switch to.Interface().(type) {
	case Receiver:
		to.Set(reflect.ValueOf(Receiver{Rate: Rate{Messages: 20, Per: 10 * time.Minute}}))
	case Trigger:
		to.Set(reflect.ValueOf(Trigger{MinInterval: 10 * time.Second}))
	case ReconcileRule:
		to.Set(reflect.ValueOf(newReconcileRule()))
	}
}

// listed returns a copy of a tree in which a single text is a list of one, where the struct
// has a list.
func listed(tree map[string]any, t reflect.Type) map[string]any {
	tree = maps.Clone(tree)
	for name, field := range fieldsOf(t) {
		if text, ok := tree[name].(string); ok && field.Type.Kind() == reflect.Slice {
			tree[name] = []any{text}
		}
	}
	return tree
}

func duration(from reflect.Value) (any, error) {
	if from.CanInt() && from.Int() == 0 {
		return time.Duration(0), nil
	}
	if from.Kind() != reflect.String {
		return nil, fmt.Errorf("want a duration such as 90s, 10m or 90d, got %s", nameOf(from.Kind()))
	}
	return timeparse.ParseDuration(from.String())
}

// instant parses a time. A date without a time is its last second, so that "expires:
// 2026-12-31" includes that day.
func instant(from reflect.Value) (any, error) {
	if from.Kind() == reflect.String {
		if t, err := time.Parse(time.RFC3339, from.String()); err == nil {
			return t, nil
		}
		if t, err := time.Parse(time.DateOnly, from.String()); err == nil {
			return t.Add(timeparse.Day - time.Nanosecond), nil
		}
	}
	return nil, errors.New("want a date such as 2026-12-31 or a time such as 2026-12-31T18:00:00Z")
}

// bytesIn parses a size such as 512MiB and returns bytes.
func bytesIn(text string) (any, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return nil, errors.New("want a size such as 512MiB, or a number of bytes")
	}
	return int64(n), nil
}

func level(from reflect.Value) (any, error) {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if from.Kind() == reflect.String && from.String() == strings.ToLower(l.String()) {
			return l, nil
		}
	}
	return nil, errors.New("want debug, info, warn or error")
}

// fits reports whether a field can hold a value of the file.
func fits(from, to reflect.Value) bool {
	switch {
	case to.Kind() == reflect.Interface || to.Kind() == reflect.Pointer:
		return true
	case isInteger(to):
		return isInteger(from) && holdsInteger(from, to)
	case to.CanFloat():
		return isInteger(from) || from.CanFloat() && !math.IsInf(from.Float(), 0) && !math.IsNaN(from.Float())
	case to.Kind() == reflect.Struct:
		return from.Kind() == reflect.Map
	}
	return from.Kind() == to.Kind()
}

func isInteger(v reflect.Value) bool { return v.CanInt() || v.CanUint() }

// holdsInteger reports whether an integer is within the range of a field. YAML decodes an
// integer as unsigned only if it is too large for a signed one.
func holdsInteger(from, to reflect.Value) bool {
	switch {
	case to.CanInt():
		return from.CanInt() && !to.OverflowInt(from.Int())
	case from.CanInt():
		return from.Int() >= 0 && !to.OverflowUint(uint64(from.Int()))
	}
	return !to.OverflowUint(from.Uint())
}

func wanted(from, to reflect.Value) string {
	if to.Kind() == reflect.String && from.Kind() != reflect.Slice && from.Kind() != reflect.Map {
		return "text (put it in quotes)"
	}
	return nameOf(to.Kind())
}

func nameOf(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys and values"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
