// Package netboxtest is a stand-in for a NetBox, for tests and the
// demonstration: it answers lists with limit, offset, start, fields and next as
// versions 3.7 to 4.6 do, knows what a token may see, and breaks as NetBox and
// what stands before it do.
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
	// Len and Append make the rows up one by one, where there are too many to
	// keep: Append appends the JSON of a row, whose id is i+1.
	Len    int
	Append func(b []byte, i int) []byte
}

// An Estate is what a NetBox holds, as one token sees it.
type Estate struct {
	// Version is what the server calls itself.
	Version string
	// Lists by their path below /api/, "dcim/sites". A list that is not here is
	// empty.
	Lists map[string]List
	// Changes are the rows of the changelog, the newest first.
	Changes []Row
	// Account is who the token is; nil where the version does not say.
	Account Row
	// Denied are the paths that the token may not read.
	Denied []string
	// Hidden tells the rows that the token does not see of a list.
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

// Ref is an object inside another one.
func Ref(path string, id int, name string) Row {
	return Row{"id": id, "url": Host + "/api/" + path + "/" + itoa(id) + "/", "display": name, "name": name, "description": ""}
}

// Choice is one of a field's choices.
func Choice(value any, label string) Row { return Row{"value": value, "label": label} }

// Tag is a tag on an object.
func Tag(id int, name, slug string) Row {
	return Row{"id": id, "url": Host + "/api/extras/tags/" + itoa(id) + "/", "display": name, "name": name, "slug": slug, "color": "9e9e9e"}
}

// Permission is a permission to view, of one user.
func Permission(id, user int, constraints any, models ...string) Row {
	return Row{"id": id, "name": "permission " + itoa(id), "enabled": true, "object_types": models, "actions": []string{"view"},
		"constraints": constraints, "users": []Row{{"id": user, "username": "driftd"}}, "groups": []Row{}}
}

// Change is a row of the changelog. Sides that are nil are null.
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
