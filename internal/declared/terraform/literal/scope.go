package literal

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// sensitive marks values that come from sensitive variables.
const sensitive = "sensitive"

// A scope evaluates the expressions of one module, called with given inputs. Values
// that the files do not determine are unknown.
type scope struct {
	module *module
	// inputs are the values of variables that the caller sets.
	inputs map[string]cty.Value
	// variables and locals cache evaluated values.
	variables, locals map[string]cty.Value
	// busy are the locals that are being evaluated.
	busy map[string]bool
	// extra are the values of each and count.
	extra map[string]cty.Value
}

func newScope(m *module, inputs map[string]cty.Value) *scope {
	return &scope{module: m, inputs: inputs, variables: map[string]cty.Value{}, locals: map[string]cty.Value{}, busy: map[string]bool{}}
}

// with returns the scope of one instance of a repeated block.
func (s *scope) with(extra map[string]cty.Value) *scope {
	inner := *s
	inner.extra = extra
	return &inner
}

// attributesOf returns the attributes of a body. In JSON syntax, these include nested
// blocks.
func attributesOf(body hcl.Body) hcl.Attributes {
	if native, is := body.(*hclsyntax.Body); is {
		attributes := make(hcl.Attributes, len(native.Attributes))
		for name, a := range native.Attributes {
			attributes[name] = a.AsHCLAttribute()
		}
		return attributes
	}
	attributes, _ := body.JustAttributes()
	return attributes
}

// inputsOf evaluates the arguments of a module call.
func inputsOf(child *module, caller *scope, arguments hcl.Attributes) map[string]cty.Value {
	inputs := map[string]cty.Value{}
	for name := range child.variables {
		if a := arguments[name]; a != nil {
			inputs[name] = caller.value(a.Expr)
		}
	}
	return inputs
}

// rootInputs evaluates the files that set variables of the root module, in the order
// in which Terraform reads them. The value of the last file that sets a variable wins.
func (r *Root) rootInputs(m *module) map[string]cty.Value {
	inputs := map[string]cty.Value{}
	for _, name := range r.valueFiles(m.dir) {
		values, certain := r.values(name)
		if !certain {
			// The file may set any variable.
			for variable := range m.variables {
				inputs[variable] = cty.DynamicVal
			}
		}
		for variable, v := range values {
			inputs[variable] = v
		}
	}
	for variable := range m.variables {
		if r.options.Foreign != nil && r.options.Foreign(variable) {
			inputs[variable] = cty.DynamicVal
		}
	}
	return inputs
}

// valueFiles returns the paths of the files that set variables of the root.
func (r *Root) valueFiles(dir string) []string {
	var first, automatic []string
	entries, _ := r.list(dir)
	for _, name := range entries {
		switch {
		case name == "terraform.tfvars", name == "terraform.tfvars.json":
			first = append(first, path.Join(dir, name))
		case strings.HasSuffix(name, ".auto.tfvars"), strings.HasSuffix(name, ".auto.tfvars.json"):
			automatic = append(automatic, path.Join(dir, name))
		}
	}
	files := slices.Concat(first, automatic)
	for _, name := range r.options.VarFiles {
		files = append(files, path.Join(dir, name))
	}
	return files
}

// values evaluates a file that sets variables. certain is false if it cannot be read:
// a file that does not exist at this commit may have had another path.
func (r *Root) values(name string) (values map[string]cty.Value, certain bool) {
	content, err := readFile(r.files, name)
	if err != nil {
		return nil, false
	}
	if strings.HasSuffix(name, ".json") {
		return jsonValues(content)
	}
	file, err := r.parser.parse(text{name, content, sha256.Sum256(content)})
	if err != nil {
		return nil, false
	}
	values = map[string]cty.Value{}
	s := newScope(&module{}, nil)
	for variable, a := range attributesOf(file.Body) {
		values[variable] = s.value(a.Expr)
	}
	return values, true
}

// jsonValues reads a file of values in JSON, in which strings are not templates.
func jsonValues(text []byte) (map[string]cty.Value, bool) {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	var raw map[string]any
	if err := dec.Decode(&raw); err != nil {
		return nil, false
	}
	values := make(map[string]cty.Value, len(raw))
	for name, v := range raw {
		values[name] = ctyOf(v)
	}
	return values, true
}

