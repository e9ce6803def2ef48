package cloudtrail

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A record is what is kept of an event: no parameters, which may be secret.
type record struct {
	ID      string
	At      time.Time
	Region  string
	Actor   model.Actor
	Changes []change `json:",omitempty"`
	// Mentions are the resources that an event names whose effect is unknown.
	Mentions []string `json:",omitempty"`
	// From is the setting of the copy that has the event; "" if the event history has it.
	From string `json:",omitempty"`
}

// size returns how many bytes the record takes, roughly.
func (r *record) size() int {
	const each = 64
	n := 4*each + len(r.ID) + len(r.Region) + len(r.Actor.Name) + len(r.Actor.Evidence) + len(r.Actor.Request)
	for i := range r.Changes {
		n += each + len(r.Changes[i].ID)
		for _, field := range r.Changes[i].Fields {
			n += len(field)
		}
	}
	for _, name := range r.Mentions {
		n += len(name)
	}
	return n
}

// A change is one effect of an event on a resource.
type change struct {
	Kind, ID string
	Action   model.Action
	Fields   []string `json:",omitempty"`
	Puts     bool     `json:",omitempty"`
}

// An Account is an account whose log is read, and the partition of its ARNs.
type Account struct{ Number, Partition string }

// maxPerEvent bounds the changes and mentions of one event.
const maxPerEvent = 1000

// decodeEntry returns the record of an event of LookupEvents. See decodeEvent.
func decodeEntry(entry model.Value, account Account, operations map[operation][]effect) (r record, ok bool) {
	event, err := decode.JSON([]byte(entry.At("CloudTrailEvent").Str()))
	if err != nil {
		return record{}, false
	}
	var names []string
	for _, resource := range entry.At("Resources").Items() {
		names = append(names, resource.At("ResourceName").Str())
	}
	return decodeEvent(event, names, account, operations)
}

// decodeEvent returns the record of an event, of which names are the resources that CloudTrail
// lists. It returns false if the event changed nothing in the account, or names nothing.
func decodeEvent(event model.Value, names []string, account Account, operations map[operation][]effect) (r record, ok bool) {
	recipient := event.At("recipientAccountId").Text()
	if !event.At("errorCode").IsNull() || event.At("readOnly").Text() == "true" || recipient != "" && recipient != account.Number {
		return record{}, false
	}
	r = record{
		ID: event.At("eventID").Str(), Region: event.At("awsRegion").Str(),
		At: decode.Time(event.At("eventTime").Str(), time.RFC3339).UTC(), Actor: actorOf(event),
	}
	if r.ID == "" || r.At.IsZero() {
		return record{}, false
	}
	r.Actor.At = r.At
	service, _, _ := strings.Cut(event.At("eventSource").Str(), ".")
	x := &expansion{event: event, account: account, region: r.Region}
	for _, e := range operations[operation{service, event.At("eventName").Str()}] {
		r.Changes = append(r.Changes, x.changes(e)...)
	}
	if len(r.Changes) == 0 {
		r.Mentions = mentions(names, event)
	}
	r.Changes = r.Changes[:min(len(r.Changes), maxPerEvent)]
	return r, len(r.Changes)+len(r.Mentions) > 0
}

// mentions returns the resources that an event names: those that CloudTrail lists, and the
// IDs of EC2 among its parameters. Other parameters may be secret.
func mentions(names []string, event model.Value) []string {
	var all []string
	for _, name := range names {
		if name != "" {
			all = append(all, name)
		}
	}
	var visit func(v model.Value)
	visit = func(v model.Value) {
		if text := v.Str(); kindOfID(text) != "" && len(text) < 64 {
			all = append(all, text)
		}
		for _, item := range v.Items() {
			visit(item)
		}
		for _, field := range v.Fields() {
			visit(field.Value)
		}
	}
	visit(event.At("requestParameters"))
	return all[:min(len(all), maxPerEvent)]
}

// An expansion fills in templates with the values of an event.
type expansion struct {
	event   model.Value
	element model.Value
	account Account
	region  string
}

// changes returns what an effect changes. An effect on nothing that the event names is none.
func (x *expansion) changes(e effect) []change {
	if e.each == "" {
		return x.change(e)
	}
	var all []change
	for _, element := range follow(x.event.At("requestParameters"), e.each) {
		in := *x
		in.element = element
		all = append(all, in.change(e)...)
	}
	return all
}

func (x *expansion) change(e effect) []change {
	fields := x.fields(e.fields)
	if !x.fulfills(e.when) || e.fields != "" && len(fields) == 0 {
		return nil
	}
	var all []change
	for _, id := range x.expand(e.id) {
		kind := e.kind
		if kind == "*" {
			kind = kindOfID(id)
		}
		if kind != "" {
			all = append(all, change{Kind: prefix + kind, ID: id, Action: e.action, Fields: fields, Puts: e.puts})
		}
	}
	return all
}

// prefix is the first part of the names of the kinds.
const prefix = "aws/AWS::"

