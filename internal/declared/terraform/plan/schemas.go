package plan

import (
	"encoding/json"
	"fmt"
	"io"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// Schemas are the schemas of the resource types in use. A nil Schemas contains no types.
type Schemas struct {
	types map[typeKey]*typeSchema
}

type typeKey struct{ provider, name string }

type typeSchema struct {
	shape  *shape
	schema *model.Schema
}

// DecodeSchemas decodes the output of `providers schema -json`. It skips the types that do not occur in p.
func DecodeSchemas(r io.Reader, p *Plan) (*Schemas, error) {
	var raw struct {
		Schemas map[string]struct {
			Types map[string]json.RawMessage `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.NewDecoder(r).Decode(&raw); err != nil {
		return nil, fmt.Errorf("decode provider schemas: %w", err)
	}
	schemas := &Schemas{types: map[typeKey]*typeSchema{}}
	for key := range p.types() {
		text, ok := raw.Schemas[key.provider].Types[key.name]
		if !ok {
			continue
		}
		var s tfjson.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("decode schema of %s: %w", key.name, err)
		}
		shape := shapeOf(s.Block)
		schemas.types[key] = &typeSchema{shape: shape, schema: shape.schema()}
	}
	return schemas, nil
}

// types returns the resource types in a plan.
func (p *Plan) types() map[typeKey]bool {
	types := map[typeKey]bool{}
	for _, list := range [][]*tfjson.ResourceChange{p.ResourceDrift, p.ResourceChanges} {
		for _, c := range list {
			types[typeKey{c.ProviderName, c.Type}] = true
		}
	}
	for _, s := range p.recorded() {
		types[typeKey{s.ProviderName, s.Type}] = true
	}
	return types
}

func (s *Schemas) find(provider, name string) *typeSchema {
	if s == nil {
		return nil
	}
	return s.types[typeKey{provider, name}]
}

// shape returns the shape of a type, or nil.
func (s *Schemas) shape(provider, name string) *shape {
	if t := s.find(provider, name); t != nil {
		return t.shape
	}
	return nil
}

// schema returns the schema for comparing instances of a type.
func (s *Schemas) schema(provider, name string) *model.Schema {
	if t := s.find(provider, name); t != nil {
		return t.schema
	}
	return anySchema()
}
