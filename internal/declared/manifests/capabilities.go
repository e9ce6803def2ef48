package manifests

import (
	"fmt"
	"slices"
	"strings"
)

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
