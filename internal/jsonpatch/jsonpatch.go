// Package jsonpatch makes JSON Patches (RFC 6902) that put fields of a live object back. A patch
// tests every value that it overwrites, so that it changes nothing if one of them has changed
// since the object was read.
package jsonpatch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// An operation is one operation of a patch.
type operation struct {
	op      string
	pointer []string
	// value is nil for remove. A null value stands for JSON's null.
	value *model.Value
}

// A Patch is a JSON Patch for one live object.
type Patch struct {
	// Live is the object as it was read, or nil if that is not known.
	Live *model.Value
	// Declared is the declared object. It determines the positions of elements that are added to
	// lists. If it is nil, no elements are added, and no fields below one that is absent.
	Declared *model.Value

	tests, replaces, adds, removes []operation
	pending                        []insertion
}

// Set adds the operations that replace the value held at a path by wanted. A nil value means that the field
// is absent. Set returns the reason if this is not possible, and "" otherwise.
func (p *Patch) Set(path string, held, wanted *model.Value) (why string) {
	steps, ok := fieldpath.Parse(path)
	switch {
	case !ok:
		return "its path cannot be translated"
	case p.Live == nil:
		return "the live object is not stored"
	case !IsExact(held) || !IsExact(wanted):
		return "its value is not valid text"
	}
	if p.Declared != nil && held == nil && wanted != nil {
		return p.insert(steps, wanted)
	}
	return p.replace(steps, held, wanted)
}

// replace adds the operations that turn the held value at a path into the wanted one.
func (p *Patch) replace(steps []fieldpath.Step, held, wanted *model.Value) (why string) {
	pointer, found, guards, why := locate(*p.Live, steps)
	switch {
	case why != "":
		return why
	case found == nil && held == nil && wanted != nil:
		if steps[len(steps)-1].Kind != fieldpath.Field {
			return "its position in the list is not known, and the order counts"
		}
		p.adds = append(p.adds, operation{"add", pointer, wanted})
	case found == nil || held == nil || !found.Equal(*held):
		return "the live value is stored in another form"
	case wanted == nil:
		p.tests = append(p.tests, operation{"test", pointer, held})
		p.removes = append(p.removes, operation{"remove", pointer, nil})
	default:
		p.tests = append(p.tests, operation{"test", pointer, held})
		p.replaces = append(p.replaces, operation{"replace", pointer, wanted})
	}
	p.tests = append(p.tests, guards...)
	return ""
}

// Test adds a test that the field of a pointer has a value.
func (p *Patch) Test(value model.Value, pointer ...string) {
	p.tests = append(p.tests, operation{"test", pointer, &value})
}

// Find returns the value at a path of an object, or nil if it has none, and why the path does not
// lead to one place; "" if it does.
func Find(object model.Value, path string) (found *model.Value, why string) {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return nil, "its path cannot be translated"
	}
	_, found, _, why = locate(object, steps)
	if why == nothingThere {
		why = ""
	}
	return found, why
}

// FindDeclared is Find for a declared object and a path of a live one: keys of list elements that
// the declaration leaves to their defaults are not compared.
func FindDeclared(declared model.Value, path string) (found *model.Value, why string) {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return nil, "its path cannot be translated"
	}
	v, ok := declaredAt(declared, steps)
	if !ok {
		return nil, ""
	}
	return &v, ""
}

// With returns an object with another value at a path that it has; a nil value removes it. The
// object is unchanged if the path leads to nothing.
func With(object model.Value, path string, value *model.Value) model.Value {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return object
	}
	pointer, found, _, why := locate(object, steps)
	if why != "" || found == nil {
		return object
	}
	change := operation{"replace", pointer, value}
	if value == nil {
		change.op = "remove"
	}
	return change.apply(object)
}

// locate follows a path in a value. It returns the pointer, the value there (nil if the last
// step leads to nothing) and tests of the keys of list elements on the way.
func locate(live model.Value, steps []fieldpath.Step) (pointer []string, found *model.Value, guards []operation, why string) {
	at := live
	for i := range steps {
		step, last := &steps[i], i == len(steps)-1
		if step.Kind == fieldpath.Field {
			pointer = append(pointer, step.Name)
			next, ok := at.Get(step.Name)
			switch {
			case !ok && last && at.Kind() == model.Map:
				return pointer, nil, guards, ""
			case !ok:
				return nil, nil, nil, nothingThere
			}
			at = next
			continue
		}
		n := step.Element(at)
		if n < 0 {
			if last {
				return pointer, nil, guards, ""
			}
			return nil, nil, nil, noElement
		}
		pointer = append(pointer, strconv.Itoa(n))
		at = at.Items()[n]
		keys, why := keyTests(pointer, at, step)
		if why != "" {
			return nil, nil, nil, why
		}
		guards = append(guards, keys...)
	}
	return slices.Clip(pointer), &at, guards, ""
}

const (
	nothingThere = "the live object has nothing at its path"
	noElement    = "the live list has no such element, or more than one"
)

