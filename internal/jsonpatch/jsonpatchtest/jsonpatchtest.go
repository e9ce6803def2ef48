// Package jsonpatchtest applies JSON Patches in tests.
package jsonpatchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Apply applies a patch to decoded JSON as the API server of Kubernetes does: a test of null succeeds if the field
// is absent. It may change the tree.
func Apply(tree any, text []byte) (any, error) {
	var operations []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(text, &operations); err != nil {
		return nil, err
	}
	for _, o := range operations {
		var steps []string
		for _, step := range strings.Split(o.Path, "/")[1:] {
			steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		var err error
		if tree, err = operate(tree, steps, o.Op, o.Value); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Op, o.Path, err)
		}
	}
	return tree, nil
}

var errTest = errors.New("another value")

func operate(at any, steps []string, op string, value any) (any, error) {
	switch at := at.(type) {
	case map[string]any:
		return at, inMap(at, steps, op, value)
	case []any:
		return inList(at, steps, op, value)
	}
	return at, errNoField
}

var errNoField = errors.New("no such field")

func inMap(at map[string]any, steps []string, op string, value any) (err error) {
	held, ok := at[steps[0]]
	switch {
	case len(steps) > 1 && ok:
		at[steps[0]], err = operate(held, steps[1:], op, value)
		return err
	case len(steps) > 1:
		return errNoField
	case op == "test":
		return equal(held, value)
	case op != "add" && !ok:
		return errNoField
	case op == "remove":
		delete(at, steps[0])
	default:
		at[steps[0]] = value
	}
	return nil
}

func inList(at []any, steps []string, op string, value any) ([]any, error) {
	n, err := strconv.Atoi(steps[0])
	if err != nil || n > len(at) || n == len(at) && (op != "add" || len(steps) > 1) {
		return at, fmt.Errorf("no element %s", steps[0])
	}
	switch {
	case len(steps) > 1:
		at[n], err = operate(at[n], steps[1:], op, value)
		return at, err
	case op == "test":
		return at, equal(at[n], value)
	case op == "add":
		return slices.Insert(at, n, value), nil
	case op == "remove":
		return slices.Delete(at, n, n+1), nil
	}
	at[n] = value
	return at, nil
}

func equal(held, value any) error {
	if !reflect.DeepEqual(held, value) {
		return errTest
	}
	return nil
}
