package normalize

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// group says what a group opens, and tells the group that every project has.
func (j *joiner) group(r *model.Resource) {
	if rules := j.opening[r.ID]; len(rules) > 0 {
		opened := make([]string, len(rules))
		for i, rule := range rules {
			opened[i] = j.traffic(rule.Value)
		}
		r.Value = r.Value.With("open", textsOf(opened)).With("open_to", openTo(rules...))
	}
	if r.SystemOwned == "" && isDefaultGroup(r.Name) {
		r.SystemOwned = "every project has one"
	}
}

// isDefaultGroup tells the group that Neutron makes for each project: it lets
// nobody else use the name.
func isDefaultGroup(name string) bool { return name == "default" }

// rule names a rule by what it says, and puts it below its group. A rule of the
// default group stands for itself, since nobody is expected to declare that.
func (j *joiner) rule(r *model.Resource, o *Object) string {
	id := r.Value.At("security_group_id").Str()
	r.Name = r.Value.At("direction").Str() + " " + j.traffic(r.Value) + " in " + j.named(SecurityGroup, id)
	if opensToAnybody(r.Value) {
		r.Value = r.Value.With("open_to", openTo(o))
	}
	group := j.find(SecurityGroup, id)
	if group == nil && j.wasRead(SecurityGroup) {
		return "its group " + id + " is not in the list of groups: one of them came or went during the look"
	}
	if group == nil || !isDefaultGroup(group.Name) {
		r.Parent = model.Ref{Kind: SecurityGroup, ID: id}
	}
	switch {
	case r.SystemOwned != "":
	case group != nil && madeWith(o, group):
		r.SystemOwned = "Neutron makes it with each group"
	case group == nil && madeWith(o, &Object{ID: id, Name: "default"}):
		r.SystemOwned = "Neutron makes such a rule with each group, and " + SecurityGroup + " was not read"
	}
	return ""
}

// atOnce is how long Neutron may take to make a group with its rules.
const atOnce = 5 * time.Second

// madeWith tells the rules that Neutron makes with each group: everything may
// leave, and in the default group the members may reach each other. The same
// rule that comes later is somebody's.
func madeWith(rule, group *Object) bool {
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
	return rule.Created.IsZero() || group.Created.IsZero() || rule.Created.Sub(group.Created).Abs() <= atOnce
}

// opensToAnybody tells the rules that let in whoever comes: from nowhere in
// particular, or from a network that holds the world.
func opensToAnybody(rule model.Value) bool {
	if rule.At("direction").Str() != "ingress" || !rule.At("remote_group_id").IsNull() || !rule.At("remote_address_group_id").IsNull() {
		return false
	}
	from := rule.At("remote_ip_prefix")
	if from.IsNull() {
		return true
	}
	return model.IsWorld(from.Str())
}

// openTo returns what the field open_to holds for rules that open to anybody.
func openTo(rules ...*Object) model.Value {
	pings := !slices.ContainsFunc(rules, func(o *Object) bool {
		return !slices.Contains(strings.Fields("icmp icmpv6 ipv6-icmp 1 58"), o.Value.At("protocol").Text())
	})
	if pings {
		return model.StringOf(pinging)
	}
	return model.StringOf(anybody)
}

// traffic says in words what a rule speaks of: "tcp 22 from 0.0.0.0/0".
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

// remote says in words who is on the other side of a rule.
func (j *joiner) remote(rule model.Value) string {
	if prefix := rule.At("remote_ip_prefix").Str(); prefix != "" {
		return prefix
	}
	if group := rule.At("remote_group_id").Str(); group != "" {
		return "group " + j.named(SecurityGroup, group)
	}
	if group := rule.At("remote_address_group_id").Str(); group != "" {
		return "address group " + group
	}
	return "anywhere over " + rule.At("ethertype").Str()
}
