package remedy

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

// An operation is one operation of a JSON Patch (RFC 6902).
type operation struct {
	op      string
	pointer []string
	value   *model.Value
}

// A patch is a JSON Patch that changes nothing unless every value that it overwrites is the one
// that driftd read.
type patch struct{ tests, replaces, adds, removes []operation }

// change adds the operations that turn the live side of a change into the wanted one. It returns
// why that is not possible; "" if it is.
func (p *patch) change(live *model.Value, c *model.Change, wanted *model.Value) (why string) {
	steps, ok := fieldpath.Parse(path(c))
	switch {
	case !ok:
		return "its path cannot be translated"
	case live == nil:
		return "the live object is not stored"
	case !isExact(c.Live) || !isExact(wanted):
		return "its value is not valid text"
	}
	pointer, found, guards, why := locate(*live, steps)
	if why != "" {
		return why
	}
	switch {
	case found == nil && c.Live == nil && wanted != nil:
		if steps[len(steps)-1].Kind != fieldpath.Field {
			return "its position in the list is not known, and the order counts"
		}
		p.adds = append(p.adds, operation{"add", pointer, wanted})
	case found == nil || c.Live == nil || !found.Equal(*c.Live):
		return "the live value is stored in another form"
	case wanted == nil:
		p.tests = append(p.tests, operation{"test", pointer, c.Live})
		p.removes = append(p.removes, operation{"remove", pointer, nil})
	default:
		p.tests = append(p.tests, operation{"test", pointer, c.Live})
		p.replaces = append(p.replaces, operation{"replace", pointer, wanted})
	}
	p.tests = append(p.tests, guards...)
	return ""
}

// locate follows a path in a live value. It returns the pointer, the value there (nil if the last
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
				return nil, nil, nil, "the live object has nothing at its path"
			}
			at = next
			continue
		}
		n := step.Element(at)
		if n < 0 {
			if last {
				return pointer, nil, guards, ""
			}
			return nil, nil, nil, "the live list has no such element, or more than one"
		}
		pointer = append(pointer, strconv.Itoa(n))
		at = at.Items()[n]
		for _, key := range step.Keys {
			v := at.At(key.Name)
			if !isExact(&v) {
				return nil, nil, nil, "the key of its list element is not valid text"
			}
			guards = append(guards, operation{"test", append(slices.Clone(pointer), key.Name), &v})
		}
	}
	return slices.Clip(pointer), &at, guards, ""
}

// isEmpty reports whether the patch changes nothing.
func (p *patch) isEmpty() bool { return len(p.replaces)+len(p.adds)+len(p.removes) == 0 }

// text returns the patch as JSON with all tests first. Elements are removed from the end of lists,
// so that the positions of the others stay.
func (p *patch) text() string {
	slices.SortFunc(p.removes, func(a, b operation) int { return -comparePointers(a.pointer, b.pointer) })
	var texts []string
	for _, o := range slices.Concat(p.tests, p.replaces, p.adds, p.removes) {
		if text := o.text(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
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
	text := `{"op":"` + o.op + `","path":` + jsonText(model.StringOf(pointer.String()))
	if o.value != nil {
		text += `,"value":` + jsonText(*o.value)
	}
	return text + "}"
}

// isExact reports whether jsonText writes a value without loss.
func isExact(v *model.Value) bool {
	if v == nil {
		return true
	}
	if v.HasSecret() || !utf8.ValidString(v.Text()) || strings.HasPrefix(v.Text(), "\x00") {
		return false
	}
	for _, item := range v.Items() {
		if !isExact(&item) {
			return false
		}
	}
	for _, f := range v.Fields() {
		if !utf8.ValidString(f.Name) || !isExact(&f.Value) {
			return false
		}
	}
	return true
}

// jsonText returns a value as JSON in which single quotes and all that a terminal does not show are
// escaped, so that it can stand in single quotes of a shell.
func jsonText(v model.Value) string {
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
