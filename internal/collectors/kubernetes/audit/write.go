// Package audit reads writes and their users from the audit log of an API server, either from its
// file or from its webhook backend. It keeps the user, time, tool and object of a write. It never
// keeps or logs the bodies of requests and responses, which may contain secrets.
//
// https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Resource is the name of a kind in paths and events, such as "deployments" in group "apps".
type Resource struct{ Group, Name string }

// An Object identifies the object of a write. Namespace is "" for cluster-scoped objects.
type Object struct {
	Resource
	Namespace, Name string
}

// ID returns the ID of the object, as in model.Key.
func (o Object) ID() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// A Write is one request that changed an object.
type Write struct {
	Object
	Action model.Action
	// ID is the ID of the request, and User the user who made it: "bob (by alice)" if alice
	// impersonated bob.
	ID, User string
	// Account is the authenticated user, even if that user impersonated another one.
	Account string
	// Manager is the field manager that the API server records for the request in managedFields.
	Manager string
	// Subresource is the subresource of the request, such as "scale", or "".
	Subresource string
	// Patch reports whether the request is a patch. Server-side apply is always a patch.
	Patch bool
	// Began is the time at which the API server received the request, and Ended the time of its
	// response.
	Began, Ended time.Time
	// Earliest is the time at which the first write of the same writer began that the index
	// dropped; zero if it dropped none.
	Earliest time.Time
}

// first returns the time at which the first write began that this one represents.
func (w *Write) first() time.Time {
	if w.Earliest.IsZero() {
		return w.Began
	}
	return w.Earliest
}

// A History contains the writes to one object.
type History struct {
	// Writes are sorted by time.
	Writes []Write
	// Since is the time since which Writes contains the writes of every writer to the object, as
	// far as the log shows gaps; zero if unknown.
	Since time.Time
}

// reaches reports whether the history contains every write to the object that was created at that
// time, because it begins before or contains the creation.
func (h *History) reaches(created time.Time) bool {
	switch {
	case h.Since.IsZero() || created.IsZero():
		return false
	case !h.Since.After(created.Add(-maxSkew)):
		return true
	}
	return slices.ContainsFunc(h.Writes, func(w Write) bool {
		return w.Action == model.Created && w.spans(created, maxSkew) && !w.Ended.Before(h.Since)
	})
}

// weight returns the approximate memory use of a write in the index, in bytes.
func (w *Write) weight() int {
	const fixed = 512
	return fixed + len(w.Group) + len(w.Resource.Name) + len(w.Namespace) + len(w.Object.Name) +
		len(w.ID) + len(w.User) + len(w.Account) + len(w.Manager) + len(w.Subresource)
}

// A writer identifies a writer of an object and its action.
type writer struct {
	user, manager, subresource string
	action                     model.Action
}

func (w *Write) writer() writer { return writer{w.User, w.Manager, w.Subresource, w.Action} }

// compare orders writes by their end, then by ID, user and manager.
func (w *Write) compare(v *Write) int {
	return cmp.Or(w.Ended.Compare(v.Ended), cmp.Compare(w.ID, v.ID), cmp.Compare(w.User, v.User), cmp.Compare(w.Manager, v.Manager))
}

// evidence returns a text that identifies the event.
func (w *Write) evidence() string {
	text := "audit " + w.ID + ", " + w.Manager
	if w.Subresource != "" {
		text += " through " + w.Subresource
	}
	return text
}
