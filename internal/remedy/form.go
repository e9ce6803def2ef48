package remedy

import (
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
)

// otherForm is why a field is not written: the declaration may express it differently.
const otherForm = "the declaration may write it in another form than the live system"

// form returns why the declared value of a field cannot be written to the live system as it is; ""
// if it can. The live value in the form of the declaration must be the stored one. Zero and ""
// prove nothing for Terraform: they stay the same if a number is converted to another unit.
func (c *issue) form(change *model.Change) string {
	if c.Live == nil {
		return "the live resource is not stored"
	}
	if _, ok := fieldpath.Parse(path(change)); !ok {
		return "its path cannot be translated"
	}
	found, _ := jsonpatch.Find(*c.Live, path(change))
	switch {
	case !model.SameValue(found, change.Live):
		return otherForm
	case c.Declared != terraform || change.Declared == nil:
		return ""
	case change.Live == nil || change.Live.Kind() != change.Declared.Kind(), change.Live.Kind() != model.Bool && change.Live.IsEmpty():
		return otherForm
	}
	return ""
}