// fields returns the names of the changed fields.
func (x *expansion) fields(names string) []string {
	var all []string
	for _, name := range strings.Fields(names) {
		path, field, ok := strings.Cut(name, ">")
		if !ok {
			all = append(all, name)
			continue
		}
		path, want, _ := strings.Cut(path, "=")
		found := x.values(path)
		switch parent, each := strings.CutSuffix(field, ".*"); {
		case each:
			for _, v := range found {
				if v.Kind() != model.Map {
					all = append(all, keyPath(parent, v.Text()))
				}
				for _, f := range v.Fields() {
					all = append(all, keyPath(parent, f.Name))
				}
			}
		case want == "" && len(found) > 0, want != "" && len(found) == 1 && found[0].Text() == want:
			all = append(all, field)
		}
	}
	return all[:min(len(all), maxPerEvent)]
}

// keyPath returns the path of a key of a map; that of the map if the key has characters with
// a meaning in paths.
func keyPath(parent, key string) string {
	if key == "" || strings.ContainsAny(key, `.[]"'= `) {
		return parent
	}
	return parent + "." + key
}

// fulfills reports whether conditions hold. "*" is any text.
func (x *expansion) fulfills(when string) bool {
	for condition := range strings.FieldsSeq(when) {
		path, want, _ := strings.Cut(condition, "=")
		found := ""
		if all := x.values(path); len(all) > 0 {
			found = all[0].Text()
		}
		if want != found && (want != "*" || found == "") {
			return false
		}
	}
	return true
}

// expand returns the texts of a template: several if a path leads to several values, none if
// it leads to none.
func (x *expansion) expand(template string) []string {
	all := []string{""}
	for template != "" && len(all) > 0 {
		literal, rest, _ := strings.Cut(template, "{")
		names, after, found := strings.Cut(rest, "}")
		texts := []string{""}
		if found {
			texts = x.texts(names)
		}
		var next []string
		for _, before := range all {
			for _, text := range texts[:min(len(texts), maxPerEvent)] {
				next = append(next, before+literal+text)
			}
		}
		all, template = next[:min(len(next), maxPerEvent)], after
	}
	return all
}

// texts returns the texts at the first one of several paths that leads to any.
func (x *expansion) texts(names string) []string {
	if variable, ok := strings.CutPrefix(names, "$"); ok {
		return []string{map[string]string{"partition": x.account.Partition, "region": x.region, "account": x.account.Number}[variable]}
	}
	optional, names := strings.HasPrefix(names, "_"), strings.TrimPrefix(names, "_")
	for name := range strings.SplitSeq(names, "|") {
		path, filter, _ := strings.Cut(name, "@")
		var all []string
		for _, v := range x.values(path) {
			if text := filtered(v.Text(), filter); text != "" && v.Kind() != model.Map && v.Kind() != model.List {
				if optional {
					text = "_" + text
				}
				all = append(all, text)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	if optional {
		return []string{""}
	}
	return nil
}

func filtered(text, filter string) string {
	isARN := strings.HasPrefix(text, "arn:")
	switch filter {
	case "name":
		return text[strings.LastIndexAny(text, "/:")+1:]
	case "function":
		// A name, an ARN, or a part of one, each with or without a version after it.
		parts := strings.Split(text, ":")
		if i := indexOf(parts, "function"); i >= 0 && i+1 < len(parts) {
			return parts[i+1]
		}
		return parts[0]
	case "record":
		return strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(text, "."), `\052`, "*"))
	case "lower":
		text = strings.ToLower(text)
	case "protocol":
		text = strings.ToLower(text)
		return cmp.Or(map[string]string{"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6"}[text], text)
	case "network":
		// EC2 stores "10.0.0.1/8" as "10.0.0.0/8".
		if network, err := netip.ParsePrefix(text); err == nil {
			return network.Masked().String()
		}
	case "arn":
		if !isARN {
			return ""
		}
	case "plain":
		if isARN {
			return ""
		}
	}
	return text
}

func indexOf(parts []string, want string) int {
	for i, part := range parts {
		if part == want {
			return i
		}
	}
	return -1
}

// values returns the values at a path in the parameters, after "<" in the answer, after "."
// in the element.
func (x *expansion) values(path string) []model.Value {
	from := x.event.At("requestParameters")
	if rest, ok := strings.CutPrefix(path, "<"); ok {
		path, from = rest, x.event.At("responseElements")
	} else if rest, ok := strings.CutPrefix(path, "."); ok {
		path, from = rest, x.element
	}
	return follow(from, path)
}

// follow returns the values at a path. A path leads through all elements of lists. The case of
// names is ignored: CloudTrail writes "dBInstanceArn" as well as "arn" and "aRN".
func follow(v model.Value, path string) []model.Value {
	if v.Kind() == model.List {
		var all []model.Value
		for _, item := range v.Items() {
			all = append(all, follow(item, path)...)
		}
		return all
	}
	if path == "" {
		if v.IsNull() {
			return nil
		}
		return []model.Value{v}
	}
	name, rest, _ := strings.Cut(path, ".")
	for _, field := range v.Fields() {
		if strings.EqualFold(field.Name, name) {
			return follow(field.Value, rest)
		}
	}
	return nil
}
