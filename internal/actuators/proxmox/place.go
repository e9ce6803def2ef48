package proxmox

import (
	"context"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A place is where a part of a firewall is in the API.
type place struct {
	// path is the path of the firewall, and name the name of the part in it; "" for its options and rules.
	path, name string
	// owner is the path of the object whose privileges count: a guest, or the cluster as a whole.
	owner string
}

// onCluster is the owner of what belongs to the cluster as a whole.
const onCluster = "/"

// placeOf returns the place of a part of a firewall. Its id is that of the collector: cluster/name, kind/number or
// kind/number/name, and the name of a security group. The error is errGone if the guest does not exist.
func placeOf(ctx context.Context, s *pveapi.Session, key model.Key) (place, error) {
	if key.Kind == normalize.FirewallGroup {
		return place{"/cluster/firewall", key.ID, onCluster}, nil
	}
	kind, rest, _ := strings.Cut(key.ID, "/")
	if kind == "cluster" {
		return place{"/cluster/firewall", rest, onCluster}, nil
	}
	number, name, _ := strings.Cut(rest, "/")
	guests, err := rowsAt(ctx, s, "/cluster/resources?type=vm")
	if err != nil {
		return place{}, err
	}
	node := nodeIn(guests, number)
	if node == "" {
		return place{}, errGone
	}
	return place{guestPath(kind, number, node) + "/firewall", name, "/vms/" + number}, nil
}

// list returns the path of the list of rows that a kind has, or of the options.
func (p place) list(kind string) string {
	switch kind {
	case normalize.FirewallOptions:
		return p.path + "/options"
	case normalize.FirewallAlias:
		return p.path + "/aliases"
	case normalize.FirewallRules:
		return p.path + "/rules"
	case normalize.FirewallGroup:
		return p.path + "/groups/" + url.PathEscape(p.name)
	}
	return p.path + "/ipset/" + url.PathEscape(p.name)
}
