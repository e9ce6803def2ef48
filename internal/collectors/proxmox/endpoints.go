package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// An endpoint is a list of the API, or a single object, that belongs to the cluster.
type endpoint struct {
	path string
	// kinds are not fully read if the request fails.
	kinds []string
	add   func(ctx context.Context, sc *scan, data model.Value) error
	// partial are kinds of which some objects are only found through the list.
	partial []string
}

// acmePlugins is the only list that requires a privilege to write.
const acmePlugins = "/cluster/acme/plugins"

// clusterEndpoints returns the endpoints that belong neither to a node nor to a guest.
func clusterEndpoints() []endpoint {
	return []endpoint{
		{path: "/storage", kinds: []string{normalize.Storage}, add: each(normalize.Storage, "storage")},
		{path: "/pools", kinds: []string{normalize.Pool, normalize.PoolMember}, add: addPools},
		{path: "/access/roles", kinds: []string{normalize.Role}, add: each(normalize.Role, "roleid")},
		{path: "/access/domains", kinds: []string{normalize.Realm}, add: eachWithDetails(normalize.Realm, "realm", "/access/domains/%s")},
		{path: "/access/groups", kinds: []string{normalize.Group}, add: addGroups},
		{path: "/access/users?full=1", kinds: []string{normalize.User, normalize.Token}, add: addUsers},
		{path: "/cluster/options", kinds: []string{normalize.ClusterOptions}, add: single(normalize.ClusterOptions, "cluster")},
		{path: "/cluster/backup", kinds: []string{normalize.BackupJob}, add: each(normalize.BackupJob, "id")},
		{path: "/cluster/replication", kinds: []string{normalize.ReplicationJob}, add: each(normalize.ReplicationJob, "id")},
		{path: "/cluster/metrics/server", kinds: []string{normalize.MetricsServer}, add: eachWithDetails(normalize.MetricsServer, "id", "/cluster/metrics/server/%s")},
		{path: "/cluster/ha/resources", kinds: []string{normalize.HAResource}, add: each(normalize.HAResource, "sid")},
		{path: "/cluster/ha/rules", kinds: []string{normalize.HARule}, add: each(normalize.HARule, "rule")},
		{path: "/cluster/ha/groups", kinds: []string{normalize.HAGroup}, add: each(normalize.HAGroup, "group")},
		{path: "/cluster/mapping/pci", kinds: []string{normalize.MappingPCI}, add: each(normalize.MappingPCI, "id")},
		{path: "/cluster/mapping/usb", kinds: []string{normalize.MappingUSB}, add: each(normalize.MappingUSB, "id")},
		{path: "/cluster/mapping/dir", kinds: []string{normalize.MappingDir}, add: each(normalize.MappingDir, "id")},
		{path: "/cluster/sdn/zones", kinds: []string{normalize.SDNZone}, add: staged(normalize.SDNZone, "zone", "/cluster/sdn/zones")},
		{path: "/cluster/sdn/controllers", kinds: []string{normalize.SDNController}, add: staged(normalize.SDNController, "controller", "/cluster/sdn/controllers")},
		{path: "/cluster/sdn/vnets", kinds: []string{normalize.SDNVnet, normalize.SDNSubnet}, add: addVnets,
			partial: []string{normalize.FirewallOptions, normalize.FirewallRules}},
		{path: "/cluster/sdn/ipams", kinds: []string{normalize.SDNIpam}, add: each(normalize.SDNIpam, "ipam")},
		{path: "/cluster/sdn/dns", kinds: []string{normalize.SDNDNS}, add: each(normalize.SDNDNS, "dns")},
		{path: "/cluster/firewall/groups", kinds: []string{normalize.FirewallGroup}, add: addFirewallGroups},
		{path: "/cluster/acme/account", kinds: []string{normalize.ACMEAccount}, add: eachWithDetails(normalize.ACMEAccount, "name", "/cluster/acme/account/%s")},
		{path: acmePlugins, kinds: []string{normalize.ACMEPlugin}, add: each(normalize.ACMEPlugin, "plugin")},
		{path: "/cluster/notifications/targets", kinds: []string{normalize.NotificationTarget}, add: addTargets},
		{path: "/cluster/notifications/matchers", kinds: []string{normalize.NotificationMatcher}, add: each(normalize.NotificationMatcher, "name")},
	}
}

// needs returns the privileges that an account requires to see every object of a kind.
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
		return []need{{privilege: "Sys.Audit", path: "/", exact: true}}
	case normalize.FirewallAlias, normalize.FirewallIPSet:
		// The firewalls of guests are found through the list of guests.
		return []need{{privilege: "Sys.Audit", path: "/", exact: true}, {privilege: "VM.Audit", path: "/vms"}}
	case normalize.FirewallOptions, normalize.FirewallRules:
		return append(needs(normalize.FirewallIPSet), need{privilege: "SDN.Audit", path: "/sdn"}, need{privilege: "Sys.Audit", path: "/nodes"})
	case normalize.NodeNetwork, normalize.NodeDNS, normalize.NodeHosts, normalize.NodeConfig, normalize.NodeTime:
		return []need{{privilege: "Sys.Audit", path: "/nodes"}}
	}
	return nil
}

