package notify

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// byRequest groups the items that have the same cause and the same news. A muted item
// is a group of its own, since each has a decision and an owner.
func byRequest(items []item) [][]item {
	return model.ByCause(items, func(it item) (model.Cause, string) {
		if (model.Notified{News: it.news}).Muted() {
			return model.Cause{}, ""
		}
		return it.finding.Cause(), string(it.news) + "\x00" + it.why + "\x00" + strconv.FormatBool(it.finding.Flapping)
	})
}

// countRequests returns the number of items in groups of more than one item, and the
// number of requests that caused them.
func countRequests(groups [][]item) (items, requests int) {
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

// maxRequestLines bounds the number of lines of requestLines. maxResource bounds the
// resource at the beginning of a line, in columns.
const (
	maxRequestLines = 5
	maxResource     = 50
)

// requestLines returns a line for each group of more than one item. The line names the
// first finding of the group, which the message lists, and summarizes the others.
func requestLines(groups [][]item) []string {
	var lines []string
	left := 0
	for _, group := range groups {
		switch {
		case len(group) == 1:
		case len(lines) == maxRequestLines:
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

// resource returns the kind and the name of f's resource.
func resource(f *model.Finding) string {
	return phrase.Kind(f.Kind) + " " + phrase.Resource(f.Key.ID, f.Name)
}

func findingsOf(items []item) []*model.Finding {
	all := make([]*model.Finding, len(items))
	for i := range items {
		all[i] = items[i].finding
	}
	return all
}

// countResources returns the number of distinct resources of items.
func countResources(items []item) int {
	seen := map[model.Key]bool{}
	for _, it := range items {
		seen[it.finding.Key] = true
	}
	return len(seen)
}

// flatten returns the items of all groups.
func flatten(groups [][]item) []item { return slices.Concat(groups...) }
