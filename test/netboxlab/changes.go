package netboxlab

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A change is a row of the changelog.
type change struct {
	id        int
	at        time.Time
	user      *object
	request   string
	action    string
	model     *model
	object    int
	shown     string
	message   string
	pre, post Object
}

// stamp formats a time like the API.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// log records the change of an object by a request: pre is nil for a creation, post for a
// deletion. A change without a difference is not recorded, and all changes of an object by one
// request are one row.
func (e *exchange) log(o *object, pre, post Object) {
	l := e.lab
	if !o.model.logged() || reflect.DeepEqual(pre, post) {
		return
	}
	action := "update"
	switch {
	case pre == nil:
		action = "create"
	case post == nil:
		action = "delete"
	}
	for _, row := range slices.Backward(l.changes) {
		if row.request != e.id {
			break
		}
		if row.model == o.model && row.object == o.id && action == "update" {
			row.post, row.shown = post, l.store.display(o)
			return
		}
	}
	l.lastChange++
	l.changes = append(l.changes, &change{id: l.lastChange, at: l.now(), user: e.user, request: e.id, action: action,
		model: o.model, object: o.id, shown: l.store.display(o), message: e.message, pre: pre, post: post})
}

// row returns a row of the changelog in its API form.
func (v *view) row(c *change) any {
	path := "/api/core/object-changes/"
	if v.version < 401 {
		path = "/api/extras/object-changes/"
	}
	apps := map[string]string{"dcim": "DCIM", "ipam": "IPAM", "vpn": "VPN"}
	app, _, _ := strings.Cut(c.model.name, ".")
	name := c.user.text("username")
	done := label(c.action) + "d"
	what := apps[app]
	if what == "" {
		what = label(app)
	}
	shown := Object{
		"id": c.id, "url": fmt.Sprintf("%s%s%d/", v.base, path, c.id),
		"display": fmt.Sprintf("%s | %s %s %s by %s", what, c.model.words, c.shown, strings.ToLower(done), name),
		"time":    stamp(c.at), "user": v.nested(c.user), "user_name": name, "request_id": c.request,
		"action":              Object{"value": c.action, "label": done},
		"changed_object_type": c.model.name, "changed_object_id": c.object,
		"changed_object": v.nested(v.get(c.model.name, c.object)), "object_repr": c.shown, "message": c.message,
		"prechange_data": v.logged(c.model, c.pre), "postchange_data": v.logged(c.model, c.post),
	}
	if v.version < 404 {
		delete(shown, "message")
		delete(shown, "object_repr")
	}
	if v.version >= 401 {
		shown["display_url"] = fmt.Sprintf("%s/core/changelog/%d/", v.base, c.id)
	}
	for name := range shown {
		if !v.shows(name) {
			delete(shown, name)
		}
	}
	return shown
}

// logged returns an object as the changelog stores it, without fields that the version does not
// have.
func (v *view) logged(m *model, data Object) Object {
	shown := Object{}
	for name, value := range data {
		if f := m.byName[name]; f == nil || f.since <= v.version {
			shown[name] = value
		}
	}
	return v.older(m, shown)
}

// listChanges writes a page of the changelog, the newest row first.
func (e *exchange) listChanges(query url.Values) {
	l := e.lab
	if !e.may("view", l.store.byName["core.objectchange"]) {
		return
	}
	keep, err := e.changeFilters(query)
	if err != nil {
		e.answer(http.StatusBadRequest, Object{"detail": err.Error()})
		return
	}
	var found []*change
	for _, c := range slices.Backward(l.changes) {
		if keep(c) {
			found = append(found, c)
		}
	}
	if query.Get("ordering") == "id" || query.Get("ordering") == "time" || query.Has("start") && l.version() >= 406 {
		slices.Reverse(found)
	}
	v := e.view(query)
	page(e, query, found, func(c *change) int { return c.id }, v.row)
}

// changeFilters parses the filters of the changelog. Unknown ones are ignored.
func (e *exchange) changeFilters(query url.Values) (func(*change) bool, error) {
	var filters []func(*change) bool
	for name, values := range query {
		keep, err := timed(name, values[0])
		if err != nil {
			return nil, err
		}
		if name == "user" && e.lab.user(values[0]) == nil {
			return nil, unknownChoice(values[0])
		}
		if keep == nil {
			keep = rowFilter(name, values)
		}
		if keep != nil {
			filters = append(filters, keep)
		}
	}
	return func(c *change) bool {
		return !slices.ContainsFunc(filters, func(keep func(*change) bool) bool { return !keep(c) })
	}, nil
}

// timed returns the time filter of a name, if it is one.
func timed(name, value string) (func(*change) bool, error) {
	at, err := time.Parse(time.RFC3339, value)
	filters := map[string]func(*change) bool{
		"time_after":  func(c *change) bool { return !c.at.Before(at) },
		"time_before": func(c *change) bool { return !c.at.After(at) },
	}
	if err != nil && filters[name] != nil {
		return nil, refuse("Enter a valid date/time.")
	}
	return filters[name], nil
}

// rowFilter returns the filter of a name on the content of a row, or nil if it is none.
func rowFilter(name string, values []string) func(*change) bool {
	base, lookup, _ := strings.Cut(name, "__")
	of := map[string]func(*change) string{
		"id":                  func(c *change) string { return strconv.Itoa(c.id) },
		"changed_object_id":   func(c *change) string { return strconv.Itoa(c.object) },
		"changed_object_type": func(c *change) string { return c.model.name },
		"request_id":          func(c *change) string { return c.request },
		"action":              func(c *change) string { return c.action },
		"user":                func(c *change) string { return c.user.text("username") },
	}[base]
	if of == nil {
		return nil
	}
	return func(c *change) bool {
		return slices.ContainsFunc(values, func(value string) bool { return looksUp(of(c), lookup, value) })
	}
}
