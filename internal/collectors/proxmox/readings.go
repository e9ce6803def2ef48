package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
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
		{path: "/storage", kinds: []string{normalize.Storage}, take: each(normalize.Storage, "storage")},
		{path: "/pools", kinds: []string{normalize.Pool, normalize.PoolMember}, take: takePools},
		{path: "/access/roles", kinds: []string{normalize.Role}, take: each(normalize.Role, "roleid")},
		{path: "/access/domains", kinds: []string{normalize.Realm}, take: inFull(normalize.Realm, "realm", "/access/domains/%s")},
		{path: "/access/groups", kinds: []string{normalize.Group}, take: takeGroups},
		{path: "/access/users?full=1", kinds: []string{normalize.User, normalize.Token}, take: takeUsers},
		{path: "/cluster/options", kinds: []string{normalize.ClusterOptions}, take: one(normalize.ClusterOptions, "cluster")},
		{path: "/cluster/backup", kinds: []string{normalize.BackupJob}, take: each(normalize.BackupJob, "id")},
		{path: "/cluster/replication", kinds: []string{normalize.ReplicationJob}, take: each(normalize.ReplicationJob, "id")},
		{path: "/cluster/metrics/server", kinds: []string{normalize.MetricsServer}, take: inFull(normalize.MetricsServer, "id", "/cluster/metrics/server/%s")},
		{path: "/cluster/ha/resources", kinds: []string{normalize.HAResource}, take: each(normalize.HAResource, "sid")},
		{path: "/cluster/ha/rules", kinds: []string{normalize.HARule}, take: each(normalize.HARule, "rule")},
		{path: "/cluster/ha/groups", kinds: []string{normalize.HAGroup}, take: each(normalize.HAGroup, "group")},
		{path: "/cluster/mapping/pci", kinds: []string{normalize.MappingPCI}, take: each(normalize.MappingPCI, "id")},
		{path: "/cluster/mapping/usb", kinds: []string{normalize.MappingUSB}, take: each(normalize.MappingUSB, "id")},
		{path: "/cluster/mapping/dir", kinds: []string{normalize.MappingDir}, take: each(normalize.MappingDir, "id")},
		{path: "/cluster/sdn/zones", kinds: []string{normalize.SDNZone}, take: staged(normalize.SDNZone, "zone", "/cluster/sdn/zones")},
		{path: "/cluster/sdn/controllers", kinds: []string{normalize.SDNController}, take: staged(normalize.SDNController, "controller", "/cluster/sdn/controllers")},
		{path: "/cluster/sdn/vnets", kinds: []string{normalize.SDNVnet, normalize.SDNSubnet}, take: takeVnets,
			also: []string{normalize.FirewallOptions, normalize.FirewallRules}},
		{path: "/cluster/sdn/ipams", kinds: []string{normalize.SDNIpam}, take: each(normalize.SDNIpam, "ipam")},
		{path: "/cluster/sdn/dns", kinds: []string{normalize.SDNDNS}, take: each(normalize.SDNDNS, "dns")},
		{path: "/cluster/firewall/groups", kinds: []string{normalize.FirewallGroup}, take: takeFirewallGroups},
		{path: "/cluster/acme/account", kinds: []string{normalize.ACMEAccount}, take: inFull(normalize.ACMEAccount, "name", "/cluster/acme/account/%s")},
		{path: acmePlugins, kinds: []string{normalize.ACMEPlugin}, take: each(normalize.ACMEPlugin, "plugin")},
		{path: "/cluster/notifications/targets", kinds: []string{normalize.NotificationTarget}, take: takeTargets},
		{path: "/cluster/notifications/matchers", kinds: []string{normalize.NotificationMatcher}, take: each(normalize.NotificationMatcher, "name")},
	}
}

// needs are what it takes to see every object of a kind.
func needs(kind string) []need {
	switch kind {
	case normalize.QEMU, normalize.LXC, normalize.ReplicationJob:
		return []need{{privilege: "VM.Audit", path: "/vms"}}
	case normalize.Storage:
		return []need{{privilege: "Datastore.Audit", path: "/storage"}}
	case normalize.Pool:
		return []need{{privilege: "Pool.Audit", path: "/pool"}}
	case normalize.PoolMember:
		return []need{{privilege: "Pool.Audit", path: "/pool"}, {privilege: "VM.Audit", path: "/vms"}, {privilege: "Datastore.Audit", path: "/storage"}}
	case normalize.User, normalize.Token, normalize.Group, normalize.ACL:
		return []need{{privilege: "Sys.Audit", path: "/access"}}
	case normalize.SDNZone, normalize.SDNVnet, normalize.SDNSubnet, normalize.SDNController, normalize.SDNIpam, normalize.SDNDNS:
		return []need{{privilege: "SDN.Audit", path: "/sdn"}}
	case normalize.MappingPCI, normalize.MappingUSB, normalize.MappingDir:
		return []need{{privilege: "Mapping.Audit", path: "/mapping/" + strings.TrimPrefix(kind, Type+"/mapping_")}}
	case normalize.NotificationTarget, normalize.NotificationMatcher:
		return []need{{privilege: "Mapping.Audit", path: "/mapping/notifications"}}
	case normalize.ClusterOptions, normalize.BackupJob, normalize.MetricsServer, normalize.HAResource, normalize.HARule, normalize.HAGroup:
		return []need{{privilege: "Sys.Audit", path: "/", alone: true}}
	case normalize.FirewallAlias, normalize.FirewallIPSet:
		// The firewalls of guests are found through the list of guests.
		return []need{{privilege: "Sys.Audit", path: "/", alone: true}, {privilege: "VM.Audit", path: "/vms"}}
	case normalize.FirewallOptions, normalize.FirewallRules:
		return append(needs(normalize.FirewallIPSet), need{privilege: "SDN.Audit", path: "/sdn"}, need{privilege: "Sys.Audit", path: "/nodes"})
	case normalize.NodeNetwork, normalize.NodeDNS, normalize.NodeHosts, normalize.NodeConfig, normalize.NodeTime:
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
		l.addInFull(ctx, normalize.NotificationTarget, row, path)
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
	return model.Resource{Key: l.key(kind, id), Name: id, Value: l.normalizer.Object(kind, raw)}
}
