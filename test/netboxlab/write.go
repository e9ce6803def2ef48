package netboxlab

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// words are an error message of the API.
type words string

func (w words) Error() string { return string(w) }

func refuse(format string, args ...any) error { return words(fmt.Sprintf(format, args...)) }

// problems are the errors of a request by field.
type problems map[string][]string

// values decodes the fields of a request for an object; old is the present object, nil for a
// new one.
func (s *store) values(m *model, sent Object, old *object) (map[string]any, problems) {
	fields, wrong := map[string]any{}, problems{}
	for _, f := range m.fields {
		value, given := sent[f.name]
		var err error
		switch {
		case f.kind == computed:
		case f.generic():
			err = s.readGeneric(f, sent, old, fields)
		case given:
			fields[f.name], err = s.read(m, f, value, old)
		case old == nil && f.required:
			err = refuse("This field is required.")
		case old == nil:
			fields[f.name], err = s.initial(m, f)
		}
		if err == nil && given && f.unique {
			err = s.unique(m, f, fields[f.name], old)
		}
		if err != nil {
			wrong[f.name] = append(wrong[f.name], err.Error())
		}
	}
	return fields, wrong
}

// initial returns the value of a field in a new object.
func (s *store) initial(m *model, f *field) (any, error) {
	if f.kind == custom {
		return s.readCustom(m, Object{}, nil)
	}
	return f.initial, nil
}

func (s *store) unique(m *model, f *field, value any, old *object) error {
	for _, o := range s.objects[m.name] {
		if o != old && o.fields[f.name] == value {
			return refuse("%s with this %s already exists.", m.words, f.name)
		}
	}
	return nil
}

// read decodes the value of one field.
func (s *store) read(m *model, f *field, value any, old *object) (any, error) {
	switch {
	case f.kind == custom:
		return s.readCustom(m, value, old)
	case f.reference():
		if value == nil && !f.required {
			return 0, nil
		}
		return s.readReference(f.target, value)
	case f.kind == references:
		return s.readReferences(f.target, value)
	case f.kind == tagged:
		return s.readReferences("extras.tag", value)
	case f.kind == cableEnd:
		return readEnds(value)
	case f.kind == tree:
		return value, nil
	case f.kind == list || f.kind == typeNames:
		values, ok := value.([]any)
		if !ok {
			return nil, refuse("Expected a list of items but got type %q.", fmt.Sprintf("%T", value))
		}
		return values, nil
	case value == nil:
		return f.null()
	}
	return f.scalar(value)
}

// null returns the value of an emptied field.
func (f *field) null() (any, error) {
	switch f.kind {
	case text, plainText, boolean:
		return nil, refuse("This field may not be null.")
	}
	return nil, nil //nolint:nilnil // the value is null
}

// scalar decodes a text, number, boolean or choice.
func (f *field) scalar(value any) (any, error) {
	shown := fmt.Sprint(value)
	switch f.kind {
	case number, decimal, numChoice:
		n, err := strconv.ParseFloat(shown, 64)
		if err != nil || f.kind == number && n != math.Trunc(n) {
			return nil, refuse("A valid number is required.")
		}
		scale := math.Pow10(f.places)
		return math.Round(n*scale) / scale, nil
	case boolean:
		yes, err := strconv.ParseBool(shown)
		if err != nil {
			return nil, refuse("Must be a valid boolean.")
		}
		return yes, nil
	case choice:
		return f.chosen(shown)
	case nullText:
		if strings.TrimSpace(shown) == "" {
			return nil, nil //nolint:nilnil // "" is stored as null
		}
	}
	shown = strings.TrimSpace(shown)
	if f.name == "mac_address" {
		shown = strings.ToUpper(shown)
	}
	if shown == "" && f.required {
		return nil, refuse("This field may not be blank.")
	}
	return shown, nil
}

func (f *field) chosen(value string) (any, error) {
	if value == "" {
		return nil, nil //nolint:nilnil // no choice
	}
	if f.options != nil && !slices.Contains(f.options, value) {
		return nil, refuse("%s is not a valid choice.", value)
	}
	return value, nil
}

// readReference decodes an ID, or the attributes of exactly one object.
func (s *store) readReference(target string, value any) (int, error) {
	if id, err := strconv.Atoi(fmt.Sprint(value)); err == nil {
		if s.get(target, id) == nil {
			return 0, refuse("Related object not found using the provided numeric ID: %d", id)
		}
		return id, nil
	}
	attributes, ok := value.(map[string]any)
	if !ok {
		return 0, refuse("Related objects must be referenced by numeric ID or by dictionary of attributes. Received an unrecognized value: %v", value)
	}
	if id, given := attributes["id"]; given {
		return s.readReference(target, id)
	}
	for _, o := range s.objects[target] {
		if o.has(attributes) {
			return o.id, nil
		}
	}
	return 0, refuse("Related object not found using the provided attributes: %v", attributes)
}

