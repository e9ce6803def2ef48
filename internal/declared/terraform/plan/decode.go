package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// A Plan is the output of `show -json` for a plan file. It adds fields that tfjson.Plan lacks. Numbers are
// decoded as json.Number.
type Plan struct {
	tfjson.Plan
	// Errored reports whether the plan is partial, because planning failed.
	Errored bool
}

// Decode decodes the output of `show -json`. It skips planned_values, which repeats the changes.
func Decode(r io.Reader) (*Plan, error) {
	// The fields are listed because tfjson.Plan has its own UnmarshalJSON, which would not leave
	// out any.
	var raw struct {
		FormatVersion    string                           `json:"format_version"`
		TerraformVersion string                           `json:"terraform_version"`
		ResourceDrift    []*tfjson.ResourceChange         `json:"resource_drift"`
		ResourceChanges  []*tfjson.ResourceChange         `json:"resource_changes"`
		DeferredChanges  []*tfjson.DeferredResourceChange `json:"deferred_changes"`
		PriorState       *struct {
			Values *tfjson.StateValues `json:"values"`
		} `json:"prior_state"`
		Variables map[string]*tfjson.PlanVariable `json:"variables"`
		Config    *tfjson.Config                  `json:"configuration"`
		Checks    []tfjson.CheckResultStatic      `json:"checks"`
		Errored   bool                            `json:"errored"`
		Complete  *bool                           `json:"complete"`
	}
	dec := json.NewDecoder(r)
	dec.UseNumber()
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decode plan: more text follows the plan: one file holds one plan")
	}
	p := &Plan{Errored: raw.Errored, Plan: tfjson.Plan{Complete: raw.Complete, FormatVersion: raw.FormatVersion,
		TerraformVersion: raw.TerraformVersion, ResourceDrift: raw.ResourceDrift,
		ResourceChanges: raw.ResourceChanges, DeferredChanges: raw.DeferredChanges,
		Variables: raw.Variables, Config: raw.Config, Checks: raw.Checks}}
	if raw.PriorState != nil {
		p.PriorState = &tfjson.State{Values: raw.PriorState.Values}
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("decode plan: %w; try another version of Terraform or driftd", err)
	}
	return p, wellFormed(p)
}

// wellFormed returns an error for content that Terraform does not print, and that would hide other
// content: an object twice, or a mode that is not that of the address.
func wellFormed(p *Plan) error {
	for _, list := range [][]*tfjson.ResourceChange{p.ResourceDrift, p.ResourceChanges} {
		seen := map[objectKey]bool{}
		for _, c := range list {
			switch {
			case c == nil || c.Address == "" || c.Change == nil:
				return errors.New("decode plan: a resource change without address or content")
			case seen[keyOf(c)]:
				return fmt.Errorf("decode plan: it has two changes of %s", c.Address)
			case !hasOwnMode(c):
				return fmt.Errorf("decode plan: %s has the mode %s", c.Address, c.Mode)
			}
			seen[keyOf(c)] = true
		}
	}
	for _, d := range p.DeferredChanges {
		if d != nil && d.ResourceChange != nil && !hasOwnMode(d.ResourceChange) {
			return fmt.Errorf("decode plan: %s has the mode %s", d.ResourceChange.Address, d.ResourceChange.Mode)
		}
	}
	return nil
}

// hasOwnMode reports whether the mode of a change is that of its address: changes of data sources
// are left out.
func hasOwnMode(c *tfjson.ResourceChange) bool {
	return (c.Mode == tfjson.DataResourceMode) == isData(c.Address)
}

// isData reports whether an address is that of a data source.
func isData(address string) bool {
	return strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(address, moduleOf(address)), "."), "data.")
}

// maxDepth bounds the nesting of a value. Provider schemas nest far less deeply.
const maxDepth = 200

// tooDeep is the reason why a change is not compared, or "": valueOf cuts a value that is nested too
// deeply.
func tooDeep(changes ...*tfjson.ResourceChange) string {
	for _, c := range changes {
		if c != nil && (isDeeper(c.Change.Before, 0) || isDeeper(c.Change.After, 0)) {
			return fmt.Sprintf("a value is nested more than %d levels deep", maxDepth)
		}
	}
	return ""
}

// isDeeper reports whether valueBelow cuts a value.
func isDeeper(v any, depth int) bool {
	if depth > maxDepth {
		return v != nil
	}
	switch t := v.(type) {
	case []any:
		return slices.ContainsFunc(t, func(item any) bool { return isDeeper(item, depth+1) })
	case map[string]any:
		for _, field := range t {
			if isDeeper(field, depth+1) {
				return true
			}
		}
	}
	return false
}

// valueOf converts a value that encoding/json decoded. A field that is null is left out.
func valueOf(v any) model.Value { return valueBelow(v, 0) }

func valueBelow(v any, depth int) model.Value {
	if depth > maxDepth {
		return model.Value{}
	}
	switch t := v.(type) {
	case bool:
		return model.BoolOf(t)
	case string:
		return model.StringOf(t)
	case json.Number:
		if n, ok := model.NumberOf(t.String()); ok {
			return n
		}
		return model.StringOf(t.String())
	case []any:
		items := make([]model.Value, len(t))
		for i, item := range t {
			items[i] = valueBelow(item, depth+1)
		}
		return model.ListOf(items...)
	case map[string]any:
		fields := make([]model.Field, 0, len(t))
		for name, field := range t {
			if below := valueBelow(field, depth+1); !below.IsNull() {
				fields = append(fields, model.Field{Name: name, Value: below})
			}
		}
		return model.MapOf(fields...)
	}
	return model.Value{}
}
