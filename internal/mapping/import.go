package mapping

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An Import describes how to import a live resource into Terraform.
type Import struct {
	// Provider and Type are the provider and the type of the resource block.
	Provider, Type string
	// ID is the import ID of the provider.
	ID string
	// Name is a name for the block, derived from the name of the resource.
	Name string
}

// Import returns the import of a live resource with the first type, in the order of Types, whose
// table defines one. If there is none, ok is false.
func (t *Tables) Import(ref model.Ref, place, name string) (Import, bool) {
	live := model.MapOf(model.Field{Name: "id", Value: model.StringOf(ref.ID)},
		model.Field{Name: "place", Value: model.StringOf(place)}, model.Field{Name: "name", Value: model.StringOf(name)})
	for _, typ := range t.Types() {
		if typ.kind != ref.Kind || typ.imported == nil || typ.name != typ.like {
			continue
		}
		if id := typ.imported.text(live); id != "" {
			return Import{Provider: typ.provider, Type: typ.name, ID: id, Name: identifier(name)}, true
		}
	}
	return Import{}, false
}

// Block returns the Terraform import block.
func (i Import) Block() string {
	return fmt.Sprintf("import {\n  to = %s.%s\n  id = %s\n}\n", i.Type, i.Name, quoted(i.ID))
}

// quoted returns a string literal of Terraform. It escapes template sequences.
func quoted(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

// identifier converts a name to a valid Terraform identifier.
func identifier(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if plain == "" || plain[0] == '-' || '0' <= plain[0] && plain[0] <= '9' {
		return "_" + plain
	}
	return plain
}
