package netboxlab

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPage = 50
	maxPage     = 1000
)

// list writes a page of a model's objects.
func (e *exchange) list(m *model, query url.Values) {
	s := e.lab.store
	filters, err := e.filters(m, query)
	if err != nil {
		e.answer(http.StatusBadRequest, Object{"detail": err.Error()})
		return
	}
	if reaches := e.reaches("view", m); reaches != nil {
		filters = append(filters, reaches)
	}
	order := s.listed(m)
	name, descending := strings.CutPrefix(query.Get("ordering"), "-")
	if name == "id" || e.cursor(query) {
		order = slices.Sorted(slices.Values(order))
	}
	if descending {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	if len(filters) > 0 {
		order = slices.DeleteFunc(slices.Clone(order), func(id int) bool {
			o := s.get(m.name, id)
			return slices.ContainsFunc(filters, func(keep func(*object) bool) bool { return !keep(o) })
		})
	}
	v := e.view(query)
	page(e, query, order, func(id int) int { return id }, func(id int) any { return v.full(s.get(m.name, id)) })
}

// cursor reports whether a list is read in the order of IDs, which older versions do not
// support.
func (e *exchange) cursor(query url.Values) bool {
	return query.Has("start") && e.lab.version() >= 406
}

// page writes the part of a list that the query selects.
func page[T any](e *exchange, query url.Values, all []T, id func(T) int, show func(T) any) {
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 0 {
		limit = defaultPage
	}
	if limit == 0 || limit > maxPage {
		limit = maxPage
	}
	// An invalid number is 0.
	offset, _ := strconv.Atoi(query.Get("offset"))
	answer := Object{"count": len(all), "next": nil, "previous": nil}
	if e.cursor(query) {
		start, _ := strconv.Atoi(query.Get("start"))
		answer["count"] = nil
		all = slices.DeleteFunc(slices.Clone(all), func(t T) bool { return id(t) < start })
		offset = 0
	}
	part := all[min(offset, len(all)):min(offset+limit, len(all))]
	if rest := all[min(offset+limit, len(all)):]; len(rest) > 0 {
		if e.cursor(query) {
			answer["next"] = e.link(query, "start", id(part[len(part)-1])+1, limit)
		} else {
			answer["next"] = e.link(query, "offset", offset+limit, limit)
		}
	}
	if offset > 0 {
		answer["previous"] = e.link(query, "offset", max(0, offset-limit), limit)
	}
	shown := make([]any, 0, len(part))
	for _, t := range part {
		shown = append(shown, show(t))
	}
	answer["results"] = shown
	e.answer(http.StatusOK, answer)
}

func (e *exchange) link(query url.Values, name string, at, limit int) string {
	next := url.Values{}
	for k, v := range query {
		next[k] = v
	}
	next.Set("limit", strconv.Itoa(limit))
	next.Set(name, strconv.Itoa(at))
	return e.base() + e.r.URL.Path + "?" + next.Encode()
}

// filters parses the filters of a list. Unknown ones are ignored.
func (e *exchange) filters(m *model, query url.Values) ([]func(*object) bool, error) {
	var filters []func(*object) bool
	for name, values := range query {
		var keep func(*object) bool
		var err error
		base, lookup, _ := strings.Cut(name, "__")
		switch {
		case slices.Contains([]string{"limit", "offset", "start", "fields", "omit", "brief", "ordering", "exclude", "format"}, name):
			continue
		case name == "tag":
			keep, err = e.tagFilter(values)
		case name == "q":
			keep = func(o *object) bool {
				return strings.Contains(strings.ToLower(e.lab.store.display(o)), strings.ToLower(values[0]))
			}
		case name == "mac_address" && m.byName[name] != nil:
			keep = e.lab.store.macFilter(values)
		case base == "last_updated" || base == "created":
			keep, err = timeFilter(base, lookup, values[0])
		case (name == "virtual_machine_id" || name == "device_id") && m.byName["assigned_object"] != nil:
			keep = func(o *object) bool {
				return slices.Contains(values, e.lab.store.ownerID(o, strings.TrimSuffix(name, "_id")))
			}
		default:
			keep, err = e.fieldFilter(m, base, lookup, values)
		}
		if err != nil {
			return nil, err
		}
		if keep != nil {
			filters = append(filters, keep)
		}
	}
	return filters, nil
}

func (e *exchange) tagFilter(slugs []string) (func(*object) bool, error) {
	var wanted []int
	for _, slug := range slugs {
		id, err := e.lab.store.readReference("extras.tag", Object{"slug": slug})
		if err != nil {
			return nil, unknownChoice(slug)
		}
		wanted = append(wanted, id)
	}
	return func(o *object) bool {
		return !slices.ContainsFunc(wanted, func(id int) bool { return !slices.Contains(o.ids("tags"), id) })
	}, nil
}

// macFilter returns the filter for objects with one of some MAC addresses, in any case. An interface has those that are assigned to it.
func (s *store) macFilter(macs []string) func(*object) bool {
	matches := func(mac *object) bool {
		return slices.ContainsFunc(macs, func(wanted string) bool { return strings.EqualFold(mac.text("mac_address"), wanted) })
	}
	return func(o *object) bool {
		return matches(o) || slices.ContainsFunc(s.referring("dcim.macaddress", "assigned_object", o), matches)
	}
}

func unknownChoice(value string) error {
	return refuse("Select a valid choice. %s is not one of the available choices.", value)
}

// timeFilter compares times. It matches everything if the filter has no lookup.
func timeFilter(name, lookup, value string) (func(*object) bool, error) {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil && lookup != "" {
		return nil, refuse("Enter a valid date/time.")
	}
	of := func(o *object) int {
		if name == "created" {
			return o.created.Compare(at)
		}
		return o.updated.Compare(at)
	}
	return map[string]func(*object) bool{
		"gte": func(o *object) bool { return of(o) >= 0 }, "gt": func(o *object) bool { return of(o) > 0 },
		"lte": func(o *object) bool { return of(o) <= 0 }, "lt": func(o *object) bool { return of(o) < 0 },
	}[lookup], nil
}

// fieldFilter compares a field: an ID, the ID or slug of a reference, or a value.
func (e *exchange) fieldFilter(m *model, name, lookup string, values []string) (func(*object) bool, error) {
	of := func(o *object) string { return strconv.Itoa(o.id) }
	f, byID := m.byName[name], m.byName[strings.TrimSuffix(name, "_id")]
	switch {
	case name == "id":
	case f == nil && byID != nil && byID.reference():
		of = func(o *object) string { return strconv.Itoa(o.id0(byID.name)) }
	case f == nil && byID != nil && byID.generic():
		of = func(o *object) string { return strconv.Itoa(o.id0(name)) }
	case f == nil:
		return nil, nil //nolint:nilnil // the server ignores it as well
	case f.reference():
		id, err := e.lab.store.readReference(f.target, Object{"slug": values[0]})
		if err != nil {
			return nil, unknownChoice(values[0])
		}
		values, of = []string{strconv.Itoa(id)}, func(o *object) string { return strconv.Itoa(o.id0(name)) }
	default:
		if f.options != nil && !slices.Contains(f.options, values[0]) {
			return nil, unknownChoice(values[0])
		}
		of = func(o *object) string { return o.text(name) }
	}
	return func(o *object) bool {
		return slices.ContainsFunc(values, func(v string) bool { return looksUp(of(o), lookup, v) })
	}, nil
}

// ownerID returns the ID of the machine or device whose interface an address is assigned to; ""
// if it is assigned to none.
func (s *store) ownerID(o *object, field string) string {
	on := s.target(o, o.model.byName["assigned_object"])
	if on == nil || on.model.byName[field] == nil {
		return ""
	}
	return strconv.Itoa(on.id0(field))
}

func looksUp(have, lookup, want string) bool {
	a, _ := strconv.ParseFloat(have, 64)
	b, _ := strconv.ParseFloat(want, 64)
	switch lookup {
	case "gt":
		return a > b
	case "gte":
		return a >= b
	case "lt":
		return a < b
	case "lte":
		return a <= b
	case "n":
		return have != want
	case "ic":
		return strings.Contains(strings.ToLower(have), strings.ToLower(want))
	}
	return have == want
}
