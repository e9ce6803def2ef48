package mapping

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An identity is a template of another identity of a live resource than its id.
type identity struct {
	by string
	is template
	// upper and lower convert to upper or lower case; onlyIf names an attribute that must be
	// set.
	upper, lower bool
	onlyIf       string
}

// identities returns the identities of the claimed resource, the most reliable first. A part that
// is not set is empty. If the first part is not set, the identity is omitted.
func (t *Type) identities(attributes model.Value) []model.Identity {
	var all []model.Identity
	for _, i := range t.knownBy {
		text := i.is.loosely(attributes)
		if text == "" || i.onlyIf != "" && attributes.At(i.onlyIf).IsEmpty() {
			continue
		}
		switch {
		case i.upper:
			text = strings.ToUpper(text)
		case i.lower:
			text = strings.ToLower(text)
		}
		all = append(all, model.Identity{By: i.by, Value: text})
	}
	return all
}

// loosely expands the template with "" for attributes that are not set. It returns "" if the first
// attribute is not set.
func (t template) loosely(attributes model.Value) string {
	var b strings.Builder
	first := true
	for _, p := range t {
		text := p.literal
		for i := 0; text == "" && i < len(p.fields); i++ {
			text = strings.TrimSpace(p.fields[i].text(attributes, model.Value{}))
		}
		if first && text == "" {
			return ""
		}
		first = first && len(p.fields) == 0
		b.WriteString(text)
	}
	return b.String()
}
