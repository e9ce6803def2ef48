package netboxlab

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A kind is the type of a field: how it is written, stored and read.
type kind string

const (
	text       kind = ""
	nullText   kind = "?"
	plainText  kind = "'"
	number     kind = "#"
	decimal    kind = "."
	boolean    kind = "~"
	choice     kind = ":"
	numChoice  kind = ":#"
	setNull    kind = ">"
	cascade    kind = ">>"
	protect    kind = ">|"
	references kind = "*"
	generic    kind = "@"
	owned      kind = "@@"
	tree       kind = "{}"
	list       kind = "[]"
	typeNames  kind = "%"
	cableEnd   kind = "&"
	tagged     kind = "tags"
	custom     kind = "custom_fields"
	computed   kind = "="
)

// A field is one field of a model.
type field struct {
	name             string
	kind             kind
	since            version
	required, unique bool
	// target is the model of a reference.
	target string
	// nested is the name under which the object of a generic reference is returned.
	nested string
	// places is the number of decimals.
	places int
	// initial is the value in a new object.
	initial any
	// options are the valid values of a choice.
	options []string
	// how is the rule to compute it.
	how string
}

// reference reports whether the field refers to one object of one model.
func (f *field) reference() bool {
	return f.kind == setNull || f.kind == cascade || f.kind == protect
}

// generic reports whether the field refers to one object of any model.
func (f *field) generic() bool { return f.kind == generic || f.kind == owned }

// A model is a type of objects.
type model struct {
	endpoint, name, words string
	// number is the ID of its content type.
	number  int
	since   version
	fields  []*field
	byName  map[string]*field
	brief   []string
	display string
}

// class returns the name of the model in the server's errors.
func (m *model) class() string {
	var class strings.Builder
	for word := range strings.FieldsSeq(m.words) {
		class.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return class.String()
}

// logged reports whether changes of its objects are in the changelog.
func (m *model) logged() bool { return !strings.HasPrefix(m.name, "users.") }

// models parses the tables.
func models() ([]*model, error) {
	all, err := readModels(dcimModels + virtualizationModels + ipamModels + otherModels)
	if err != nil {
		return nil, err
	}
	empty, err := readModels(emptyModels)
	if err != nil {
		return nil, err
	}
	for _, m := range empty {
		if err := m.read("name! description tags custom_fields (name description)"); err != nil {
			return nil, err
		}
	}
	return append(all, empty...), nil
}

func readModels(tables string) ([]*model, error) {
	var all []*model
	head := regexp.MustCompile(`^(\w+/[\w-]+)(?:/(\d+\.\d+))? (\w+\.\w+) (\d+) ([^"]+?)(?: "(.*)")?$`)
	for line := range strings.Lines(tables) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		if body, ok := strings.CutPrefix(line, "\t"); ok {
			if err := all[len(all)-1].read(body); err != nil {
				return nil, err
			}
			continue
		}
		part := head.FindStringSubmatch(line)
		if part == nil {
			return nil, fmt.Errorf("read models: %q is no model", line)
		}
		m := &model{endpoint: part[1], since: parseVersion(part[2]), name: part[3], words: part[5], display: part[6], byName: map[string]*field{}}
		m.number, _ = strconv.Atoi(part[4])
		if m.display == "" {
			m.display = "{name}"
		}
		all = append(all, m)
	}
	return all, nil
}

// read parses a line of fields.
func (m *model) read(line string) error {
	fields, brief, _ := strings.Cut(line, "(")
	if brief != "" {
		m.brief = strings.Fields(strings.TrimSuffix(brief, ")"))
	}
	pattern := regexp.MustCompile(`^([a-z0-9_]+)(?:/(\d+\.\d+))?(\?|#|\.\d|~|:#|:|>>|>\||>|\*|@@|@|\{\}|\[\]|%|&|')?([!^]*)(=.*|[a-z].*|)$`)
	for token := range strings.FieldsSeq(fields) {
		name, rest, quoted := strings.Cut(token, "'")
		if quoted {
			m.add(&field{name: name, kind: plainText, initial: rest})
			continue
		}
		part := pattern.FindStringSubmatch(token)
		if part == nil {
			return fmt.Errorf("read model %s: %q is no field", m.name, token)
		}
		f := &field{name: part[1], since: parseVersion(part[2]), kind: kind(part[3]),
			required: strings.Contains(part[4], "!"), unique: strings.Contains(part[4], "^")}
		m.add(f.complete(part[5]))
	}
	return nil
}

func (m *model) add(f *field) {
	m.fields = append(m.fields, f)
	m.byName[f.name] = f
}

// complete sets the properties of a field's kind.
func (f *field) complete(rest string) *field {
	value, assigned := strings.CutPrefix(rest, "=")
	if strings.HasPrefix(string(f.kind), ".") {
		f.places, _ = strconv.Atoi(string(f.kind[1:]))
		f.kind = decimal
	}
	switch {
	case f.kind == text && assigned:
		f.kind, f.how = computed, value
	case f.kind == text && (f.name == "tags" || f.name == "custom_fields"):
		f.kind = kind(f.name)
	case f.reference() || f.kind == references:
		f.target = rest
	case f.generic():
		f.nested = f.name
		if value != "" {
			f.nested = value
		}
	default:
		f.begin(value)
	}
	return f
}

// begin parses the initial value of a field.
func (f *field) begin(value string) {
	switch {
	case f.kind == text:
		f.initial = ""
	case f.kind == boolean:
		f.initial = value == "true"
	case f.kind == choice && value != "":
		if options := strings.Split(value, "|"); len(options) > 1 {
			f.options = options
		}
		f.initial, _, _ = strings.Cut(value, "|")
	case value != "":
		f.initial, _ = strconv.ParseFloat(value, 64)
	}
}

// A version is a NetBox version without its patch number: 406 is 4.6.
type version int

// parseVersion parses "4.6.8" or "4.6"; "" is before all others.
func parseVersion(text string) version {
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	// An invalid number counts as 0.
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return version(a*100 + b)
}

func (v version) String() string { return fmt.Sprintf("%d.%d", v/100, v%100) }
