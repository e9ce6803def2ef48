package render

import (
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
	now   time.Time
	calls map[string]bool
}

func newWatch(now time.Time) *watch { return &watch{now, map[string]bool{}} }

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
		if has, ok := function.(func(any, any) bool); ok && name == "has" {
			replaced[name] = func(needle, haystack any) bool { return asks(needle, haystack) || has(needle, haystack) }
		}
		if isRandom(name) {
			replaced[name] = w.recording(name, function)
		}
	}
	return replaced
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
