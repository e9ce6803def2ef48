package proxmox

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// Rights implements reconcile.Actuator. It reads the privileges of the writing account on all paths.
func (a *Actuator) Rights(ctx context.Context, rules []reconcile.Rule) (reconcile.Rights, error) {
	access := a.writing()
	r := reconcile.Rights{Endpoint: access.URL, Identity: access.Name()}
	held := map[string][]string{} // paths by privilege
	err := a.with(ctx, access, func(s *pveapi.Session) error {
		answer, err := s.Get(ctx, "/access/permissions")
		if err != nil {
			return access.Explain(err, "")
		}
		for _, at := range answer.Fields() {
			for _, privilege := range at.Value.Fields() {
				held[privilege.Name] = append(held[privilege.Name], at.Name)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	for _, privilege := range slices.Sorted(maps.Keys(held)) {
		text := privilege + " on " + strings.Join(slices.Sorted(slices.Values(held[privilege])), ", ")
		r.May = append(r.May, text)
		if why := excess(privilege, rules); why != "" {
			r.Excess = append(r.Excess, text+": "+why)
		}
	}
	for i := range rules {
		switch rule := &rules[i]; {
		case acts(rule, guestKinds()) && !slices.ContainsFunc(slices.Collect(maps.Keys(held)), isConfig):
			r.Missing = append(r.Missing, "VM.Config.Options, VM.Config.CPU or another privilege VM.Config.* on the guests of rule "+rule.Name)
		case !acts(rule, guestKinds()) && acts(rule, clusterKinds()) && len(held[sysModify]) == 0:
			r.Missing = append(r.Missing, sysModify+" on / for rule "+rule.Name)
		}
	}
	return r, nil
}

func isConfig(privilege string) bool { return strings.HasPrefix(privilege, "VM.Config.") }

// excess returns why an account that puts back what rules allow does not need a privilege; "" if it may.
func excess(privilege string, rules []reconcile.Rule) string {
	if isConfig(privilege) || strings.HasSuffix(privilege, ".Audit") || privilege == "SDN.Use" {
		return ""
	}
	for i := range rules {
		if acts(&rules[i], kindsWith(privilege)) {
			return ""
		}
	}
	return "driftd does not use it"
}

// kindsWith returns the kinds that an account with a privilege may change, other than guests.
func kindsWith(privilege string) []string {
	switch privilege {
	case sysModify:
		return append(clusterKinds(), normalize.BackupJob, normalize.ClusterOptions, normalize.NodeConfig, normalize.Role)
	case "Sys.Console":
		return []string{normalize.HAResource}
	case "Datastore.Allocate":
		return []string{normalize.Storage}
	case spacePrivilege:
		return []string{normalize.QEMU}
	case "Permissions.Modify":
		return []string{normalize.ACL}
	case "Pool.Allocate":
		return []string{normalize.Pool, normalize.PoolMember}
	case "User.Modify":
		return []string{normalize.User}
	case "Group.Allocate":
		return []string{normalize.Group}
	}
	return nil
}

// guestKinds are the kinds of guests and of their firewalls, and clusterKinds those of the cluster's firewall.
func guestKinds() []string {
	return []string{normalize.QEMU, normalize.LXC, normalize.FirewallOptions, normalize.FirewallAlias, normalize.FirewallRules, normalize.FirewallIPSet}
}

func clusterKinds() []string {
	return []string{normalize.FirewallGroup, normalize.FirewallAlias, normalize.FirewallIPSet}
}

// acts reports whether a rule may put something of some kinds back.
func acts(rule *reconcile.Rule, kinds []string) bool {
	return rule.Acts() && slices.ContainsFunc(kinds, func(kind string) bool { return rule.Match.MayFit(kind, "") })
}
