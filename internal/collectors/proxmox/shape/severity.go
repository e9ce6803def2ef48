package shape

import (
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// severities returns the rules that rate drift of the kind with the name: what takes
// over the cluster or opens it to the world, the fields that are rated apart, and then
// the kind.
func (k kind) severities(name string) []model.SeverityRule {
	rules := worst()[name]
	for _, field := range slices.Sorted(maps.Keys(k.fields)) {
		f := k.fields[field]
		for _, key := range f.keys(field) {
			if f.schema.Fields[owner] != nil {
				rules = append(rules, foreignVolume(key))
			}
			if f.severity == "" {
				continue
			}
			rules = append(rules, model.SeverityRule{Verdicts: edited(), Path: key, Severity: f.severity, Reason: f.why})
		}
	}
	if _, guest := k.fields[foreignVolumes]; guest {
		rules = append(rules, model.SeverityRule{Verdicts: unmanaged(), Where: present(foreignVolumes),
			Severity: model.High, Reason: "uses a volume of another guest", Show: foreignVolumes})
	}
	if k.why != "" {
		rules = append(rules, model.SeverityRule{Verdicts: turned(), Severity: model.High, Reason: k.why},
			model.SeverityRule{Verdicts: unmanaged(), Severity: model.Medium, Reason: k.why})
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

func unmanaged() []model.Verdict { return []model.Verdict{model.Unmanaged} }

// brought are the verdicts on what is live and not declared so.
func brought() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Conflict, model.Changed, model.Undeclared}
}

// worst are the rules that come first, by kind.
func worst() map[string][]model.SeverityRule {
	const openWorld, byHand = "open to the world", "made by hand, and decides who may do what"
	handmade := model.SeverityRule{Verdicts: unmanaged(), Severity: model.High, Reason: byHand}
	open := rulesOn(openWorld, []string{"type", "action", "macro", "proto", "source", "dest", "dport", "iface", "enable"}, opens())
	off := model.SeverityRule{Verdicts: turned(), Path: "enable", Where: is("enable", "false"), Severity: model.Critical, Reason: openWorld}
	accepts := model.SeverityRule{Verdicts: turned(), Path: "policy_in", Where: is("policy_in", "ACCEPT"), Severity: model.Critical, Reason: openWorld}
	return map[string][]model.SeverityRule{
		User: append(administrator("acl", "acl"), handmade), Group: append(administrator("acl", "acl"), handmade),
		Token: {handmade}, Realm: {handmade},
		ACL:           append(administrator("", "path", "roleid", "ugid", "propagate"), handmade),
		FirewallRules: open, FirewallGroup: open,
		FirewallOptions: {off, accepts},
		FirewallAlias:   networks("cidr", model.Condition{Path: "cidr", World: true}),
		FirewallIPSet: networks("cidr", model.Condition{Path: "cidr", With: []model.Condition{
			{Path: "cidr", World: true}, {Path: "nomatch", NotIn: []string{"true"}}}}),
	}
}

func is(path string, texts ...string) []model.Condition {
	return []model.Condition{{Path: path, In: texts}}
}

// administrator returns rules for the role of all rights on the whole cluster, which
// rows of the field at, or the resource itself, give; paths are the fields that do.
func administrator(at string, paths ...string) []model.SeverityRule {
	where := []model.Condition{{Path: "path", In: []string{"/"}}, {Path: "roleid", In: []string{"Administrator"}}}
	if at != "" {
		where = []model.Condition{{Path: at, With: where}}
	}
	rules := make([]model.SeverityRule, len(paths))
	for i, path := range paths {
		rules[i] = model.SeverityRule{Verdicts: brought(), Path: path, Where: where, Severity: model.Critical, Reason: "grants all rights"}
	}
	return rules
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

// rulesOn returns a rule for a change of each of the fields of an element of rules that
// holds the conditions.
func rulesOn(why string, fields []string, conditions []model.Condition) []model.SeverityRule {
	rules := make([]model.SeverityRule, len(fields))
	for i, field := range fields {
		rules[i] = model.SeverityRule{Verdicts: brought(), Path: "rules." + field, Where: []model.Condition{{Path: "rules", With: conditions}},
			Severity: model.Critical, Reason: why}
	}
	return rules
}

// networks returns the rules of a named list of networks at path. Which rules of the
// firewall use an unmanaged one is not known.
func networks(path string, where model.Condition) []model.SeverityRule {
	const why = "stands for the world in rules of the firewall"
	return []model.SeverityRule{
		{Verdicts: turned(), Path: path, Where: []model.Condition{where}, Severity: model.Critical, Reason: why},
		{Verdicts: unmanaged(), Where: []model.Condition{where}, Severity: model.High, Reason: why},
	}
}