func ctyOf(v any) cty.Value {
	switch t := v.(type) {
	case bool:
		return cty.BoolVal(t)
	case string:
		return cty.StringVal(t)
	case json.Number:
		if n, err := cty.ParseNumberVal(t.String()); err == nil && !syntax.IsHuge(t.String()) {
			return n
		}
		return cty.DynamicVal
	case []any:
		items := make([]cty.Value, len(t))
		for i := range t {
			items[i] = ctyOf(t[i])
		}
		return cty.TupleVal(items)
	case map[string]any:
		fields := make(map[string]cty.Value, len(t))
		for name, below := range t {
			fields[name] = ctyOf(below)
		}
		return cty.ObjectVal(fields)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// variable returns the value of a variable.
func (s *scope) variable(name string) cty.Value {
	if v, known := s.variables[name]; known {
		return v
	}
	v := cty.DynamicVal
	if body := s.module.variables[name]; body != nil {
		v = orUnknown(s.declared(name, attributesOf(body)))
	}
	s.variables[name] = v
	return v
}

// declared evaluates a variable block. It returns the value that is set, or else the
// default, converted to the type of the variable.
func (s *scope) declared(name string, attributes hcl.Attributes) cty.Value {
	outside := newScope(&module{}, nil)
	v, set := s.inputs[name]
	fallback := attributes["default"]
	if set && fallback != nil && v.IsNull() && isFalse(outside, attributes["nullable"]) {
		set = false
	}
	switch {
	case set:
	case fallback != nil:
		v = outside.value(fallback.Expr)
	default:
		return cty.DynamicVal
	}
	v = converted(v, attributes["type"])
	if attributes["sensitive"] != nil && !isFalse(outside, attributes["sensitive"]) {
		v = v.Mark(sensitive)
	}
	return v
}

func isFalse(s *scope, a *hcl.Attribute) bool {
	if a == nil {
		return false
	}
	v, _ := s.value(a.Expr).Unmark()
	return v.IsKnown() && !v.IsNull() && v.Type() == cty.Bool && v.False()
}

// converted returns the value converted to a type constraint.
func converted(v cty.Value, constraint *hcl.Attribute) cty.Value {
	if constraint == nil {
		return v
	}
	typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(constraint.Expr)
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	if defaults != nil && !v.IsNull() {
		v = defaults.Apply(v)
	}
	v, err := convert.Convert(v, typ)
	if err != nil {
		return cty.DynamicVal
	}
	return v
}

// maxLocals bounds the locals that one local refers to, one through another.
const maxLocals = 100

// local returns the value of a local.
func (s *scope) local(name string) cty.Value {
	if v, known := s.locals[name]; known {
		return v
	}
	e := s.module.locals[name]
	if e == nil || s.busy[name] || len(s.busy) > maxLocals {
		return cty.DynamicVal
	}
	s.busy[name] = true
	outer := *s
	outer.extra = nil
	v := orUnknown(outer.value(e))
	delete(s.busy, name)
	s.locals[name] = v
	return v
}

// maxValue bounds the size of a variable or local. Without it, locals that repeat
// other locals could grow without limit.
const maxValue = 64 << 10

// orUnknown returns the value, or an unknown value if it is too large.
func orUnknown(v cty.Value) cty.Value {
	if left := maxValue; !fits(v, &left) {
		return cty.DynamicVal
	}
	return v
}

func fits(v cty.Value, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	if v.IsMarked() {
		v, _ = v.Unmark()
	}
	switch {
	case !v.IsKnown() || v.IsNull():
	case v.Type() == cty.String:
		*left -= len(v.AsString())
	case v.Type() == cty.Number:
		*left -= digits(v)
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			name, below := it.Element()
			if !fits(name, left) || !fits(below, left) {
				return false
			}
		}
	}
	return *left >= 0
}

// digits returns the approximate number of digits of a number.
func digits(v cty.Value) int {
	exponent := v.AsBigFloat().MantExp(nil)
	return max(exponent, -exponent) / 3
}

// instance reports whether a block with count or for_each has the instance with a key,
// and returns the scope of that instance. Like Terraform, it treats an instance without
// a key and the first instance of a count as the same.
func (s *scope) instance(attributes hcl.Attributes, lifecycle hcl.Attributes, key cty.Value) (*scope, Presence) {
	enabled := lifecycle["enabled"]
	switch count, each := attributes["count"], attributes["for_each"]; {
	case count != nil:
		return s.counted(s.value(count.Expr), key)
	case each != nil:
		return s.repeated(s.value(each.Expr), key)
	case enabled != nil && !s.value(enabled.Expr).IsWhollyKnown():
		return nil, Maybe
	case enabled != nil && isFalse(s, enabled):
		return nil, Absent
	}
	if i, is := indexOf(key); !is || i != 0 {
		return nil, Absent
	}
	return s.with(nil), Present
}

// indexOf returns the index of an instance key; 0 without a key.
func indexOf(key cty.Value) (int64, bool) {
	if key == cty.NilVal {
		return 0, true
	}
	if key.Type() != cty.Number {
		return 0, false
	}
	i, accuracy := key.AsBigFloat().Int64()
	return i, accuracy == big.Exact
}

func (s *scope) counted(count, key cty.Value) (*scope, Presence) {
	i, is := indexOf(key)
	if !is {
		return nil, Absent
	}
	count, _ = count.Unmark()
	n, err := convert.Convert(count, cty.Number)
	switch {
	case err != nil, !n.IsKnown(), n.IsNull():
		return nil, Maybe
	case cty.NumberIntVal(i).LessThan(n).False():
		return nil, Absent
	}
	return s.with(map[string]cty.Value{"count": cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(i)})}), Present
}

func (s *scope) repeated(each, key cty.Value) (*scope, Presence) {
	if key == cty.NilVal || key.Type() != cty.String {
		return nil, Absent
	}
	each, _ = each.Unmark()
	if !each.IsKnown() || each.IsNull() || !each.CanIterateElements() || each.Type().IsTupleType() || each.Type().IsListType() {
		return nil, Maybe
	}
	for it := each.ElementIterator(); it.Next(); {
		name, v := it.Element()
		if !name.IsKnown() {
			return nil, Maybe
		}
		if name.Type() == cty.String && name.RawEquals(key) {
			return s.with(map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": v})}), Present
		}
	}
	return nil, Absent
}
