package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A Copied is a field that NetBox copies from a parent to every object below it when the parent is
// saved. NetBox writes a changelog entry only for the parent.
type Copied struct {
	// Kind and Field are the field that is overwritten. Via is the field that contains the ID of
	// the parent.
	Kind, Field, Via string
	// Parent is the kind of the parent. Up is its field that contains the ID of a parent of the
	// same kind, from which values are copied, too; "" if there is none.
	Parent, Up string
	// From lists the fields of the parent that determine the value.
	From []string
}

// CopiedFields returns the fields that NetBox copies, according to dcim/signals.py and
// virtualization/signals.py in NetBox.
func CopiedFields() []Copied {
	const location, rack, cluster = Type + "/dcim.location", Type + "/dcim.rack", Type + "/virtualization.cluster"
	site := []string{"site"}
	return []Copied{
		{location, "site", "parent", location, "parent", site},
		{rack, "site", "location", location, "parent", site},
		{Type + "/dcim.powerpanel", "site", "location", location, "parent", site},
		{Type + "/dcim.device", "site", "location", location, "parent", site},
		{Type + "/dcim.device", "site", "rack", rack, "", site},
		{Type + "/dcim.device", "location", "rack", rack, "", []string{"location"}},
		{Type + "/virtualization.virtualmachine", "site", "cluster", cluster, "", []string{"scope_type", "scope_id"}},
	}
}

// Value returns the value that a parent copies. The function find returns an object by its kind and
// ID, or null. For a scope that is a location, the value is the site of the location.
func (c *Copied) Value(parent model.Value, find func(kind string, id model.Value) model.Value) model.Value {
	if !slices.Contains(c.From, "scope_id") {
		return parent.At(c.From[0])
	}
	id := parent.At("scope_id")
	switch parent.At("scope_type").Str() {
	case "dcim.site":
		return id
	case "dcim.location":
		return find(Type+"/dcim.location", id).At("site")
	}
	return model.Value{}
}
