// Package audit reads who did what out of an API server's audit log: a file, or
// what its webhook backend sends. Of an event it keeps who, when, with what and
// on which object. Bodies of requests and answers, which may hold secrets, are
// never kept, and never logged.
//
// https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
package audit

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Resource is a kind as paths and events name it: "deployments" of "apps".
type Resource struct{ Group, Name string }

// An Object is what a write changed. Namespace is "" where it lies in none.
type Object struct {
	Resource
	Namespace, Name string
}

// ID returns the object's id, as in model.Key.
func (o Object) ID() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// A Write is one request that changed an object, after its event.
type Write struct {
	Object
	Deed model.Action
	// ID is the request's, User who sent it: "bob (by alice)" where alice
	// impersonates bob.
	ID, User string
	// Account is the authenticated user, whoever was impersonated.
	Account string
	// Manager is the field manager under which the API server notes such a
	// request in managedFields.
	Manager string
	// Subresource is the door that it came through ("scale"), or "".
	Subresource string
	// Patch tells a patch; nothing else can apply declarations.
	Patch bool
	// Began is when the request came, Ended when it was answered.
	Began, Ended time.Time
}

// weight returns about what a remembered write takes of memory, in bytes.
func (w *Write) weight() int {
	const fixed = 512
	return fixed + len(w.Group) + len(w.Resource.Name) + len(w.Namespace) + len(w.Object.Name) +
		len(w.ID) + len(w.User) + len(w.Account) + len(w.Manager) + len(w.Subresource)
}

// by is what tells one writer of an object from another.
type by struct {
	user, manager, subresource string
	deed                       model.Action
}

func (w *Write) by() by { return by{w.User, w.Manager, w.Subresource, w.Deed} }

// compare orders writes by time.
func (w *Write) compare(v *Write) int {
	return cmp.Or(w.Ended.Compare(v.Ended), cmp.Compare(w.ID, v.ID), cmp.Compare(w.User, v.User), cmp.Compare(w.Manager, v.Manager))
}

// evidence names the event.
func (w *Write) evidence() string {
	text := "audit " + w.ID + ", " + w.Manager
	if w.Subresource != "" {
		text += " through " + w.Subresource
	}
	return text
}
