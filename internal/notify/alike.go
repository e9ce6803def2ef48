package notify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// together puts together what has one cause and is told in the same words. What
// somebody decided about stands alone: each has somebody who answers for it.
func together(items []item) [][]item {
	return model.ByCause(items, func(it item) (model.Cause, string) {
		if (model.Told{News: it.news}).Muted() {
			return model.Cause{}, ""
		}
		return it.finding.Cause(), string(it.news) + "\x00" + it.why + "\x00" + strconv.FormatBool(it.finding.Flapping)
	})
}

// requested counts the items that are told by others, since one request brought
// them about, those included, and the requests.
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

// Bounds of the lines that name what is told by something else: so many lines,
// names a line, and characters a name.
const (
	maxAlike = 5
	maxNames = 4
	maxName  = 40
)

// alike says what is told by something else, a line each.
func alike(groups [][]item) []string {
	var lines []string
	left := 0
	for _, group := range groups {
		switch {
		case len(group) == 1:
		case len(lines) == maxAlike:
			left += len(group) - 1
		default:
			lines = append(lines, fmt.Sprintf("%s more by the same request as %s: %s", thousands(len(group)-1), resource(group[0].finding), names(group[1:])))
		}
	}
	if left > 0 {
		lines = append(lines, thousands(left)+" more by other requests that are told by one finding each")
	}
	return lines
}

func names(items []item) string {
	said := make([]string, 0, maxNames+1)
	for _, it := range items[:min(len(items), maxNames)] {
		said = append(said, called(it.finding))
	}
	if len(items) > maxNames {
		said = append(said, "…")
	}
	return strings.Join(said, ", ")
}

// resource names a finding's resource with its kind.
func resource(f *model.Finding) string { return clip(ownKind(f)) + " " + called(f) }

func ownKind(f *model.Finding) string { return f.Kind[strings.IndexByte(f.Kind, '/')+1:] }

// called is what people call a resource: its name, unless its id says so.
func called(f *model.Finding) string {
	id := f.Key.ID
	if f.Name == "" || f.Name == id[strings.LastIndexByte(id, '/')+1:] {
		return clip(id)
	}
	return clip(f.Name)
}

func clip(name string) string {
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
	}
	return name
}

// resources counts the resources that findings are on.
func resources(items []item) int {
	seen := map[model.Key]bool{}
	for _, it := range items {
		seen[it.finding.Key] = true
	}
	return len(seen)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// flat returns the items of all groups.
func flat(groups [][]item) []item { return slices.Concat(groups...) }
