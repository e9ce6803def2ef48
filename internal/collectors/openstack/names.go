package openstack

import (
	"context"
	"net/http"

	"github.com/driftd/driftd/internal/httpclient"
)

// maxNames bounds the users whose names are asked for in one look, and maxKnown
// those that are remembered.
const (
	maxNames = 20
	maxKnown = 5000
)

// A directory knows the names of users. It is for one goroutine.
type directory struct {
	// Names are those that are known, by id; "" where there is no such user any
	// more.
	Names map[string]string
	// left is how many may yet be asked for, refused tells that driftd may not.
	left    int
	refused bool
}

// know notes a name.
func (d *directory) know(id, name string) {
	if id == "" || name == "" {
		return
	}
	if len(d.Names) >= maxKnown {
		clear(d.Names)
	}
	d.Names[id] = name
}

// begin lets names be asked for again.
func (d *directory) begin() { d.left, d.refused = maxNames, false }

// name returns what a user is called, and what is to be said of a name that is
// not known: then it is the id.
func (d *directory) name(ctx context.Context, api asker, id string) (name, remark string) {
	if _, known := d.Names[id]; !known && d.left > 0 && !d.refused {
		d.left--
		d.ask(ctx, api, id)
	}
	name, known := d.Names[id]
	switch {
	case name != "":
		return name, ""
	case known:
		return id, "Keystone knows no such user any more"
	case d.refused:
		return id, "Keystone does not tell driftd the user's name: give its user the role reader on the domain, or on the system"
	}
	return id, ""
}

func (d *directory) ask(ctx context.Context, api asker, id string) {
	answer, err := api.Object(ctx, identity, pathTo("users", id), nil)
	switch code := httpclient.Code(err); {
	case code == http.StatusNotFound:
		d.Names[id] = ""
	case code == http.StatusForbidden, code == http.StatusUnauthorized:
		d.refused = true
	case err == nil:
		d.know(id, httpclient.Printable(answer.At("user", "name").Str()))
	}
}
