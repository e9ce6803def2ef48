package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A filter is the selection of findings in the query of a page's URL.
type filter struct {
	Query string
	words []string
	// chosen are the chosen values of each facet; none selects all.
	chosen [facets][]string
	State  string
	// Like is the ID of a finding; it selects the findings of the same cause.
	Like string
	// Resources select the findings on resources, as row.concerns does; none selects all.
	Resources []string
	page      int
	// Since is the age at which a timeline begins, What the kind of events that it lists.
	Since, What string
}

// The facets of findings.
const (
	bySeverity = iota
	byVerdict
	bySource
	byOwner
	facets
)

// facetNames returns the query parameters of the facets.
func facetNames() [facets]string { return [facets]string{"severity", "verdict", "source", "owner"} }

// noOwner is the facet value of findings without an owner.
const noOwner = "(nobody)"

// maxQuery bounds the length of a search text in bytes, maxResources the number of resources.
const (
	maxQuery     = 500
	maxResources = 20
)

func readFilter(q url.Values) filter {
	f := filter{Query: q.Get("q"), State: q.Get("state"), Like: q.Get("like"), page: 1, Since: q.Get("since"), What: q.Get("what")}
	f.Query = strings.ToValidUTF8(f.Query[:min(len(f.Query), maxQuery)], "")
	f.words = strings.Fields(strings.ToLower(f.Query))
	for facet, name := range facetNames() {
		for _, value := range q[name] {
			if value != "" && len(value) <= maxQuery && !slices.Contains(f.chosen[facet], value) {
				f.chosen[facet] = append(f.chosen[facet], value)
			}
		}
	}
	for _, value := range q["resource"] {
		if value != "" && len(value) <= maxQuery && len(f.Resources) < maxResources && !slices.Contains(f.Resources, value) {
			f.Resources = append(f.Resources, value)
		}
	}
	if !slices.Contains(states(), f.State) {
		f.State = isOpen
		if slices.Equal(f.chosen[byVerdict], []string{string(model.Unchecked)}) {
			f.State = isUnchecked
		}
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 1 {
		f.page = n
	}
	return f
}

// narrow reports whether the filter has more than a state.
func (f *filter) narrow() bool {
	return f.Query != "" || f.Like != "" || f.What != "" || len(f.Resources) > 0 || slices.ContainsFunc(f.chosen[:], func(values []string) bool { return len(values) > 0 })
}

// picked reports whether a facet other than the severity has a chosen value.
func (f *filter) picked() bool {
	return f.State != isOpen || f.What != "" || slices.ContainsFunc(f.chosen[byVerdict:], func(values []string) bool { return len(values) > 0 })
}

// query returns the filter as a URL query, after change has edited it.
func (f *filter) query(change func(url.Values)) string {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("q", f.Query)
	set("like", f.Like)
	set("since", f.Since)
	set("what", f.What)
	if f.State != isOpen {
		q.Set("state", f.State)
	}
	if len(f.Resources) > 0 {
		q["resource"] = f.Resources
	}
	for facet, name := range facetNames() {
		if len(f.chosen[facet]) > 0 {
			q[name] = f.chosen[facet]
		}
	}
	change(q)
	if len(q) == 0 {
		return "?"
	}
	return "?" + q.Encode()
}

// fits reports whether a row contains all words of the search.
func (f *filter) fits(r *row) bool {
	for _, word := range f.words {
		if !strings.Contains(r.text(), word) {
			return false
		}
	}
	return true
}

// concerns reports whether a row is about one of the resources. Each is the end of the key of a
// resource, from one of its parts on, or the address of its claim in a declaration.
func (r *row) concerns(resources []string) bool {
	key := "/" + r.key.String()
	return slices.ContainsFunc(resources, func(resource string) bool {
		return strings.HasSuffix(key, "/"+resource) || slices.Contains(r.addresses, resource)
	})
}

// values returns the value of a row in each facet.
func (r *row) values() [facets]string {
	return [facets]string{string(r.Severity), string(r.Verdict), r.Source, cmp.Or(r.Owner, noOwner)}
}

// A tally counts rows by facet and value.
type tally [facets]map[string]int

func newTally() tally {
	var t tally
	for facet := range t {
		t[facet] = map[string]int{}
	}
	return t
}

// matches reports whether the filter selects a row. It also counts the row in each facet whose
// choice does not exclude it while all other conditions hold.
func (f *filter) matches(r *row, t *tally) bool {
	if !f.fits(r) || len(f.Resources) > 0 && !r.concerns(f.Resources) {
		return false
	}
	values, misses, missed := r.values(), 0, 0
	for facet, chosen := range f.chosen {
		if len(chosen) > 0 && !slices.Contains(chosen, values[facet]) {
			misses, missed = misses+1, facet
		}
	}
	switch misses {
	case 0:
		for facet, value := range values {
			t[facet][value]++
		}
	case 1:
		t[missed][values[missed]]++
	}
	return misses == 0
}

// An option is one value of a facet with its number of findings.
type option struct {
	Value, Text string
	Count       int
	Chosen      bool
	ID          string
}

// maxOptions bounds the values of a facet in the form. Chosen values are always included.
const maxOptions = 40

// options returns the values of a facet, the most frequent first; severities and verdicts the worst
// first.
func (f *filter) options(facet int, t *tally) []option {
	counts, all := t[facet], []option(nil)
	for _, value := range f.order(facet, counts) {
		chosen := slices.Contains(f.chosen[facet], value)
		if !chosen && (len(all) >= maxOptions || counts[value] == 0 && facet != bySeverity) {
			continue
		}
		text := phrase.Line(value, rowName)
		if value == noOwner {
			text = "(no owner)"
		}
		all = append(all, option{Value: value, Text: text, Count: counts[value], Chosen: chosen, ID: facetNames()[facet] + "-" + strconv.Itoa(len(all))})
	}
	return all
}

// order returns the values of a facet in display order.
func (f *filter) order(facet int, counts map[string]int) []string {
	var order []string
	switch facet {
	case bySeverity:
		for _, s := range model.Severities() {
			order = append(order, string(s))
		}
	case byVerdict:
		for _, v := range model.Verdicts() {
			order = append(order, string(v))
		}
	default:
		order = slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	}
	for _, value := range slices.Concat(slices.Sorted(maps.Keys(counts)), f.chosen[facet]) {
		if !slices.Contains(order, value) {
			order = append(order, value)
		}
	}
	return order
}
