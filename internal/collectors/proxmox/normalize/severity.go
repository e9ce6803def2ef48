package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// severities returns the rules that rate drift of the kind with the name: what takes
// over the cluster or opens it to the world, the fields that are rated apart, and then
// the kind.
func (k kind) severities(name string) []model.SeverityRule {
	rules := worst()[name]
	for i := range k.fields {
		if k.fields[i].Form.Schema.Fields[owner] == nil {
			continue
		}
		for _, disk := range k.fields[i].Names() {
			rules = append(rules, foreignVolume(disk))
		}
	}
	rules = append(rules, k.fields.Rules(edited())...)
	if k.fields.Has(foreignVolumes) {
		rules = append(rules, model.SeverityRule{Verdicts: table.Unmanaged(), Where: present(foreignVolumes),
			Severity: model.High, Reason: "uses a volume of another guest", Show: foreignVolumes})
	}
	if k.why != "" {
		rules = slices.Concat(rules, table.Rate(model.High, k.why, "", turned()), table.Rate(model.Medium, k.why, "", table.Unmanaged()))
	}
	return rules
}

// foreignVolume rates a disk that is a volume of another guest.
func foreignVolume(disk string) model.SeverityRule {
	return model.SeverityRule{Verdicts: append(edited(), model.Conflict, model.PendingRestart), Path: disk, Where: present(disk + "." + owner),
		Severity: model.High, Reason: "the volume belongs to another guest", Show: disk + ".file"}
}

func present(path string) []model.Condition { return []model.Condition{{Path: path, Present: true}} }

// edited are the verdicts that tell of single fields and are not severe
// without a reason; turned those of what is declared and was turned into something
// else, or taken away. What nobody declares may have been there all along.
func edited() []model.Verdict {
	return []model.Verdict{model.Changed, model.Undeclared, model.Disputed}
}

func turned() []model.Verdict {
	return []model.Verdict{model.Missing, model.Conflict, model.Changed, model.Undeclared}
}

// brought are the verdicts on what is live and not declared so.
func brought() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Conflict, model.Changed, model.Undeclared}
}

// worst are the rules that come first, by kind.
func worst() map[string][]model.SeverityRule {
	const openWorld, byHand = "open to the world", "made by hand, and decides who may do what"
	handmade := model.SeverityRule{Verdicts: table.Unmanaged(), Severity: model.High, Reason: byHand}
	open := table.Rate(model.Critical, openWorld, "rules.type rules.action rules.macro rules.proto rules.source rules.dest rules.dport rules.iface rules.enable",
		brought(), model.Condition{Path: "rules", With: opens()})
	options := append(table.Rate(model.Critical, openWorld, "enable", turned(), table.Is("enable", "false")),
		table.Rate(model.Critical, openWorld, "policy_in", turned(), table.Is("policy_in", "ACCEPT"))...)
	return map[string][]model.SeverityRule{
		User: append(administrator("acl", "acl"), handmade), Group: append(administrator("acl", "acl"), handmade),
		Token: {handmade}, Realm: {handmade},
		ACL:           append(administrator("", "path roleid ugid propagate"), handmade),
		FirewallRules: open, FirewallGroup: open,
		FirewallOptions: options,
		FirewallAlias:   networks("cidr", model.Condition{Path: "cidr", World: true}),
		FirewallIPSet: networks("cidr", model.Condition{Path: "cidr", With: []model.Condition{
			{Path: "cidr", World: true}, {Path: "nomatch", NotIn: []string{"true"}}}}),
	}
}

// administrator returns rules for the role of all rights on the whole cluster, which
// rows of the field at, or the resource itself, give; paths are the fields that do.
func administrator(at, paths string) []model.SeverityRule {
	where := []model.Condition{table.Is("path", "/"), table.Is("roleid", "Administrator")}
	if at != "" {
		where = []model.Condition{{Path: at, With: where}}
	}
	return table.Rate(model.Critical, "grants all rights", paths, brought(), where...)
}

// opens are the conditions on a firewall rule that lets the world in by more than
// control messages.
func opens() []model.Condition {
	return []model.Condition{
		{Path: "type", In: []string{"in"}}, {Path: "action", In: []string{"ACCEPT"}}, {Path: "enable", NotIn: []string{"false"}},
		{Path: "source", In: []string{""}, World: true},
		{Path: "macro", NotIn: []string{"Ping", "NeighborDiscovery", "DHCPfwd", "DHCPv6", "Trcrt"}},
		{Path: "proto", NotIn: []string{"icmp", "icmpv6", "ipv6-icmp", "1", "58", "igmp"}},
	}
}

// networks returns the rules of a named list of networks at path. Which rules of the
// firewall use an unmanaged one is not known.
func networks(path string, where model.Condition) []model.SeverityRule {
	const why = "stands for the world in rules of the firewall"
	return append(table.Rate(model.Critical, why, path, turned(), where), table.Rate(model.High, why, "", table.Unmanaged(), where)...)
}
