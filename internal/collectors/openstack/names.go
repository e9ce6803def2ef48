package openstack

import (
	"context"
	"net/http"
	"net/url"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/printable"
)

// A requester requests a JSON object from a service.
type requester interface {
	Object(ctx context.Context, service, path string, query url.Values) (model.Value, error)
}

// maxNames limits the user names that one scan requests, and maxKnown those that are kept.
const (
	maxNames = 20
	maxKnown = 5000
)

// userNames keeps the names of users. It is not safe for concurrent use.
type userNames struct {
	// Names are the names by id; "" for users that no longer exist.
	Names map[string]string
	// left is how many names may still be requested. refused reports whether Keystone denied
	// one.
	left    int
	refused bool
}

// remember stores a name.
func (d *userNames) remember(id, name string) {
	if id == "" || name == "" {
		return
	}
	if len(d.Names) >= maxKnown {
		clear(d.Names)
	}
	d.Names[id] = name
}

// begin resets the limit of requests, for a new scan.
func (d *userNames) begin() { d.left, d.refused = maxNames, false }

// name returns the name of a user. If the name is unknown, it returns the ID with a remark.
func (d *userNames) name(ctx context.Context, api requester, id string) (name, remark string) {
	if _, known := d.Names[id]; !known && d.left > 0 && !d.refused {
		d.left--
		d.ask(ctx, api, id)
	}
	name, known := d.Names[id]
	switch {
	case name != "":
		return name, ""
	case known:
		return id, "the user no longer exists in Keystone"
	case d.refused:
		return id, "driftd may not read the user's name in Keystone: give its user the role reader on the domain, or on the system"
	}
	return id, ""
}

func (d *userNames) ask(ctx context.Context, api requester, id string) {
	answer, err := api.Object(ctx, openstackapi.Identity, pathTo("users", id), nil)
	switch code := httpclient.Code(err); {
	case code == http.StatusNotFound:
		d.Names[id] = ""
	case code == http.StatusForbidden, code == http.StatusUnauthorized:
		d.refused = true
	case err == nil:
		d.remember(id, printable.Text(answer.At("user", "name").Str()))
	}
}
