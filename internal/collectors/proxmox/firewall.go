package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A firewall is one of the many of a cluster: its own, or that of a node, a
// guest or a virtual network.
type firewall struct {
	// scope is the id of its options and rules, and the first part of those of
	// its aliases and IP sets.
	scope string
	// path is where it lies in the API.
	path  string
	place string
	// parent is what it protects.
	parent model.Ref
	// objects tells that it has aliases and IP sets of its own.
	objects bool
	// newer tells that older versions have none.
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

// guestFirewall is a guest's, asked for on any node: it lies in the cluster's
// own file system.
func guestFirewall(g guest, node string) firewall {
	return firewall{scope: g.kind + "/" + g.id, path: g.path(node) + "/firewall", parent: ref(g.kindName(), g.id), objects: true}
}

// readFirewall reads a firewall through an api.
func (l *look) readFirewall(ctx context.Context, f firewall, via api) {
	for _, part := range []struct {
		name, kind string
		take       func(context.Context, *look, firewall, api, model.Value) error
		objects    bool
	}{
		{"options", normalize.FirewallOptions, takeFirewallOptions, false},
		{"rules", normalize.FirewallRules, takeFirewallRules, false},
		{"aliases", normalize.FirewallAlias, takeFirewallAliases, true},
		{"ipset", normalize.FirewallIPSet, takeFirewallSets, true},
	} {
		if part.objects && !f.objects || !l.wanted(part.kind) {
			continue
		}
		data, err := via.Get(ctx, f.path+"/"+part.name)
		if err == nil {
			err = part.take(ctx, l, f, via, data)
		}
		switch {
		case err == nil, f.newer && notServed(err):
		case part.objects:
			l.fail(fmt.Errorf("%s: %w", f.scope, err), f.place, part.kind)
		default:
			l.miss(l.part(f, part.kind, f.scope, f.scope, model.Value{}), l.config.reason(err))
		}
	}
}

// part is a part of a firewall.
func (l *look) part(f firewall, kind, id, name string, raw model.Value) model.Resource {
	r := l.object(kind, id, raw)
	r.Name, r.Place, r.Parent = name, f.place, f.parent
	return r
}

func takeFirewallOptions(_ context.Context, l *look, f firewall, _ api, data model.Value) error {
	if data.Kind() != model.Map {
		return &httpclient.Unexpected{Reason: "the answer is no object"}
	}
	l.add(l.part(f, normalize.FirewallOptions, f.scope, f.scope, data))
	return nil
}

func takeFirewallRules(_ context.Context, l *look, f firewall, _ api, data model.Value) error {
	rules, err := rowsOf(data)
	if err == nil {
		l.add(l.part(f, normalize.FirewallRules, f.scope, f.scope, rulesOf(rules)))
	}
	return err
}

// rulesOf puts rules under the one field that a firewall's rules have, in the
// order in which they count.
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

func takeFirewallAliases(_ context.Context, l *look, f firewall, _ api, data model.Value) error {
	rows, err := named(data, "name")
	for _, row := range rows {
		l.add(l.part(f, normalize.FirewallAlias, f.scope+"/"+row.Name, row.Name, row.Value))
	}
	return err
}

// takeFirewallSets takes up IP sets, each of which is asked for what is in it.
func takeFirewallSets(ctx context.Context, l *look, f firewall, via api, data model.Value) error {
	rows, err := named(data, "name")
	for _, row := range rows {
		id := f.scope + "/" + row.Name
		entries, err := listOf(ctx, via, f.path+"/ipset/"+url.PathEscape(row.Name))
		r := l.part(f, normalize.FirewallIPSet, id, row.Name, row.Value.With("cidr", entries))
		if err != nil {
			l.miss(r, l.config.reason(err))
			continue
		}
		l.add(r)
	}
	return err
}

// takeFirewallGroups takes up security groups, each with its rules.
func takeFirewallGroups(ctx context.Context, l *look, data model.Value) error {
	rows, err := named(data, "group")
	for _, row := range rows {
		rules, err := listOf(ctx, l.api, "/cluster/firewall/groups/"+url.PathEscape(row.Name))
		if err != nil {
			l.miss(l.object(normalize.FirewallGroup, row.Name, row.Value), l.config.reason(err))
			continue
		}
		l.add(l.object(normalize.FirewallGroup, row.Name, merged(row.Value, rulesOf(rules.Items()))))
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
