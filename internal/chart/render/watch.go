package render

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// A watch records the calls of functions whose results differ from call to call, in one
// rendering at one time.
type watch struct {
	now time.Time
	// turn is the number of the rendering, from 0 on. Functions that can have few results choose theirs by it,
	// so that the first two renderings always differ.
	turn  int
	calls map[string]bool
}

func newWatch(now time.Time, turn int) *watch { return &watch{now, turn, map[string]bool{}} }

// called returns the names of the functions that were called, sorted.
func (w *watch) called() []string {
	var names []string
	for name := range w.calls {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isRandom reports whether a function of the templates depends on chance, also of the order in
// which Go iterates over a map.
func isRandom(name string) bool {
	return strings.HasPrefix(name, "rand") || strings.HasPrefix(name, "gen") ||
		slices.Contains([]string{"uuidv4", "htpasswd", "bcrypt", "shuffle", "encryptAES", "keys", "values"}, name)
}

// functions returns the functions that replace those of Helm.
func (w *watch) functions() template.FuncMap {
	replaced := template.FuncMap{
		"now": func() time.Time {
			w.calls["now"] = true
			return w.now
		},
		"ago": func(date any) string {
			w.calls["ago"] = true
			at := w.now
			switch d := date.(type) {
			case time.Time:
				at = d
			case int64:
				at = time.Unix(d, 0)
			case int:
				at = time.Unix(int64(d), 0)
			}
			return w.now.Sub(at).Round(time.Second).String()
		},
	}
	for name, function := range sprig.TxtFuncMap() {
		switch has := function.(type) {
		case func(any, any) bool:
			if name == "has" {
				replaced[name] = func(needle, haystack any) bool { return asks(needle, haystack) || has(needle, haystack) }
			}
		case func(any, any) (bool, error):
			if name == "mustHas" {
				replaced[name] = func(needle, haystack any) (bool, error) {
					if asks(needle, haystack) {
						return true, nil
					}
					return has(needle, haystack)
				}
			}
		}
		if isRandom(name) {
			replaced[name] = w.recording(name, cmp.Or[any](w.choosing(name), function))
		}
	}
	return replaced
}

// choosing returns a function that differs between two renderings, also where chance has few results; nil for a
// function whose results always differ.
func (w *watch) choosing(name string) any {
	switch name {
	case "randInt":
		return w.integer
	case "randNumeric":
		return w.text("0123456789")
	case "randAlpha":
		return w.text(letters)
	case "randAlphaNum", "randAscii":
		return w.text(letters + "0123456789")
	case "shuffle":
		return func(text string) string { return string(turned([]rune(text), w.turn)) }
	case "keys":
		return func(maps ...map[string]any) []string { return turned(keysOf(maps...), w.turn) }
	case "values":
		return func(of map[string]any) []any {
			var values []any
			for _, key := range turned(keysOf(of), w.turn) {
				values = append(values, of[key])
			}
			return values
		}
	}
	return nil
}

// integer returns the least number in the first rendering and the greatest in the second, so that conditions differ, too.
func (w *watch) integer(least, end int) int {
	switch w.turn {
	case 0:
		end = min(end, least+1)
	case 1:
		least = max(least, end-1)
	}
	return least + rand.IntN(end-least)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// text returns a function for random texts of some characters, the first of which the turn chooses.
func (w *watch) text(characters string) func(length int) string {
	return func(length int) string {
		b := make([]byte, max(length, 0))
		for i := range b {
			b[i] = characters[rand.IntN(len(characters))]
		}
		if len(b) > 0 {
			b[0] = characters[w.turn%len(characters)]
		}
		return string(b)
	}
}

// keysOf returns the keys of maps, those of each sorted.
func keysOf(all ...map[string]any) []string {
	var keys []string
	for _, m := range all {
		keys = append(keys, slices.Sorted(maps.Keys(m))...)
	}
	return keys
}

// turned returns a list that begins with the element at a position.
func turned[T any](list []T, at int) []T {
	if len(list) == 0 {
		return list
	}
	at %= len(list)
	return slices.Concat(list[at:], list[:at])
}

// recording returns the function, which records its calls.
func (w *watch) recording(name string, function any) any {
	f := reflect.ValueOf(function)
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		w.calls[name] = true
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	}).Interface()
}

// asks reports whether the API versions of the cluster have a name, if these are the haystack.
func asks(needle, haystack any) bool {
	versions, isVersions := haystack.(apiVersions)
	name, isText := needle.(string)
	return isVersions && isText && versions.Has(name)
}
