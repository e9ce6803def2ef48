package normalize

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// group adds the open rules of a group, and sets SystemOwned of a default group.
func (j *joiner) group(r *model.Resource) {
	if rules := j.openRules[r.ID]; len(rules) > 0 {
		opened := make([]string, len(rules))
		for i, rule := range rules {
			opened[i] = j.traffic(rule.Value)
		}
		r.Value = r.Value.With("open", sortedTexts(opened)).With("open_to", openTo(rules...))
	}
	if r.SystemOwned == "" && isDefaultGroup(r.Name) {
		r.SystemOwned = "every project has one"
	}
}

// isDefaultGroup reports whether the group is the one that Neutron creates for each project.
// Neutron reserves the name.
func isDefaultGroup(name string) bool { return name == "default" }

// rule sets the name of a rule from its content, and its group as its parent. A rule of the
// default group has no parent, since no declaration of that group is expected.
func (j *joiner) rule(r *model.Resource, o *Object) string {
	id := r.Value.At("security_group_id").Str()
	r.Name = r.Value.At("direction").Str() + " " + j.traffic(r.Value) + " in " + j.nameOf(SecurityGroup, id)
	if opensToWorld(r.Value) {
		r.Value = r.Value.With("open_to", openTo(o))
	}
	group := j.find(SecurityGroup, id)
	if group == nil && j.wasRead(SecurityGroup) {
		return "its group " + id + " is not in the list of groups: one of them was created or deleted during the scan"
	}
	if group == nil || !isDefaultGroup(group.Name) {
		r.Parent = model.Ref{Kind: SecurityGroup, ID: id}
	}
	switch {
	case r.SystemOwned != "":
	case group != nil && isDefaultRule(o, group):
		r.SystemOwned = "Neutron makes it with each group"
	case group == nil && isDefaultRule(o, &Object{ID: id, Name: "default"}):
		r.SystemOwned = "Neutron makes such a rule with each group, and " + SecurityGroup + " was not read"
	}
	return ""
}

// creationWindow is the maximum time between the creation of a group and of its default rules.
const creationWindow = 5 * time.Second

// isDefaultRule reports whether Neutron creates the rule with each group: one that allows all
// egress, and in the default group one that allows traffic between the members. The same rule
// with a later time was created by a user.
func isDefaultRule(rule, group *Object) bool {
	v := rule.Value
	for _, name := range strings.Fields("protocol port_range_min port_range_max remote_ip_prefix remote_address_group_id") {
		if !v.At(name).IsNull() {
			return false
		}
	}
	switch remote := v.At("remote_group_id").Str(); v.At("direction").Str() {
	case "egress":
		if remote != "" {
			return false
		}
	case "ingress":
		if remote != group.ID || !isDefaultGroup(group.Name) {
			return false
		}
	}
	return rule.Created.IsZero() || group.Created.IsZero() || rule.Created.Sub(group.Created).Abs() <= creationWindow
}

// opensToWorld reports whether the rule allows ingress from any address: without a remote, or
// from a prefix that contains the world.
func opensToWorld(rule model.Value) bool {
	if rule.At("direction").Str() != "ingress" || !rule.At("remote_group_id").IsNull() || !rule.At("remote_address_group_id").IsNull() {
		return false
	}
	from := rule.At("remote_ip_prefix")
	if from.IsNull() {
		return true
	}
	return model.IsWorld(from.Str())
}

// openTo returns the value of the field open_to for rules that are open to the world.
func openTo(rules ...*Object) model.Value {
	pings := !slices.ContainsFunc(rules, func(o *Object) bool {
		return !slices.Contains(strings.Fields("icmp icmpv6 ipv6-icmp 1 58"), o.Value.At("protocol").Text())
	})
	if pings {
		return model.StringOf(pinging)
	}
	return model.StringOf(anybody)
}

// traffic returns a description of a rule's traffic, such as "tcp 22 from 0.0.0.0/0".
func (j *joiner) traffic(rule model.Value) string {
	words := []string{rule.At("protocol").Str()}
	if words[0] == "" {
		words[0] = "anything"
	}
	low, high := rule.At("port_range_min").Text(), rule.At("port_range_max").Text()
	switch {
	case strings.Contains(words[0], "icmp"):
		words = append(words, ifSet("type ", low), ifSet("code ", high))
	case low == high:
		words = append(words, low)
	default:
		words = append(words, low+"-"+high)
	}
	towards := "from"
	if rule.At("direction").Str() == "egress" {
		towards = "to"
	}
	words = append(words, towards, j.remote(rule))
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func ifSet(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// remote returns a description of the remote side of a rule.
func (j *joiner) remote(rule model.Value) string {
	if prefix := rule.At("remote_ip_prefix").Str(); prefix != "" {
		return prefix
	}
	if group := rule.At("remote_group_id").Str(); group != "" {
		return "group " + j.nameOf(SecurityGroup, group)
	}
	if group := rule.At("remote_address_group_id").Str(); group != "" {
		return "address group " + group
	}
	return "anywhere over " + rule.At("ethertype").Str()
}
