package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A firewall is the firewall of the cluster, a node, a guest or a virtual network.
type firewall struct {
	// scope is the id of its options and rules, and the prefix of the ids of its aliases and IP
	// sets.
	scope string
	// path is its API path.
	path  string
	place string
	// parent is the resource that it protects.
	parent model.Ref
	// objects reports whether it has aliases and IP sets.
	objects bool
	// newer reports whether older versions of Proxmox VE lack it.
	newer bool
}

func clusterFirewall() firewall {
	return firewall{scope: "cluster", path: "/cluster/firewall", objects: true}
}

func nodeFirewall(node string) firewall {
	return firewall{scope: "node/" + node, path: nodePath(node) + "/firewall", place: node}
}

func vnetFirewall(vnet, path string) firewall {
	return firewall{scope: "vnet/" + vnet, path: path + "/firewall", parent: ref(normalize.SDNVnet, vnet), newer: true}
}

// guestFirewall returns the firewall of a guest. Any node can read it, because it is in the
// cluster's file system.
func guestFirewall(g guest, node string) firewall {
	return firewall{scope: g.kind + "/" + g.id, path: g.path(node) + "/firewall", parent: ref(g.kindName(), g.id), objects: true}
}

// readFirewall reads a firewall through an api.
func (sc *scan) readFirewall(ctx context.Context, f firewall, via api) {
	for _, part := range []struct {
		name, kind string
		take       func(context.Context, *scan, firewall, api, model.Value) error
		objects    bool
	}{
		{"options", normalize.FirewallOptions, addFirewallOptions, false},
		{"rules", normalize.FirewallRules, addFirewallRules, false},
		{"aliases", normalize.FirewallAlias, addFirewallAliases, true},
		{"ipset", normalize.FirewallIPSet, addFirewallSets, true},
	} {
		if part.objects && !f.objects || !sc.isIncluded(part.kind) {
			continue
		}
		data, err := via.Get(ctx, f.path+"/"+part.name)
		if err == nil {
			err = part.take(ctx, sc, f, via, data)
		}
		switch {
		case err == nil, f.newer && isUnsupported(err):
		case part.objects:
			sc.fail(fmt.Errorf("%s: %w", f.scope, err), f.place, part.kind)
		default:
			sc.addUnread(sc.part(f, part.kind, f.scope, f.scope, model.Value{}), sc.config.reason(err))
		}
	}
}

// part returns the resource of a part of a firewall.
func (sc *scan) part(f firewall, kind, id, name string, raw model.Value) model.Resource {
	r := sc.object(kind, id, raw)
	r.Name, r.Place, r.Parent = name, f.place, f.parent
	return r
}

func addFirewallOptions(_ context.Context, sc *scan, f firewall, _ api, data model.Value) error {
	if data.Kind() != model.Map {
		return &httpclient.Unexpected{Reason: "the answer is not an object"}
	}
	sc.add(sc.part(f, normalize.FirewallOptions, f.scope, f.scope, data))
	return nil
}

func addFirewallRules(_ context.Context, sc *scan, f firewall, _ api, data model.Value) error {
	rules, err := rowsOf(data)
	if err == nil {
		sc.add(sc.part(f, normalize.FirewallRules, f.scope, f.scope, rulesOf(rules)))
	}
	return err
}

// rulesOf returns a map with the field "rules": the rules in the order of evaluation.
func rulesOf(rules []model.Value) model.Value {
	ordered := slices.Clone(rules)
	position := func(rule model.Value) int {
		pos, err := strconv.Atoi(rule.At("pos").Text())
		if err != nil {
			return math.MaxInt
		}
		return pos
	}
	slices.SortStableFunc(ordered, func(a, b model.Value) int { return cmp.Compare(position(a), position(b)) })
	return model.MapOf(model.Field{Name: "rules", Value: model.ListOf(ordered...)})
}

func addFirewallAliases(_ context.Context, sc *scan, f firewall, _ api, data model.Value) error {
	rows, err := rowsByKey(data, "name")
	for _, row := range rows {
		sc.add(sc.part(f, normalize.FirewallAlias, f.scope+"/"+row.Name, row.Name, row.Value))
	}
	return err
}

// addFirewallSets adds the IP sets of a firewall with their entries.
func addFirewallSets(ctx context.Context, sc *scan, f firewall, via api, data model.Value) error {
	rows, err := rowsByKey(data, "name")
	for _, row := range rows {
		id := f.scope + "/" + row.Name
		entries, err := listOf(ctx, via, f.path+"/ipset/"+url.PathEscape(row.Name))
		r := sc.part(f, normalize.FirewallIPSet, id, row.Name, row.Value.With("cidr", entries))
		if err != nil {
			sc.addUnread(r, sc.config.reason(err))
			continue
		}
		sc.add(r)
	}
	return err
}

// addFirewallGroups adds the security groups with their rules.
func addFirewallGroups(ctx context.Context, sc *scan, data model.Value) error {
	rows, err := rowsByKey(data, "group")
	for _, row := range rows {
		rules, err := listOf(ctx, sc.api, "/cluster/firewall/groups/"+url.PathEscape(row.Name))
		if err != nil {
			sc.addUnread(sc.object(normalize.FirewallGroup, row.Name, row.Value), sc.config.reason(err))
			continue
		}
		sc.add(sc.object(normalize.FirewallGroup, row.Name, merged(row.Value, rulesOf(rules.Items()))))
	}
	return err
}

// listOf reads a list of objects.
func listOf(ctx context.Context, via api, path string) (model.Value, error) {
	data, err := via.Get(ctx, path)
	if err == nil {
		_, err = rowsOf(data)
	}
	return data, err
}