// isIncluded reports whether any of the kinds is not excluded.
func (sc *scan) isIncluded(kinds ...string) bool {
	for _, kind := range kinds {
		if !sc.config.excludes(kind) {
			return true
		}
	}
	return false
}

// readCluster reads the objects that belong neither to a node nor to a guest.
func (sc *scan) readCluster(ctx context.Context) {
	readings := clusterEndpoints()
	collectors.Parallel(sc.config.Concurrency, len(readings)+1, func(i int) {
		if i == len(readings) {
			sc.readFirewall(ctx, clusterFirewall(), sc.api)
			return
		}
		r := readings[i]
		if !sc.isIncluded(r.kinds...) {
			return
		}
		data, err := sc.api.Get(ctx, r.path)
		if err == nil {
			err = r.add(ctx, sc, data)
		}
		switch {
		case r.path == acmePlugins && httpclient.Code(err) == http.StatusForbidden:
			sc.skip("reading ACME DNS plugins requires Sys.Modify on /, which a read-only account should not have", r.kinds...)
		case isUnsupported(err):
			sc.fail(err, "", r.kinds...)
		case err != nil:
			sc.fail(err, "", append(r.kinds, r.partial...)...)
		}
	})
}

// rowsOf returns the items of a list. It fails if they are not maps.
func rowsOf(data model.Value) ([]model.Value, error) {
	if data.Kind() != model.List {
		return nil, &httpclient.Unexpected{Reason: "the answer is not a list"}
	}
	for _, row := range data.Items() {
		if row.Kind() != model.Map {
			return nil, &httpclient.Unexpected{Reason: "the answer is not a list of objects"}
		}
	}
	return data.Items(), nil
}

// rowsByKey returns the rows of a list, named by the value of key. It returns an error if a row has
// no such value.
func rowsByKey(data model.Value, key string) ([]model.Field, error) {
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

// each adds an object for each row of a list. The rows are complete.
func each(kind, id string) func(context.Context, *scan, model.Value) error {
	return func(_ context.Context, sc *scan, data model.Value) error {
		rows, err := rowsByKey(data, id)
		for _, row := range rows {
			sc.add(sc.object(kind, row.Name, row.Value))
		}
		return err
	}
}

// single adds an object that exists once in the cluster.
func single(kind, id string) func(context.Context, *scan, model.Value) error {
	return func(_ context.Context, sc *scan, data model.Value) error {
		if data.Kind() != model.Map {
			return &httpclient.Unexpected{Reason: "the answer is not an object"}
		}
		sc.add(sc.object(kind, id, data))
		return nil
	}
}

// eachWithDetails adds an object for each row of a list. The other fields of an object are at
// its own path.
func eachWithDetails(kind, id, format string) func(context.Context, *scan, model.Value) error {
	return func(ctx context.Context, sc *scan, data model.Value) error {
		rows, err := rowsByKey(data, id)
		for _, row := range rows {
			sc.addWithDetails(ctx, kind, row, fmt.Sprintf(format, url.PathEscape(row.Name)))
		}
		return err
	}
}

// addTargets adds the notification targets. The other fields of a target are at the endpoint
// of its type.
func addTargets(ctx context.Context, sc *scan, data model.Value) error {
	rows, err := rowsByKey(data, "name")
	for _, row := range rows {
		path := fmt.Sprintf("/cluster/notifications/endpoints/%s/%s", url.PathEscape(row.Value.At("type").Text()), url.PathEscape(row.Name))
		sc.addWithDetails(ctx, normalize.NotificationTarget, row, path)
	}
	return err
}

// addWithDetails adds an object with the fields of its row and those at its own path.
func (sc *scan) addWithDetails(ctx context.Context, kind string, row model.Field, path string) {
	whole, err := sc.api.Get(ctx, path)
	if err != nil || whole.Kind() != model.Map {
		sc.addUnread(sc.object(kind, row.Name, row.Value), sc.config.reason(orNotAnObject(err)))
		return
	}
	sc.add(sc.object(kind, row.Name, merged(row.Value, whole)))
}

// orNotAnObject returns err, or else the error of an answer that is not an object.
func orNotAnObject(err error) error {
	if err != nil {
		return err
	}
	return &httpclient.Unexpected{Reason: "the answer is not an object"}
}

// merged returns a map with the fields of both maps. Those of b take precedence.
func merged(a, b model.Value) model.Value {
	fields := make([]model.Field, 0, len(a.Fields())+len(b.Fields()))
	return model.MapOf(append(append(fields, a.Fields()...), b.Fields()...)...)
}

// object returns the resource of a row.
func (sc *scan) object(kind, id string, raw model.Value) model.Resource {
	return model.Resource{Key: sc.key(kind, id), Name: id, Value: sc.normalizer.Object(kind, raw)}
}