// keyTests returns tests that an element of a list still has the keys by which a step selects it.
func keyTests(pointer []string, element model.Value, step *fieldpath.Step) (tests []operation, why string) {
	for _, key := range step.Keys {
		v := element.At(key.Name)
		if !IsExact(&v) {
			return nil, "the key of its list element is not valid text"
		}
		tests = append(tests, operation{"test", append(slices.Clone(pointer), key.Name), &v})
	}
	return tests, ""
}

// IsEmpty reports whether the patch changes nothing.
func (p *Patch) IsEmpty() bool {
	return len(p.replaces)+len(p.adds)+len(p.removes)+len(p.pending) == 0
}

// Replaces and Adds report whether the patch replaces or adds values.
func (p *Patch) Replaces() bool { return len(p.replaces) > 0 }

// Adds reports whether the patch adds fields or elements.
func (p *Patch) Adds() bool { return len(p.adds)+len(p.pending) > 0 }

// Text returns the patch as JSON with all tests first. Elements are removed from the end of lists,
// so that the positions of the others stay, and added afterwards. Single quotes and all that a
// terminal does not show are escaped, so that it can stand in single quotes of a shell.
func (p *Patch) Text() string {
	operations, _ := p.operations()
	var texts []string
	for _, o := range operations {
		if text := o.text(); o.op != "test" || !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// Result returns the live object as the patch makes it.
func (p *Patch) Result() model.Value {
	_, result := p.operations()
	return result
}

// operations returns the operations in their order, and the live object after them.
func (p *Patch) operations() (all []operation, result model.Value) {
	removes := slices.Clone(p.removes)
	slices.SortFunc(removes, func(a, b operation) int { return -comparePointers(a.pointer, b.pointer) })
	tests, changes := slices.Clone(p.tests), slices.Concat(p.replaces, p.adds, removes)
	if p.Live == nil {
		return append(tests, changes...), result
	}
	result = *p.Live
	for i := range changes {
		result = changes[i].apply(result)
	}
	for i := range p.pending {
		add, guards := p.pending[i].place(*p.Live, result)
		result = add.apply(result)
		tests, changes = append(tests, guards...), append(changes, add)
	}
	return append(tests, changes...), result
}

func comparePointers(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		n, notX := strconv.Atoi(x)
		m, notY := strconv.Atoi(y)
		if notX == nil && notY == nil {
			return cmp.Compare(n, m)
		}
		return cmp.Compare(x, y)
	})
}

func (o *operation) text() string {
	var pointer strings.Builder
	for _, name := range o.pointer {
		pointer.WriteByte('/')
		pointer.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	text := `{"op":"` + o.op + `","path":` + JSON(model.StringOf(pointer.String()))
	if o.value != nil {
		text += `,"value":` + JSON(*o.value)
	}
	return text + "}"
}

// apply returns the value that the operation makes of an object. The pointer must lead to a place
// in it.
func (o *operation) apply(object model.Value) model.Value { return o.below(object, o.pointer) }

func (o *operation) below(v model.Value, pointer []string) model.Value {
	name := pointer[0]
	if v.Kind() != model.List {
		switch {
		case len(pointer) > 1:
			return v.With(name, o.below(v.At(name), pointer[1:]))
		case o.op == "remove":
			return v.Without(name)
		}
		return v.With(name, *o.value)
	}
	n, err := strconv.Atoi(name)
	if err != nil || n > len(v.Items()) {
		return v
	}
	items := slices.Clone(v.Items())
	switch {
	case len(pointer) > 1:
		items[n] = o.below(items[n], pointer[1:])
	case o.op == "remove":
		items = slices.Delete(items, n, n+1)
	case o.op == "add":
		items = slices.Insert(items, n, *o.value)
	default:
		items[n] = *o.value
	}
	return model.ListOf(items...)
}

// IsExact reports whether JSON writes a value without loss. A nil value is exact.
func IsExact(v *model.Value) bool {
	if v == nil {
		return true
	}
	if v.HasSecret() || !utf8.ValidString(v.Text()) || strings.HasPrefix(v.Text(), "\x00") {
		return false
	}
	for _, item := range v.Items() {
		if !IsExact(&item) {
			return false
		}
	}
	for _, f := range v.Fields() {
		if !utf8.ValidString(f.Name) || !IsExact(&f.Value) {
			return false
		}
	}
	return true
}

// JSON returns a value as JSON in which single quotes and all that a terminal does not show are
// escaped, so that it can stand in single quotes of a shell.
func JSON(v model.Value) string {
	var b strings.Builder
	for _, r := range string(v.AppendJSON(nil)) {
		switch {
		case r != '\'' && phrase.Prints(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b.WriteString(unicodeEscape(high) + unicodeEscape(low))
		default:
			b.WriteString(unicodeEscape(r))
		}
	}
	return b.String()
}

// unicodeEscape returns the escape sequence of a character of at most 16 bits.
func unicodeEscape(r rune) string {
	text := strconv.FormatInt(int64(r), 16)
	return `\u` + strings.Repeat("0", 4-len(text)) + text
}
