package proxmox

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// systemOwned returns the reason why no declaration is expected to declare a resource, or "".
func systemOwned(r *model.Resource, kind *model.Kind) string {
	switch value := r.Value; r.Kind {
	case normalize.ClusterOptions:
		return "part of every cluster"
	case normalize.NodeDNS, normalize.NodeHosts, normalize.NodeConfig, normalize.NodeTime:
		return "part of every node"
	case normalize.NodeNetwork:
		if typ := value.At("type").Str(); typ == "eth" || typ == "unknown" {
			return "a physical network interface"
		}
	case normalize.FirewallOptions:
		if onlyDefaults(value, kind) {
			return "only default values"
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

// builtIn reports whether a resource is part of every installation of Proxmox VE.
func builtIn(r *model.Resource) bool {
	switch r.Kind {
	case normalize.Role:
		return pveapi.Truth(r.Value.At("special"))
	case normalize.NotificationTarget, normalize.NotificationMatcher:
		return r.Value.At("origin").Str() == "builtin"
	}
	return slices.Contains([]model.Ref{
		{Kind: normalize.User, ID: "root@pam"}, {Kind: normalize.Realm, ID: "pam"}, {Kind: normalize.Realm, ID: "pve"}, {Kind: normalize.SDNIpam, ID: "pve"},
	}, model.Ref{Kind: r.Kind, ID: r.ID})
}

// onlyDefaults reports whether every field has its default value.
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