// has reports whether an object has these texts and numbers.
func (o *object) has(attributes Object) bool {
	for name, value := range attributes {
		if o.model.byName[name] == nil || o.text(name) != fmt.Sprint(value) {
			return false
		}
	}
	return len(attributes) > 0
}

func (s *store) readReferences(target string, value any) ([]int, error) {
	values, ok := value.([]any)
	if !ok && value != nil {
		return nil, refuse("Expected a list of items.")
	}
	ids := []int{}
	for _, value := range values {
		id, err := s.readReference(target, value)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// readGeneric decodes the two fields of a reference to an object of any model.
func (s *store) readGeneric(f *field, sent Object, old *object, fields map[string]any) error {
	typeName, givenType := sent[f.name+"_type"]
	idValue, givenID := sent[f.name+"_id"]
	switch {
	case !givenType && !givenID && old == nil && f.required:
		return refuse("This field is required.")
	case !givenType && !givenID && old != nil:
		return nil
	case !givenType && old != nil:
		typeName = old.fields[f.name+"_type"]
	}
	fields[f.name+"_type"], fields[f.name+"_id"] = nil, 0
	if typeName == nil || idValue == nil {
		return nil
	}
	id, err := s.readReference(fmt.Sprint(typeName), idValue)
	fields[f.name+"_type"], fields[f.name+"_id"] = fmt.Sprint(typeName), id
	return err
}

func readEnds(value any) (any, error) {
	ends := []ref{}
	values, _ := value.([]any)
	for _, value := range values {
		end, _ := value.(map[string]any)
		id, err := strconv.Atoi(fmt.Sprint(end["object_id"]))
		if err != nil {
			return nil, fmt.Errorf("object_id: %w", err)
		}
		ends = append(ends, ref{target: fmt.Sprint(end["object_type"]), id: id})
	}
	return ends, nil
}

// readCustom merges the custom fields of a request into the present ones.
func (s *store) readCustom(m *model, value any, old *object) (any, error) {
	merged := map[string]any{}
	if old != nil {
		kept, _ := old.fields["custom_fields"].(map[string]any)
		maps.Copy(merged, kept)
	}
	defined := s.customFields(m)
	sent, _ := value.(map[string]any)
	for name, value := range sent {
		definition := defined[name]
		if definition == nil {
			return nil, refuse("Custom field '%s' does not exist for this object type.", name)
		}
		read, err := s.readCustomValue(definition, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		merged[name] = read
	}
	for name, definition := range defined {
		if _, there := merged[name]; old == nil && !there {
			merged[name] = definition.fields["default"]
		}
	}
	return merged, nil
}

// customFields returns the custom fields of a model by name.
func (s *store) customFields(m *model) map[string]*object {
	defined := map[string]*object{}
	for _, o := range s.objects["extras.customfield"] {
		types, _ := o.fields["object_types"].([]any)
		if slices.Contains(types, any(m.name)) {
			defined[o.text("name")] = o
		}
	}
	return defined
}

func (s *store) readCustomValue(definition *object, value any) (any, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // the value is null
	}
	switch definition.text("type") {
	case "integer", "decimal":
		n, ok := value.(json.Number)
		if !ok {
			return nil, refuse("Value must be a number.")
		}
		return n.Float64()
	case "boolean":
		if _, ok := value.(bool); !ok {
			return nil, refuse("Value must be true or false.")
		}
	case "object":
		return s.readReference(definition.text("related_object_type"), value)
	case "multiobject":
		return s.readReferences(definition.text("related_object_type"), value)
	}
	return value, nil
}

// freeAddress returns the first unused address of a prefix.
func (s *store) freeAddress(prefix string) (string, error) {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return "", fmt.Errorf("read prefix: %w", err)
	}
	taken := map[string]bool{}
	for _, o := range s.objects["ipam.ipaddress"] {
		address, _, _ := strings.Cut(o.text("address"), "/")
		taken[address] = true
	}
	for a := p.Masked().Addr().Next(); p.Contains(a); a = a.Next() {
		if !taken[a.String()] {
			return fmt.Sprintf("%s/%d", a, p.Bits()), nil
		}
	}
	return "", fmt.Errorf("no address of %s is free", prefix)
}
