package main

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// encodeObject returns the attributes of a resource that are set.
func encodeObject(v tftypes.Value) (map[string]any, error) {
	var attributes map[string]tftypes.Value
	if err := v.As(&attributes); err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	fields := map[string]any{}
	for name, attribute := range attributes {
		if attribute.IsNull() || !attribute.IsFullyKnown() {
			continue
		}
		field, err := encode(attribute)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		fields[name] = field
	}
	return fields, nil
}

// encode returns a value in the types of encoding/json.
func encode(v tftypes.Value) (any, error) {
	switch t := v.Type(); {
	case t.Is(tftypes.Object{}), t.Is(tftypes.Map{}):
		return encodeObject(v)
	case t.Is(tftypes.List{}), t.Is(tftypes.Set{}):
		return encodeList(v)
	case t.Is(tftypes.Number):
		var number big.Float
		err := v.As(&number)
		return json.Number(number.Text('f', -1)), err
	case t.Is(tftypes.Bool):
		var is bool
		err := v.As(&is)
		return is, err
	default:
		var text string
		err := v.As(&text)
		return text, err
	}
}

func encodeList(v tftypes.Value) (any, error) {
	var elements []tftypes.Value
	if err := v.As(&elements); err != nil {
		return nil, err
	}
	list := make([]any, 0, len(elements))
	for _, e := range elements {
		element, err := encode(e)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

// decode returns a value of the API as a value of a type. An absent value is null, except for
// blocks, which must be empty in Terraform; if filled is true, everything but an object is
// empty.
func decode(t tftypes.Type, raw any, filled bool) (tftypes.Value, error) {
	switch t := t.(type) {
	case tftypes.Object:
		return decodeObject(t, raw, filled)
	case tftypes.Map:
		return decodeMap(t, raw, filled)
	case tftypes.List:
		return decodeList(t, t.ElementType, raw, filled)
	case tftypes.Set:
		return decodeList(t, t.ElementType, raw, filled)
	}
	if raw == nil && filled && t.Is(tftypes.String) {
		raw = ""
	}
	if number, ok := raw.(json.Number); ok {
		exact, _, err := big.ParseFloat(number.String(), 10, 512, big.ToNearestEven)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("read number %s: %w", number, err)
		}
		raw = exact
	}
	if err := tftypes.ValidateValue(t, raw); err != nil {
		return tftypes.Value{}, fmt.Errorf("read answer: %w", err)
	}
	return tftypes.NewValue(t, raw), nil
}

func decodeObject(t tftypes.Object, raw any, filled bool) (tftypes.Value, error) {
	fields, ok := raw.(map[string]any)
	if !ok {
		return tftypes.NewValue(t, nil), nil
	}
	attributes := map[string]tftypes.Value{}
	for name, attribute := range t.AttributeTypes {
		value, err := decode(attribute, fields[name], filled)
		if err != nil {
			return value, fmt.Errorf("%s: %w", name, err)
		}
		attributes[name] = value
	}
	return tftypes.NewValue(t, attributes), nil
}

func decodeMap(t tftypes.Map, raw any, filled bool) (tftypes.Value, error) {
	fields, ok := raw.(map[string]any)
	if !ok && !filled {
		return tftypes.NewValue(t, nil), nil
	}
	elements := map[string]tftypes.Value{}
	for name, field := range fields {
		value, err := decode(t.ElementType, field, false)
		if err != nil {
			return value, fmt.Errorf("%s: %w", name, err)
		}
		elements[name] = value
	}
	return tftypes.NewValue(t, elements), nil
}

// decodeList decodes a list or a set: a list of objects is a block here.
func decodeList(t, element tftypes.Type, raw any, filled bool) (tftypes.Value, error) {
	list, ok := raw.([]any)
	if !ok && !filled && !element.Is(tftypes.Object{}) {
		return tftypes.NewValue(t, nil), nil
	}
	elements := make([]tftypes.Value, 0, len(list))
	for _, e := range list {
		value, err := decode(element, e, false)
		if err != nil {
			return value, err
		}
		elements = append(elements, value)
	}
	return tftypes.NewValue(t, elements), nil
}
