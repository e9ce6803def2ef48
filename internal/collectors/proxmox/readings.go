package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/shape"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A reading is one list of the cluster's, and what becomes of it.
type reading struct {
	path string
	// kinds are those that are not fully read when the list is not.
	kinds []string
	take  func(ctx context.Context, l *look, data model.Value) error
	// also are kinds of which a part is found through the list.
	also []string
}

// acmePlugins is the one list that nobody can read who must not write.
const acmePlugins = "/cluster/acme/plugins"

// clusterReadings are what belongs to no node and to no guest.
func clusterReadings() []reading {
	return []reading{
		{path: "/storage", kinds: []string{shape.Storage}, take: each(shape.Storage, "storage")},
		{path: "/pools", kinds: []string{shape.Pool, shape.PoolMember}, take: takePools},
		{path: "/access/roles", kinds: []string{shape.Role}, take: each(shape.Role, "roleid")},
		{path: "/access/domains", kinds: []string{shape.Realm}, take: inFull(shape.Realm, "realm", "/access/domains/%s")},
		{path: "/access/groups", kinds: []string{shape.Group}, take: takeGroups},
		{path: "/access/users?full=1", kinds: []string{shape.User, shape.Token}, take: takeUsers},
		{path: "/cluster/options", kinds: []string{shape.ClusterOptions}, take: one(shape.ClusterOptions, "cluster")},
		{path: "/cluster/backup", kinds: []string{shape.BackupJob}, take: each(shape.BackupJob, "id")},
		{path: "/cluster/replication", kinds: []string{shape.ReplicationJob}, take: each(shape.ReplicationJob, "id")},
		{path: "/cluster/metrics/server", kinds: []string{shape.MetricsServer}, take: inFull(shape.MetricsServer, "id", "/cluster/metrics/server/%s")},
		{path: "/cluster/ha/resources", kinds: []string{shape.HAResource}, take: each(shape.HAResource, "sid")},
		{path: "/cluster/ha/rules", kinds: []string{shape.HARule}, take: each(shape.HARule, "rule")},
		{path: "/cluster/ha/groups", kinds: []string{shape.HAGroup}, take: each(shape.HAGroup, "group")},
		{path: "/cluster/mapping/pci", kinds: []string{shape.MappingPCI}, take: each(shape.MappingPCI, "id")},
		{path: "/cluster/mapping/usb", kinds: []string{shape.MappingUSB}, take: each(shape.MappingUSB, "id")},
		{path: "/cluster/mapping/dir", kinds: []string{shape.MappingDir}, take: each(shape.MappingDir, "id")},
		{path: "/cluster/sdn/zones", kinds: []string{shape.SDNZone}, take: staged(shape.SDNZone, "zone", "/cluster/sdn/zones")},
		{path: "/cluster/sdn/controllers", kinds: []string{shape.SDNController}, take: staged(shape.SDNController, "controller", "/cluster/sdn/controllers")},
		{path: "/cluster/sdn/vnets", kinds: []string{shape.SDNVnet, shape.SDNSubnet}, take: takeVnets,
			also: []string{shape.FirewallOptions, shape.FirewallRules}},
		{path: "/cluster/sdn/ipams", kinds: []string{shape.SDNIpam}, take: each(shape.SDNIpam, "ipam")},
		{path: "/cluster/sdn/dns", kinds: []string{shape.SDNDNS}, take: each(shape.SDNDNS, "dns")},
		{path: "/cluster/firewall/groups", kinds: []string{shape.FirewallGroup}, take: takeFirewallGroups},
		{path: "/cluster/acme/account", kinds: []string{shape.ACMEAccount}, take: inFull(shape.ACMEAccount, "name", "/cluster/acme/account/%s")},
		{path: acmePlugins, kinds: []string{shape.ACMEPlugin}, take: each(shape.ACMEPlugin, "plugin")},
		{path: "/cluster/notifications/targets", kinds: []string{shape.NotificationTarget}, take: takeTargets},
		{path: "/cluster/notifications/matchers", kinds: []string{shape.NotificationMatcher}, take: each(shape.NotificationMatcher, "name")},
	}
}

// needs are what it takes to see every object of a kind.
func needs(kind string) []need {
	switch kind {
	case shape.QEMU, shape.LXC, shape.ReplicationJob:
		return []need{{privilege: "VM.Audit", path: "/vms"}}
	case shape.Storage:
		return []need{{privilege: "Datastore.Audit", path: "/storage"}}
	case shape.Pool:
		return []need{{privilege: "Pool.Audit", path: "/pool"}}
	case shape.PoolMember:
		return []need{{privilege: "Pool.Audit", path: "/pool"}, {privilege: "VM.Audit", path: "/vms"}, {privilege: "Datastore.Audit", path: "/storage"}}
	case shape.User, shape.Token, shape.Group, shape.ACL:
		return []need{{privilege: "Sys.Audit", path: "/access"}}
	case shape.SDNZone, shape.SDNVnet, shape.SDNSubnet, shape.SDNController, shape.SDNIpam, shape.SDNDNS:
		return []need{{privilege: "SDN.Audit", path: "/sdn"}}
	case shape.MappingPCI, shape.MappingUSB, shape.MappingDir:
		return []need{{privilege: "Mapping.Audit", path: "/mapping/" + strings.TrimPrefix(kind, Type+"/mapping_")}}
	case shape.NotificationTarget, shape.NotificationMatcher:
		return []need{{privilege: "Mapping.Audit", path: "/mapping/notifications"}}
	case shape.ClusterOptions, shape.BackupJob, shape.MetricsServer, shape.HAResource, shape.HARule, shape.HAGroup:
		return []need{{privilege: "Sys.Audit", path: "/", alone: true}}
	case shape.FirewallAlias, shape.FirewallIPSet:
		// The firewalls of guests are found through the list of guests.
		return []need{{privilege: "Sys.Audit", path: "/", alone: true}, {privilege: "VM.Audit", path: "/vms"}}
	case shape.FirewallOptions, shape.FirewallRules:
		return append(needs(shape.FirewallIPSet), need{privilege: "SDN.Audit", path: "/sdn"}, need{privilege: "Sys.Audit", path: "/nodes"})
	case shape.NodeNetwork, shape.NodeDNS, shape.NodeHosts, shape.NodeConfig, shape.NodeTime:
		return []need{{privilege: "Sys.Audit", path: "/nodes"}}
	}
	return nil
}

