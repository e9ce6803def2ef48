// Package tabletest compares the kinds of a collector with a golden file. The file contains the
// fields of each kind, how they are read and compared, which are secret, and the severity of drift.
package tabletest

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

var update = flag.Bool("update", false, "write the golden files") //nolint:gochecknoglobals // a flag of the tests that use the package

// A Read returns the canonical value of an object of a kind. The object has a single field; the
// result is Null if the collector does not read that field.
type Read func(kind string, object model.Value) model.Value

// Golden compares the description of the kinds with a golden file. The argument read may be nil.
func Golden(t *testing.T, file string, kinds map[string]*model.Kind, read Read) {
	t.Helper()
	d := description{read: read, forms: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		d.kind(kinds[name])
		for _, path := range unknown(kinds[name]) {
			t.Errorf("a severity rule of %s names the field %s, which does not exist", name, path)
		}
		for to, fields := range d.references {
			if strings.Contains(to, "(") {
				continue // the kinds are in a field
			}
			if kinds[to] == nil {
				t.Errorf("the fields %v of %s refer to the kind %s, which does not exist", fields, name, to)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.forms)) {
		d.printf("form %s: %s\n", id, d.forms[id])
	}
	if *update {
		if err := os.WriteFile(file, []byte(d.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(d.text.String(), "\n")); diff != "" {
		t.Errorf("the fields of the kinds differ from %s (-want +got):\n%s", file, diff)
	}
}

// A description is the text of a golden file.
type description struct {
	text strings.Builder
	read Read
	// forms are the results of readers for the probes, by ID.
	forms map[string]string
	// fields are the paths of the current kind, by their attributes.
	fields map[string][]string
	// references are the paths of the references of the current kind, by what they refer to.
	references map[string][]string
}

func (d *description) printf(format string, args ...any) { fmt.Fprintf(&d.text, format, args...) }

func (d *description) kind(k *model.Kind) {
	d.printf("%s namespaced=%t labels=%q unsigned=%q\n", k.Name, k.Namespaced, k.Labels, k.WriterUnknown)
	d.grouped(len(k.Exposed), func(i int) (path, rest string) { return k.Exposed[i].Path, "exposed " + string(k.Exposed[i].What) })
	rules := inOrder(k.Severities)
	d.grouped(len(rules), func(i int) (path, rest string) {
		rule := rules[i]
		path, rule.Path = rule.Path, ""
		rest = describeRule(rule)
		if strings.TrimRight(path, "0123456789") != path {
			rest = strings.ReplaceAll(rest, path, "@") // of numbered fields
		}
		return path, rest
	})
	d.fields, d.references = map[string][]string{}, map[string][]string{}
	d.walk(k.Name, nil, k.Schema)
	for _, attributes := range slices.Sorted(maps.Keys(d.fields)) {
		d.printf("\t%s: %s\n", attributes, strings.Join(d.fields[attributes], " "))
	}
	for _, to := range slices.Sorted(maps.Keys(d.references)) {
		d.printf("\trefers to %s: %s\n", to, strings.Join(d.references[to], " "))
	}
}

// unknown returns the paths in the severity rules of a kind that lead to no field.
func unknown(k *model.Kind) []string {
	var paths []string
	check := func(path string) {
		if path != "" && !exists(k.Schema, path) {
			paths = append(paths, path)
		}
	}
	for _, rule := range k.Severities {
		check(rule.Path)
		for _, c := range rule.Where {
			check(c.Path)
			for _, inner := range c.With {
				check(strings.Trim(c.Path+"."+inner.Path, "."))
			}
		}
	}
	return paths
}

// exists reports whether a path without list keys leads to a field.
func exists(s *model.Schema, path string) bool {
	for path != "" {
		if s.Fields == nil && s.Each != nil && s.Each.Fields != nil {
			s = s.Each // the elements of a list
		}
		name, rest := model.CutName(path)
		if s, path = s.Field(name), rest; s == nil {
			return false
		}
	}
	return true
}

// grouped prints n descriptions of fields. Those that follow one another and differ
// only in the field share a line.
func (d *description) grouped(n int, describe func(i int) (path, rest string)) {
	var paths []string
	for i := range n {
		path, rest := describe(i)
		paths = append(paths, path)
		if i+1 < n {
			if _, next := describe(i + 1); next == rest {
				continue
			}
		}
		d.printf("\t%s: %q\n", rest, collapse(paths))
		paths = nil
	}
}

// collapse replaces names that differ only in the number at their end by one name.
func collapse(names []string) []string {
	count := map[string]int{}
	for _, name := range names {
		count[strings.TrimRight(name, "0123456789")]++
	}
	var all []string
	for _, name := range names {
		if prefix := strings.TrimRight(name, "0123456789"); prefix != name && count[prefix] > 1 {
			name = fmt.Sprintf("%s#%d", prefix, count[prefix])
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// walk records the fields below a path. Numbered fields with one schema are
// recorded once.
func (d *description) walk(kind string, path []string, s *model.Schema) {
	count := map[string]int{}
	for name, field := range s.Fields {
		count[numbered(name, field)]++
	}
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		field := s.Fields[name]
		shown := name
		if n := count[numbered(name, field)]; n > 1 {
			if !strings.HasSuffix(name, "0") || strings.TrimRight(name, "0123456789")+"0" != name {
				continue
			}
			shown = fmt.Sprintf("%s#%d", strings.TrimRight(name, "0123456789"), n)
		}
		d.field(kind, append(slices.Clone(path), name), shown, field)
	}
	if s.Each != nil {
		d.field(kind, append(slices.Clone(path), "[]"), "[]", s.Each)
	}
}

func numbered(name string, s *model.Schema) string {
	return fmt.Sprintf("%s %p", strings.TrimRight(name, "0123456789"), s)
}

func (d *description) field(kind string, path []string, shown string, s *model.Schema) {
	attributes := describeSchema(s)
	if d.read != nil {
		attributes = strings.TrimSpace(d.form(kind, path) + " " + attributes)
	}
	at := strings.Join(append(slices.Clone(path[:len(path)-1]), shown), ".")
	d.fields[attributes] = append(d.fields[attributes], at)
	if to := s.Refers; to.KindField != "" {
		to.Kind += "(" + to.KindField + ")"
		d.references[to.Kind] = append(d.references[to.Kind], at)
	} else if to.Kind != "" {
		d.references[to.Kind] = append(d.references[to.Kind], at)
	}
	d.walk(kind, path, s)
}

// form returns the ID of the results of the field's reader for the probes.
func (d *description) form(kind string, path []string) string {
	var results []string
	secret := ""
	for _, probe := range probes() {
		var raw model.Value
		if err := raw.UnmarshalJSON([]byte(probe)); err != nil {
			panic(err)
		}
		v := d.read(kind, wrap(path, raw))
		for _, name := range path {
			if name == "[]" {
				v = first(v)
			} else {
				v = v.At(name)
			}
		}
		if v.HasSecret() {
			secret = "secret "
		}
		if got := string(v.AppendJSON(nil)); got != probe {
			results = append(results, probe+" → "+got)
		}
	}
	text := strings.Join(results, ", ")
	sum := sha256.Sum256([]byte(text))
	id := hex.EncodeToString(sum[:4])
	d.forms[id] = text
	return secret + id
}

// first returns the first element of a list, or the field "[]" of a map with free
// names.
func first(v model.Value) model.Value {
	for _, item := range v.Items() {
		return item
	}
	return v.At("[]")
}

// wrap returns an object that has a value at a path.
func wrap(path []string, v model.Value) model.Value {
	for _, name := range slices.Backward(path) {
		if name == "[]" {
			v = model.ListOf(v)
		} else {
			v = model.MapOf(model.Field{Name: name, Value: v})
		}
	}
	return v
}

// probes are values that the forms read in different ways.
func probes() []string {
	return []string{`null`, `""`, `"text"`, `"Text\n"`, `"a  b"`, `"0"`, `"1"`, `"true"`, `"False"`, `"no"`, `"8080"`, `"1.50"`, `0`, `1`, `7`, `1.5`, `true`, `false`,
		`[]`, `["b","a","b",""]`, `["10","9"]`, `[10,9,"x"]`, `"b,a;c d"`, `"10.0.0.1/8"`, `"AA:bb:cc:00:11:22"`, `"virtio=AA:bb:cc:00:11:22"`, `"1G"`, `"a=1,b=2"`,
		`"http://u:p@h/"`, `"http://u@h/%zz"`, `"http://h/"`, `"***"`, `{}`, `{"id":7,"name":"n"}`, `{"id":"x"}`, `{"value":"v","label":"L"}`, `{"a":"","b":"2"}`,
		`[{"id":2},{"id":1}]`, `[{"name":"b"},{"name":"a"}]`, `[["lxc.a","b"],["lxc.environment","c"]]`, `"x\ny%20z"`, `"A=1\u0000B=2"`, `"n1:2,n2"`, `"local:9/vm-9-disk-0.qcow2,size=1G"`,
		`{"device_id":"d"}`, `[{"object_type":"t","object_id":1,"x":2}]`, `"58"`, `"any"`, `"enabled"`}
}

func describeSchema(s *model.Schema) string {
	var words []string
	for text := range strings.FieldsSeq(fmt.Sprintf("%+v", struct {
		Atomic                                                   bool
		List                                                     model.ListType
		Format                                                   model.Format
		Content, Generated, Derived, Volatile                    bool
		Location, Optional, Stray, Masked, Closed, Newer, Filled bool
	}{s.Atomic, s.List, s.Format, s.Content, s.Generated, s.Derived, s.Volatile, s.Location, s.Optional, s.Stray, s.Masked, s.Closed, s.Newer, s.Filled})) {
		if text = strings.Trim(text, "{}"); !strings.HasSuffix(text, ":false") && !strings.HasSuffix(text, ":0") {
			words = append(words, strings.ToLower(strings.TrimSuffix(text, ":true")))
		}
	}
	if len(s.Keys) > 0 {
		words = append(words, fmt.Sprintf("keys=%v", s.Keys))
	}
	if len(s.Foreign) > 0 {
		words = append(words, fmt.Sprintf("foreign=%v", s.Foreign))
	}
	if s.Default != nil {
		words = append(words, "default="+string(s.Default.AppendJSON(nil)))
	}
	if s.Each != nil && len(s.Fields) > 0 {
		words = append(words, "fields and each")
	}
	return strings.Join(words, " ")
}

func describeRule(r model.SeverityRule) string {
	text := fmt.Sprintf("%s %q %v", r.Severity, r.Reason, r.Verdicts)
	if len(r.IDs) > 0 || r.Removed || r.Show != "" {
		text += fmt.Sprintf(" ids=%v removed=%t show=%q", r.IDs, r.Removed, r.Show)
	}
	if len(r.Where) > 0 {
		text += " where " + describeConditions(r.Where)
	}
	if r.Path != "" {
		text += " path " + r.Path
	}
	return text
}

func describeConditions(all []model.Condition) string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = c.Path
		if c.In != nil {
			texts[i] += fmt.Sprintf(" in %q", c.In)
		}
		if c.NotIn != nil {
			texts[i] += fmt.Sprintf(" not in %q", c.NotIn)
		}
		if c.World {
			texts[i] += " world"
		}
		if c.Present {
			texts[i] += " present"
		}
		if c.Above != nil {
			texts[i] += fmt.Sprintf(" above %q", c.Above)
		}
		if c.With != nil {
			texts[i] += " with (" + describeConditions(c.With) + ")"
		}
	}
	return strings.Join(texts, " and ")
}

// inOrder returns rules in an order that depends only on which of them rate a
// change first: of two rules that cannot rate the same change, the one comes first
// whose description does.
func inOrder(rules []model.SeverityRule) []model.SeverityRule {
	rest := slices.Clone(rules)
	var ordered []model.SeverityRule
	for len(rest) > 0 {
		next := -1
		for i := range rest {
			free := !slices.ContainsFunc(rest[:i], func(before model.SeverityRule) bool { return compete(before, rest[i]) })
			if free && (next < 0 || describeRule(rest[i]) < describeRule(rest[next])) {
				next = i
			}
		}
		ordered = append(ordered, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return ordered
}

// compete reports whether two rules may rate the same change.
func compete(a, b model.SeverityRule) bool {
	if !slices.ContainsFunc(a.Verdicts, func(v model.Verdict) bool { return slices.Contains(b.Verdicts, v) }) && len(a.Verdicts) > 0 && len(b.Verdicts) > 0 {
		return false
	}
	apart := a.Path != "" && b.Path != "" && !model.Overlap(a.Path, b.Path)
	return !apart || len(a.Where) > 0 && len(b.Where) > 0
}
