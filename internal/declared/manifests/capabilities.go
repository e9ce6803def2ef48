package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxOptionalShown bounds the objects that a note names.
const maxOptionalShown = 5

// notes returns a note about the objects that may be absent because of the API versions of the cluster.
func (c *content) notes() []model.Note {
	named := map[string][]string{}
	for i := range c.objects {
		if o := &c.objects[i]; o.optional && o.asked != "" {
			named[o.asked] = append(named[o.asked], kindOf(o.value)+" "+nameOf(o.value))
		}
	}
	var notes []model.Note
	for _, asked := range slices.Sorted(maps.Keys(named)) {
		names := named[asked]
		text := printable(strings.Join(names[:min(len(names), maxOptionalShown)], ", "))
		if more := len(names) - maxOptionalShown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, model.Note{Text: fmt.Sprintf("%s: compared only while live or recorded, because of %s. List the versions that the cluster has in api_versions to compare always", text, asked)})
	}
	return notes
}

// maxAskedShown bounds the API versions in the text of a field that depends on them.
const maxAskedShown = 3

// leaveToCluster adds the objects for clusters with other API versions, which the chart asks for.
// An object that is not in all of these contents may be absent.
func (c *content) leaveToCluster(others []content, asked []string) {
	if len(others) == 0 {
		return
	}
	by := fmt.Sprintf("the API versions of the cluster: the chart asks for %s", printable(strings.Join(asked[:min(len(asked), maxAskedShown)], ", ")))
	if more := len(asked) - maxAskedShown; more > 0 {
		by += fmt.Sprintf(" and %d more", more)
	}
	at, in := map[string]int{}, map[string]int{}
	id := func(o object) string { return kindOf(o.value) + " " + nameOf(o.value) }
	for i, o := range c.objects {
		at[id(o)], in[id(o)] = i, 1
	}
	for _, other := range others {
		c.problems = append(c.problems, other.problems...)
		seen := map[string]bool{}
		for _, o := range other.objects {
			if name := id(o); !seen[name] {
				seen[name] = true
				in[name]++
			}
			i, known := at[id(o)]
			if !known {
				at[id(o)] = len(c.objects)
				c.objects = append(c.objects, o)
				continue
			}
			c.objects[i].otherwise = append(slices.Clip(c.objects[i].otherwise), o.value)
		}
	}
	for i := range c.objects {
		c.objects[i].asked, c.objects[i].optional = by, in[id(c.objects[i])] <= len(others)
	}
}