// wanted tells whether any of the kinds is to be read.
func (l *look) wanted(kinds ...string) bool {
	for _, kind := range kinds {
		if !l.config.excludes(kind) {
			return true
		}
	}
	return false
}

// readCluster reads what belongs to no node and to no guest.
func (l *look) readCluster(ctx context.Context) {
	readings := clusterReadings()
	collectors.Parallel(l.config.Concurrency, len(readings)+1, func(i int) {
		if i == len(readings) {
			l.readFirewall(ctx, clusterFirewall(), l.api)
			return
		}
		r := readings[i]
		if !l.wanted(r.kinds...) {
			return
		}
		data, err := l.api.Get(ctx, r.path)
		if err == nil {
			err = r.take(ctx, l, data)
		}
		switch {
		case r.path == acmePlugins && httpclient.Code(err) == http.StatusForbidden:
			l.skip("the DNS plugins of ACME take Sys.Modify on /, which is more than a reader should have", r.kinds...)
		case notServed(err):
			l.fail(err, "", r.kinds...)
		case err != nil:
			l.fail(err, "", append(r.kinds, r.also...)...)
		}
	})
}

// rowsOf returns a list's elements, which are maps.
func rowsOf(data model.Value) ([]model.Value, error) {
	if data.Kind() != model.List {
		return nil, &httpclient.Unexpected{Reason: "the answer is no list"}
	}
	for _, row := range data.Items() {
		if row.Kind() != model.Map {
			return nil, &httpclient.Unexpected{Reason: "the answer is no list of objects"}
		}
	}
	return data.Items(), nil
}

// named returns a list's elements by what the key says in them; one in which
// it says nothing makes the whole list unreadable.
func named(data model.Value, key string) ([]model.Field, error) {
	rows, err := rowsOf(data)
	if err != nil {
		return nil, err
	}
	fields := make([]model.Field, len(rows))
	for i, row := range rows {
		id := row.At(key).Text()
		if id == "" {
			return nil, &httpclient.Unexpected{Reason: fmt.Sprintf("a row of the answer has no %s", key)}
		}
		fields[i] = model.Field{Name: id, Value: row}
	}
	return fields, nil
}

// each takes a list whose rows say everything.
func each(kind, id string) func(context.Context, *look, model.Value) error {
	return func(_ context.Context, l *look, data model.Value) error {
		rows, err := named(data, id)
		for _, row := range rows {
			l.add(l.object(kind, row.Name, row.Value))
		}
		return err
	}
}

// one takes a map of which there is one in the cluster.
func one(kind, id string) func(context.Context, *look, model.Value) error {
	return func(_ context.Context, l *look, data model.Value) error {
		if data.Kind() != model.Map {
			return &httpclient.Unexpected{Reason: "the answer is no object"}
		}
		l.add(l.object(kind, id, data))
		return nil
	}
}

// inFull takes a list whose rows lack what each object's own path says.
func inFull(kind, id, format string) func(context.Context, *look, model.Value) error {
	return func(ctx context.Context, l *look, data model.Value) error {
		rows, err := named(data, id)
		for _, row := range rows {
			l.addInFull(ctx, kind, row, fmt.Sprintf(format, url.PathEscape(row.Name)))
		}
		return err
	}
}

// takeTargets takes a list of where notifications go, whose rows lack what the
// endpoint of each type says.
func takeTargets(ctx context.Context, l *look, data model.Value) error {
	rows, err := named(data, "name")
	for _, row := range rows {
		path := fmt.Sprintf("/cluster/notifications/endpoints/%s/%s", url.PathEscape(row.Value.At("type").Text()), url.PathEscape(row.Name))
		l.addInFull(ctx, shape.NotificationTarget, row, path)
	}
	return err
}

// addInFull takes up a row with what the object's own path says.
func (l *look) addInFull(ctx context.Context, kind string, row model.Field, path string) {
	whole, err := l.api.Get(ctx, path)
	if err != nil || whole.Kind() != model.Map {
		l.miss(l.object(kind, row.Name, row.Value), l.config.reason(orShapeless(err)))
		return
	}
	l.add(l.object(kind, row.Name, merged(row.Value, whole)))
}

// orShapeless is the error of an answer that came, and was no object.
func orShapeless(err error) error {
	if err != nil {
		return err
	}
	return &httpclient.Unexpected{Reason: "the answer is no object"}
}

// merged returns a map with the fields of both; the second's count.
func merged(a, b model.Value) model.Value {
	fields := make([]model.Field, 0, len(a.Fields())+len(b.Fields()))
	return model.MapOf(append(append(fields, a.Fields()...), b.Fields()...)...)
}

// object is a resource as its row says.
func (l *look) object(kind, id string, raw model.Value) model.Resource {
	return model.Resource{Key: l.key(kind, id), Name: id, Value: l.shaper.Object(kind, raw)}
}
