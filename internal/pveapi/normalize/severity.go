package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// severities returns the severity rules of the kind with the name: first the special rules,
// then those of single fields, then those of the whole kind.
func (k kind) severities(name string) []model.SeverityRule {
	rules := specialSeverities()[name]
	for i := range k.fields {
		if k.fields[i].Form.Schema.Fields[owner] == nil {
			continue
		}
		for _, disk := range k.fields[i].Names() {
			rules = append(rules, foreignVolume(disk))
		}
	}
	rules = append(rules, k.fields.Rules(onFieldChanges())...)
	if k.fields.Has(foreignVolumes) {
		rules = append(rules, model.SeverityRule{Verdicts: table.Unmanaged(), Where: present(foreignVolumes),
			Severity: model.High, Reason: "uses a volume of another guest", Show: foreignVolumes})
	}
	if k.reason != "" {
		rules = slices.Concat(rules, table.Rate(model.High, k.reason, "", onDeclaredChanges()), table.Rate(model.Medium, k.reason, "", table.Unmanaged()))
	}
	return rules
}

// foreignVolume rates a disk that is a volume of another guest.
func foreignVolume(disk string) model.SeverityRule {
	return model.SeverityRule{Verdicts: append(onFieldChanges(), model.Conflict, model.PendingRestart), Path: disk, Where: present(disk + "." + owner),
		Severity: model.High, Reason: "the volume belongs to another guest", Show: disk + ".file"}
}

func present(path string) []model.Condition { return []model.Condition{{Path: path, Present: true}} }

// onFieldChanges returns the verdicts on changes of fields that are not severe by themselves.
func onFieldChanges() []model.Verdict {
	return []model.Verdict{model.Changed, model.Undeclared, model.Disputed}
}

// onDeclaredChanges returns the verdicts on declared values that were changed or removed. It has no
// Unmanaged: an undeclared resource may always have existed.
func onDeclaredChanges() []model.Verdict {
	return []model.Verdict{model.Missing, model.Conflict, model.Changed, model.Undeclared}
}

// onLiveChanges returns the verdicts on live values that differ from the declaration.
func onLiveChanges() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Conflict, model.Changed, model.Undeclared}
}

// specialSeverities returns the rules that come first, by kind.
func specialSeverities() map[string][]model.SeverityRule {
	const openWorld, byHand = "open to the world", "made by hand, and decides who may do what"
	handmade := model.SeverityRule{Verdicts: table.Unmanaged(), Severity: model.High, Reason: byHand}
	open := table.Rate(model.Critical, openWorld, "rules.type rules.action rules.macro rules.proto rules.source rules.dest rules.dport rules.iface rules.enable",
		onLiveChanges(), model.Condition{Path: "rules", With: openRule()})
	options := append(table.Rate(model.Critical, openWorld, "enable", onDeclaredChanges(), table.Is("enable", "false")),
		table.Rate(model.Critical, openWorld, "policy_in", onDeclaredChanges(), table.Is("policy_in", "ACCEPT"))...)
	return map[string][]model.SeverityRule{
		User: append(fullRights("acl", "acl"), handmade), Group: append(fullRights("acl", "acl"), handmade),
		Token: {handmade}, Realm: {handmade},
		ACL:           append(fullRights("", "path roleid ugid propagate"), handmade),
		FirewallRules: open, FirewallGroup: open,
		FirewallOptions: options,
		FirewallAlias:   networks("cidr", model.Condition{Path: "cidr", World: true}),
		FirewallIPSet: networks("cidr", model.Condition{Path: "cidr", With: []model.Condition{
			{Path: "cidr", World: true}, {Path: "nomatch", NotIn: []string{"true"}}}}),
	}
}

// fullRights returns rules for the role Administrator on /, which the rows of the field at
// give, or the resource itself if at is "". paths are the fields that give it.
func fullRights(at, paths string) []model.SeverityRule {
	where := []model.Condition{table.Is("path", "/"), table.Is("roleid", "Administrator")}
	if at != "" {
		where = []model.Condition{{Path: at, With: where}}
	}
	return table.Rate(model.Critical, "grants all rights", paths, onLiveChanges(), where...)
}

// openRule returns the conditions on a firewall rule that accepts any source for more than
// control messages.
func openRule() []model.Condition {
	return []model.Condition{
		{Path: "type", In: []string{"in"}}, {Path: "action", In: []string{"ACCEPT"}}, {Path: "enable", NotIn: []string{"false"}},
		{Path: "source", In: []string{""}, World: true},
		{Path: "macro", NotIn: []string{"Ping", "NeighborDiscovery", "DHCPfwd", "DHCPv6", "Trcrt"}},
		{Path: "proto", NotIn: []string{"icmp", "icmpv6", "ipv6-icmp", "1", "58", "igmp"}},
	}
}

// networks returns the rules for a named list of networks at path. It is unknown which
// firewall rules use an unmanaged list.
func networks(path string, where model.Condition) []model.SeverityRule {
	const why = "matches all addresses in firewall rules"
	return append(table.Rate(model.Critical, why, path, onDeclaredChanges(), where), table.Rate(model.High, why, "", table.Unmanaged(), where)...)
}
