package mapping

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An identity is a template of what a live resource is known by beside its id.
type identity struct {
	by string
	is template
	// upper writes it in upper case, lower in lower case; onlyIf names an
	// attribute that must hold something.
	upper, lower bool
	onlyIf       string
}

// identities are what the claimed resource is known by, the surest first. A part
// that holds nothing is empty; without the first one there is no identity.
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

// loosely expands the template with what is there, or returns "" when its first
// attribute holds nothing.
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
