package proxmox

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
)

// A step is one request of those that change a list.
type step struct {
	method, path string
	form         url.Values
	// guarded reports whether the request has the digest of the list. Proxmox VE ignores that of a rule that is added, and
	// does not take one for an entry that is added: those that exist are refused.
	guarded bool
	// text describes the request, and rows are the rows after it.
	text string
	rows []model.Value
}

// steps returns the requests that change the rows of a list to those that are wanted. keeps has, for each wanted row, the
// position of the row that it is now, or -1 for a new one. The kept rows of an ordered list are in the same order.
func (l *list) steps(wanted []model.Value, keeps []int) []step {
	if !l.isOrdered() {
		return l.entrySteps(wanted, keeps)
	}
	if one := l.replacement(wanted, keeps); one != nil {
		return []step{*one}
	}
	return l.ruleSteps(wanted, keeps)
}

// editing is a list of rules while requests change it.
type editing struct {
	path  string
	rows  []model.Value
	steps []step
}

func (e *editing) add(s step, rows []model.Value) {
	e.rows, s.rows = rows, rows
	e.steps = append(e.steps, s)
}

func (e *editing) at(i int) string { return e.path + "/" + strconv.Itoa(i) }

// ruleSteps adds the new rules while they are disabled, enables them from the first to the last, and then removes the others
// from the last to the first. So at each moment, what the rules decide about a packet is what they decided before, or
// what they decide afterwards: the first rule that matches has all rules before it that it has in one of both lists.
func (l *list) ruleSteps(wanted []model.Value, keeps []int) []step {
	e := &editing{path: l.list(l.kind), rows: slices.Clone(l.rows)}
	// places has, for each row of e, its place among those wanted; -1 for one that is removed.
	places := make([]int, len(l.rows))
	for i := range places {
		places[i] = slices.Index(keeps, i)
	}
	for n, row := range wanted {
		if keeps[n] >= 0 {
			continue
		}
		at := 0 // after the rule that it follows
		if n > 0 {
			at = slices.Index(places, n-1) + 1
		}
		disabled := row.With("enable", model.StringOf("0"))
		e.add(step{method: http.MethodPost, path: e.path, form: formOf(disabled), text: "add, disabled: " + words(row)},
			slices.Insert(slices.Clone(e.rows), 0, disabled))
		if places = slices.Insert(places, at, n); at > 0 {
			moved := slices.Insert(slices.Delete(slices.Clone(e.rows), 0, 1), at, disabled)
			e.add(step{method: http.MethodPut, path: e.at(0), guarded: true, form: url.Values{"moveto": {strconv.Itoa(at + 1)}},
				text: fmt.Sprintf("move it to position %d", at)}, moved)
		}
	}
	for n, row := range wanted {
		if keeps[n] >= 0 || !pveapi.Truth(row.At("enable")) {
			continue
		}
		at := slices.Index(places, n)
		enabled := slices.Clone(e.rows)
		enabled[at] = row
		e.add(step{method: http.MethodPut, path: e.at(at), guarded: true, form: url.Values{"enable": {"1"}},
			text: fmt.Sprintf("enable the rule at position %d: %s", at, words(row))}, enabled)
	}
	for at := len(places) - 1; at >= 0; at-- {
		if places[at] < 0 {
			e.add(step{method: http.MethodDelete, path: e.at(at), guarded: true, text: fmt.Sprintf("remove the rule at position %d: %s", at, words(e.rows[at]))},
				slices.Delete(slices.Clone(e.rows), at, at+1))
		}
	}
	return e.steps
}

// replacement returns the one request that is enough if all that differs is one rule; nil otherwise.
func (l *list) replacement(wanted []model.Value, keeps []int) *step {
	if len(wanted) != len(l.rows) {
		return nil
	}
	at := -1
	for n := range wanted {
		switch {
		case keeps[n] == n:
		case keeps[n] >= 0 || at >= 0:
			return nil
		default:
			at = n
		}
	}
	if at < 0 {
		return nil
	}
	form := formOf(wanted[at])
	var dropped []string
	for _, f := range l.rows[at].Fields() {
		if !form.Has(f.Name) {
			dropped = append(dropped, f.Name)
		}
	}
	if len(dropped) > 0 {
		form.Set("delete", strings.Join(dropped, ","))
	}
	return &step{method: http.MethodPut, path: l.list(l.kind) + "/" + strconv.Itoa(at), form: form, guarded: true, rows: wanted,
		text: fmt.Sprintf("replace the rule at position %d, %s, by %s", at, words(l.rows[at]), words(wanted[at]))}
}

// entrySteps adds the new entries of an IP set from the narrowest to the widest, changes those that differ, and removes the
// others from the widest to the narrowest: the narrowest entry that has an address decides about it.
func (l *list) entrySteps(wanted []model.Value, keeps []int) []step {
	e := &editing{path: l.list(l.kind), rows: slices.Clone(l.rows)}
	entry := func(row model.Value) string { return e.path + "/" + url.PathEscape(row.At("cidr").Text()) }
	at := func(row model.Value) int {
		return slices.IndexFunc(e.rows, func(r model.Value) bool { return r.At("cidr").Text() == row.At("cidr").Text() })
	}
	var added, changed, removed []model.Value
	for n, row := range wanted {
		switch {
		case keeps[n] >= 0:
		case at(row) >= 0:
			changed = append(changed, row)
		default:
			added = append(added, row)
		}
	}
	for i, row := range l.rows {
		if !slices.Contains(keeps, i) && !slices.ContainsFunc(changed, func(c model.Value) bool { return c.At("cidr").Text() == row.At("cidr").Text() }) {
			removed = append(removed, row)
		}
	}
	slices.SortStableFunc(added, narrowest)
	slices.SortStableFunc(removed, func(a, b model.Value) int { return narrowest(b, a) })
	for _, row := range added {
		e.add(step{method: http.MethodPost, path: e.path, form: formOf(row), text: "add " + words(row)}, append(slices.Clone(e.rows), row))
	}
	for _, row := range changed {
		form := formOf(row)
		form.Del("cidr")
		i, next := at(row), slices.Clone(e.rows)
		next[i] = row
		e.add(step{method: http.MethodPut, path: entry(row), guarded: true, form: form, text: "change " + words(e.rows[i]) + " to " + words(row)}, next)
	}
	for _, row := range removed {
		i := at(row)
		e.add(step{method: http.MethodDelete, path: entry(row), guarded: true, text: "remove " + words(row)}, slices.Delete(slices.Clone(e.rows), i, i+1))
	}
	return e.steps
}

// narrowest orders entries by the length of their prefixes, the longest first; those without one are last.
func narrowest(a, b model.Value) int { return prefix(b) - prefix(a) }

func prefix(entry model.Value) int {
	text := entry.At("cidr").Text()
	if address, err := netip.ParseAddr(text); err == nil {
		return address.BitLen()
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return -1
	}
	return network.Bits()
}

// formOf returns the parameters of a row.
func formOf(row model.Value) url.Values {
	form := url.Values{}
	for _, f := range row.Fields() {
		form.Set(f.Name, f.Value.Text())
	}
	return form
}
