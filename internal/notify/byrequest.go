package notify

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// byRequest groups items of one cause with the same news. Muted ones stay alone: each
// has a decision and an owner.
func byRequest(items []item) [][]item {
	return model.ByCause(items, func(it item) (model.Cause, string) {
		if (model.Notified{News: it.news}).Muted() {
			return model.Cause{}, ""
		}
		return it.finding.Cause(), string(it.news) + "\x00" + it.why + "\x00" + strconv.FormatBool(it.finding.Flapping)
	})
}

// requested counts the items of groups with several, and the requests that they come
// from.
func requested(groups [][]item) (items, requests int) {
	type request struct {
		source string
		model.Request
	}
	seen := map[request]bool{}
	for _, group := range groups {
		if len(group) > 1 {
			cause := group[0].finding.Cause()
			seen[request{cause.Source, cause.Request}] = true
			items += len(group)
		}
	}
	return items, len(seen)
}

// maxAlike bounds the lines about findings of the same request, and maxResource the
// resource that each begins with, in columns.
const (
	maxAlike    = 5
	maxResource = 50
)

// alike returns a line for each group about the findings that the first one stands
// for.
func alike(groups [][]item) []string {
	var lines []string
	left := 0
	for _, group := range groups {
		switch {
		case len(group) == 1:
		case len(lines) == maxAlike:
			left += len(group) - 1
		default:
			lines = append(lines, phrase.Line(resource(group[0].finding), maxResource)+" and "+phrase.SameRequest(findingsOf(group[1:])).String())
		}
	}
	if left > 0 {
		lines = append(lines, "and "+phrase.Number(left)+" more by other requests")
	}
	return lines
}

// resource returns the kind and the name of a finding's resource.
func resource(f *model.Finding) string { return phrase.Kind(f.Kind) + " " + phrase.Resource(f) }

func findingsOf(items []item) []*model.Finding {
	all := make([]*model.Finding, len(items))
	for i := range items {
		all[i] = items[i].finding
	}
	return all
}

// resources counts the resources of findings.
func resources(items []item) int {
	seen := map[model.Key]bool{}
	for _, it := range items {
		seen[it.finding.Key] = true
	}
	return len(seen)
}

// flat returns the items of all groups.
func flat(groups [][]item) []item { return slices.Concat(groups...) }
