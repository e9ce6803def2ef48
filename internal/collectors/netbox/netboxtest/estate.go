// Package netboxtest is a fake NetBox for tests and the demonstration. It answers lists with
// limit, offset, start, fields and next like versions 3.7 to 4.6, applies the permissions of
// the token, and returns the errors of NetBox and of proxies.
package netboxtest

import (
	"maps"
	"slices"
)

// A Row is one object as the API writes it.
type Row map[string]any

// A List is the objects of one kind, by id.
type List struct {
	Rows []Row
	// Len and Append generate the rows one by one, for lists that are too large to keep: Append
	// appends the JSON of the row with id i+1.
	Len    int
	Append func(b []byte, i int) []byte
}

// An Estate is the content of a NetBox, as one token sees it.
type Estate struct {
	// Version is the version that the server returns.
	Version string
	// Lists by their path below /api/, such as "dcim/sites". Other lists are empty.
	Lists map[string]List
	// Changes are the rows of the changelog, the newest first.
	Changes []Row
	// Account is the user of the token; nil if the version does not return it.
	Account Row
	// Denied are the paths that the token may not read.
	Denied []string
	// Hidden reports whether a row of a list is hidden from the token; nil hides none.
	Hidden func(path string, row Row) bool
}

func (e Estate) clone() Estate {
	e.Lists = maps.Clone(e.Lists)
	for path, list := range e.Lists {
		list.Rows = slices.Clone(list.Rows)
		e.Lists[path] = list
	}
	e.Changes = slices.Clone(e.Changes)
	return e
}

// Ref returns a nested object.
func Ref(path string, id int, name string) Row {
	return Row{"id": id, "url": Host + "/api/" + path + "/" + itoa(id) + "/", "display": name, "name": name, "description": ""}
}

// Choice returns a choice of a field.
func Choice(value any, label string) Row { return Row{"value": value, "label": label} }

// Tag returns a tag of an object.
func Tag(id int, name, slug string) Row {
	return Row{"id": id, "url": Host + "/api/extras/tags/" + itoa(id) + "/", "display": name, "name": name, "slug": slug, "color": "9e9e9e"}
}

// Permission returns a permission of one user to view models.
func Permission(id, user int, constraints any, models ...string) Row {
	return Row{"id": id, "name": "permission " + itoa(id), "enabled": true, "object_types": models, "actions": []string{"view"},
		"constraints": constraints, "users": []Row{{"id": user, "username": "driftd"}}, "groups": []Row{}}
}

// Change returns a row of the changelog. A nil side is null.
func Change(id int, at, user, action, model string, object int, before, after Row) Row {
	row := Row{"id": id, "time": at, "user": Row{"id": 2, "username": user}, "user_name": user, "request_id": "e42f51ef-1be3-4297-ba42-" + itoa(100000000000+id),
		"action": Choice(action, action), "changed_object_type": model, "changed_object_id": object, "changed_object": Row{"id": object},
		"object_repr": "?", "message": "", "prechange_data": nil, "postchange_data": nil}
	if before != nil {
		row["prechange_data"] = before
	}
	if after != nil {
		row["postchange_data"] = after
	}
	return row
}
