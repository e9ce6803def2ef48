package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/chart"
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
	notes := slices.Clone(c.remarks)
	for _, asked := range slices.Sorted(maps.Keys(named)) {
		names := named[asked]
		text := shown(strings.Join(names[:min(len(names), maxOptionalShown)], ", "))
		if more := len(names) - maxOptionalShown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		note := fmt.Sprintf("%s: compared only while live or recorded, because of %s", text, asked)
		if strings.HasPrefix(asked, apiVersionsAsked) {
			note += ". List the versions that the cluster has in api_versions to compare always"
		}
		notes = append(notes, model.Note{Text: note})
	}
	return notes
}

// maxAskedShown bounds the API versions in the text of a field that depends on them.
const maxAskedShown = 3

// apiVersionsAsked begins the text of what depends on API versions.
const apiVersionsAsked = "the API versions of the cluster"

// askedBy returns the inputs other than its values on which the output of a chart depends.
func askedBy(r *chart.Rendered) string {
	var by []string
	if len(r.Asked) > 0 {
		asked := fmt.Sprintf("%s: the chart asks for %s", apiVersionsAsked, shown(strings.Join(r.Asked[:min(len(r.Asked), maxAskedShown)], ", ")))
		if more := len(r.Asked) - maxAskedShown; more > 0 {
			asked += fmt.Sprintf(" and %d more", more)
		}
		by = append(by, asked)
	}
	if r.Upgraded {
		by = append(by, "whether the release is installed or upgraded")
	}
	if r.Hooks {
		by = append(by, "whether helm-controller post-renders hooks (spec.postRenderStrategy)")
	}
	return strings.Join(by, ", and ")
}

// leaveToCluster adds the objects for clusters with other API versions, which the chart asks for, and for a first
// installation. An object that is not in all of these contents may be absent.
func (c *content) leaveToCluster(others []content, r *chart.Rendered) {
	if len(others) == 0 {
		return
	}
	by := askedBy(r)
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
