package proxmox

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// automatic says why nobody is expected to declare a resource, or "".
func automatic(r *model.Resource, kind *model.Kind) string {
	switch value := r.Value; r.Kind {
	case normalize.ClusterOptions:
		return "every cluster has them"
	case normalize.NodeDNS, normalize.NodeHosts, normalize.NodeConfig, normalize.NodeTime:
		return "every node has one"
	case normalize.NodeNetwork:
		if typ := value.At("type").Str(); typ == "eth" || typ == "unknown" {
			return "a network card"
		}
	case normalize.FirewallOptions:
		if onlyDefaults(value, kind) {
			return "nothing but defaults"
		}
	case normalize.FirewallRules:
		if len(value.At("rules").Items()) == 0 {
			return "no rules"
		}
	}
	if builtIn(r) {
		return "built in"
	}
	return ""
}

// builtIn tells what comes with Proxmox VE.
func builtIn(r *model.Resource) bool {
	switch r.Kind {
	case normalize.Role:
		return truth(r.Value.At("special"))
	case normalize.NotificationTarget, normalize.NotificationMatcher:
		return r.Value.At("origin").Str() == "builtin"
	}
	return slices.Contains([]model.Ref{
		{Kind: normalize.User, ID: "root@pam"}, {Kind: normalize.Realm, ID: "pam"}, {Kind: normalize.Realm, ID: "pve"}, {Kind: normalize.SDNIpam, ID: "pve"},
	}, model.Ref{Kind: r.Kind, ID: r.ID})
}

// onlyDefaults tells whether every field holds what is there when nobody sets
// it.
func onlyDefaults(v model.Value, kind *model.Kind) bool {
	for _, f := range v.Fields() {
		var schema *model.Schema
		if kind != nil {
			schema = kind.Schema.Field(f.Name)
		}
		if schema == nil || schema.Default == nil || !schema.Default.Equal(f.Value) {
			return false
		}
	}
	return true
}
