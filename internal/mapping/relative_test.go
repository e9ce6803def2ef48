package mapping_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

const taggedTable = `
provider: acme/lab
types:
  lab_rack:
    kind: lab/rack
    id: "{id}"
    only_known: true
    stripped: true
    identities:
      - {by: slug, is: "{slug}"}
      - {by: name, is: "{name}@{room|hall}", upper: true}
      - {by: serial, is: "nr {serial}", if: sold}
    attributes:
      name: name
      tags: {live: tags, without: tags_all, order: any}
      tags_all: {live: tags, granted: true, order: any}
      level: {live: level, found: true}
      owners: {live: owners, as: fields(who.name), among: true, order: any}
      owner: {live: owners, as: fields(who.name), among: true}
      share: {live: owners, as: fields(share), among: true}
      notes: {live: notes, without: all_notes, ignore: ["sys_*"]}
      labels: {live: labels, typed: true}
      port: {live: port, while: {first: "{ports.id}"}}
      state: {live: state, unsent: [null, "off"]}
      address: {live: address, computed: true}
      size: {live: size, unset: [0]}
      ports: {live: ports, as: each(id), order: any}
      slots: {live: slots, block: many, keys: [at], attributes: {at: at, card: card}}
    forms:
      - {using: room, attributes: {room: room}}
      - {given: {hall: 7}, attributes: {hall: hall}}
      - attributes: {place: place}
`

func racks(t testing.TB) *mapping.Type {
	t.Helper()
	typ, ok := load(t, folder(t, taggedTable)).Find("acme/lab", "lab_rack")
	if !ok {
		t.Fatal("the table is not there")
	}
	return typ
}

func rack(t testing.TB, typ *mapping.Type, attributes string) mapping.Mapped {
	t.Helper()
	mapped, err := typ.Claim(value(t, attributes), sealer())
	if err != nil {
		t.Fatal(err)
	}
	return mapped
}

func TestViewInTheLightOfTheInstance(t *testing.T) {
	t.Parallel()
	typ := racks(t)
	for _, tc := range []struct{ reason, attributes, live, want string }{
		{"default tags are none of the resource's own", `{"id":"1","tags":["web"],"tags_all":["all","web"]}`, `{"tags":["all","new","web"]}`,
			`{"tags":["new","web"],"tags_all":["all","new","web"]}`},
		{"a default tag that the resource names is its own", `{"id":"1","tags":["all"],"tags_all":["all"]}`, `{"tags":["all"]}`, `{"tags":["all"],"tags_all":["all"]}`},
		{"what is granted counts as there", `{"id":"1","tags_all":["all","web"]}`, `{"tags":["web"]}`, `{"tags_all":["web","all"]}`},
		{"what the live side does not know counts as there", `{"id":"1","level":"low"}`, `{}`, `{"level":"low"}`},
		{"what the live side knows is compared", `{"id":"1","level":"low"}`, `{"level":"high"}`, `{"level":"high"}`},
		{"of a list with others' elements only the instance's count", `{"id":"1","owners":["b","a","x"],"owner":"c"}`,
			`{"owners":[{"who":[{"name":"a"},{"name":"b"}]},{"who":{"name":"c"}},{"rank":1}]}`, `{"owner":"c","owners":["b","a"]}`},
		{"what is not among them is not there", `{"id":"1","owners":[],"owner":"c"}`, `{"owners":[{"who":{"name":"a"}}]}`, `{"owners":[]}`},
		{"values of one element", `{"id":"1","owner":"c","share":2}`, `{"owners":[{"who":{"name":"a"},"share":1},{"who":{"name":"c"},"share":2}]}`, `{"owner":"c","share":2}`},
		{"values that two elements exchanged", `{"id":"1","owner":"c","share":2}`, `{"owners":[{"who":{"name":"c"},"share":1},{"who":{"name":"a"},"share":2}]}`, `{"owner":"c"}`},
		{"a value that another element has as well", `{"id":"1","owner":"a","share":1}`, `{"owners":[{"who":{"name":"a"},"share":2},{"who":{"name":"c"},"share":2}]}`, `{"owner":"a"}`},
		{"entries of a map that are none of the resource's own, or say nothing", `{"id":"1","notes":{"a":"1","sys_x":"1"},"all_notes":{"a":"1","b":"2"}}`,
			`{"notes":{"a":"1","b":"3","c":"4","sys_y":"5"}}`, `{"notes":{"a":"1","c":"4"}}`},
		{"without default tags every tag is the resource's own", `{"id":"1","tags":null}`, `{"tags":["web"]}`, `{"tags":["web"]}`},
		{"what the instance lacks altogether is not shown", `{"id":"1","name":null}`, `{"name":"a","size":3,"tags":["web"],"labels":{"x":1}}`, `{"name":"a"}`},
		{"typed values are spelled as the instance spells them", `{"id":"1","labels":{"a":"1.50","b":"true","c":"[1, 2]","d":"x","e":"2"}}`,
			`{"labels":{"a":1.5,"b":true,"c":[1,2],"d":"y","e":3,"f":false,"g":""}}`, `{"labels":{"a":"1.50","b":"true","c":"[1, 2]","d":"y","e":3,"f":false}}`},
		{"a field is read while another is what the instance says", `{"id":"1","port":"a","ports":[{"id":4},{"id":5}]}`, `{"port":"b","first":4,"ports":[4]}`,
			`{"port":"b","ports":[4]}`},
		{"otherwise what the instance holds counts as there", `{"id":"1","port":"a","ports":[{"id":4},{"id":5}]}`, `{"port":"b","first":5,"ports":[5]}`,
			`{"port":"a","ports":[5]}`},
		{"also where the instance says nothing of it", `{"id":"1","port":"a","ports":[]}`, `{"port":"b"}`, `{"port":"a"}`},
		{"blanks around a text do not count", `{"id":"1","name":"a"}`, `{"name":" a\n"}`, `{"name":"a"}`},
		{"the form of what is used", `{"id":"1","room":3,"hall":7,"place":null}`, `{"room":4,"hall":7,"place":"p"}`, `{"room":4}`},
		{"the form of what is given", `{"id":"1","room":0,"hall":7,"place":null}`, `{"room":4,"hall":8,"place":"p"}`, `{"hall":8}`},
		{"the last form", `{"id":"1","room":0,"hall":6,"place":null}`, `{"room":4,"hall":8,"place":"p"}`, `{"place":"p"}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			live := value(t, tc.live)
			if d := gocmp.Diff(tc.want, string(rack(t, typ, tc.attributes).Lens.View(live).AppendJSON(nil))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestElementsAreSharedWithOtherClaims(t *testing.T) {
	t.Parallel()
	lens := rack(t, racks(t), `{"id":"1","name":"a","owners":["a"],"owner":"c"}`).Lens
	for path, want := range map[string]bool{"owner": true, "owners[0]": true, "name": false, "nothing": false, "": false} {
		if lens.IsShared(path) != want {
			t.Errorf("%q is shared: %t, want %t", path, !want, want)
		}
	}
}

func TestClaimsShareALensWhereNothingDepends(t *testing.T) {
	t.Parallel()
	typ, _ := load(t).Find("e-breuninger/netbox", "netbox_manufacturer")
	one, err := typ.Claim(value(t, `{"id":"1","name":"a","slug":"a"}`), sealer())
	if err != nil {
		t.Fatal(err)
	}
	two, err := typ.Claim(value(t, `{"id":"1","name":"b","slug":"a"}`), sealer())
	if err != nil || one.Lens != two.Lens {
		t.Errorf("two claims without tags are in the same words, got %v and %v, %v", one.Lens, two.Lens, err)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	typ := racks(t)
	for _, tc := range []struct {
		reason, attributes string
		want               []model.Identity
	}{
		{"all parts", `{"id":"1","slug":"s","name":" n ","room":3,"serial":"x","sold":true}`,
			[]model.Identity{{By: "slug", Value: "s"}, {By: "name", Value: "N@3"}, {By: "serial", Value: "nr x"}}},
		{"an absent part, and 0, are empty", `{"id":"1","slug":"s","name":"n","room":0,"serial":"x"}`, []model.Identity{{By: "slug", Value: "s"}, {By: "name", Value: "N@"}}},
		{"the alternative that holds something", `{"id":"1","name":"n","room":0,"hall":4}`, []model.Identity{{By: "name", Value: "N@4"}}},
		{"without its first part there is none", `{"id":"1","room":4,"sold":true}`, nil},
	} {
		if d := gocmp.Diff(tc.want, rack(t, typ, tc.attributes).Identities); d != "" {
			t.Errorf("%s: %s", tc.reason, d)
		}
	}
}

// claimOf returns the claim of a state, or of a plan if declared is not "".
func claimOf(t testing.TB, typ *mapping.Type, recorded, declared string) *model.Claim {
	t.Helper()
	mapped := rack(t, typ, recorded)
	c := &model.Claim{Declaration: "d", Kind: mapped.Kind, ID: mapped.ID, Lens: mapped.Lens, Value: mapped.Value, Complete: true, RecordOnly: declared == ""}
	if declared != "" {
		c.Recorded, c.Value = &mapped.Value, rack(t, typ, declared).Value
	}
	return c
}

func changes(live model.Value, c *model.Claim) map[string]string {
	found := map[string]string{}
	for _, o := range diff.Compare(&model.Subject{Live: &model.Resource{Value: live}, Claims: []*model.Claim{c}}, diff.Options{}) {
		for _, change := range o.Changes {
			found[change.Path] = string(o.Verdict)
		}
	}
	return found
}

func TestSettle(t *testing.T) {
	t.Parallel()
	typ := racks(t)
	put := func(attribute string, sum bool, values ...model.Value) []mapping.Filling {
		var fillings []mapping.Filling
		for _, v := range values {
			fillings = append(fillings, mapping.Filling{Attributes: []string{attribute, "other"}, Value: v, Sum: sum})
		}
		return fillings
	}
	slot := func(n int64) model.Value { return model.MapOf(model.Field{Name: "at", Value: model.IntOf(n)}) }
	for _, tc := range []struct {
		reason, recorded, declared, live string
		fillings                         []mapping.Filling
		want                             map[string]string
	}{
		{"what another instance put there is no difference", `{"id":"1","address":null}`, "", `{"address":"BC:1"}`,
			put("address", false, model.StringOf("bc:1")), map[string]string{}},
		{"what a hand put there is one", `{"id":"1","address":null}`, "", `{"address":"b"}`,
			put("address", false, model.StringOf("a")), map[string]string{"address": "changed"}},
		{"what is gone is one", `{"id":"1","address":"a"}`, "", `{}`, put("address", false, model.StringOf("a")), map[string]string{"address": "changed"}},
		{"the sum of what several put there", `{"id":"1","size":10}`, "", `{"size":30}`,
			put("size", true, model.IntOf(10), model.IntOf(20)), map[string]string{}},
		{"another sum", `{"id":"1","size":10}`, "", `{"size":31}`,
			put("size", true, model.IntOf(10), model.IntOf(20)), map[string]string{"size": "changed"}},
		{"elements that were put there", `{"id":"1","ports":[]}`, "", `{"ports":[3,4]}`,
			put("ports", false, model.IntOf(3)), map[string]string{"ports": "changed"}},
		{"all elements were put there", `{"id":"1","ports":[{"id":2}]}`, "", `{"ports":[2,3]}`, put("ports", false, model.IntOf(2), model.IntOf(3)), map[string]string{}},
		{"an old record of what was put there", `{"id":"1","address":null}`, `{"id":"1","address":"a"}`, `{"address":"a"}`,
			put("address", false, model.StringOf("a")), map[string]string{}},
		{"an old record without anybody who put it there", `{"id":"1","address":null}`, `{"id":"1","address":"a"}`, `{"address":"a"}`,
			nil, map[string]string{"address": "codified"}},
		{"an old record of elements", `{"id":"1","ports":[]}`, `{"id":"1","ports":[{"id":3}]}`, `{"ports":[3]}`,
			put("ports", false, model.IntOf(3)), map[string]string{}},
		{"elements of one list that was put there", `{"id":"1","ports":[]}`, "", `{"ports":[3,4]}`,
			put("ports", false, model.ListOf(model.IntOf(3), model.IntOf(4))), map[string]string{}},
		{"a block that was put there, whatever else it holds", `{"id":"1","slots":[{"at":1,"card":"a"}]}`, "", `{"slots":[{"at":1,"card":"a"},{"at":2,"card":"b"}]}`,
			put("slots", false, slot(2)), map[string]string{}},
		{"a block of another", `{"id":"1","slots":[]}`, "", `{"slots":[{"at":3,"card":"b"}]}`,
			put("slots", false, slot(2)), map[string]string{"slots[0].at": "changed", "slots[0].card": "changed"}},
		{"a block that the claim holds stays as it holds it", `{"id":"1","slots":[{"at":2,"card":"a"}]}`, "", `{"slots":[{"at":2,"card":"b"}]}`,
			put("slots", false, slot(2)), map[string]string{}},
		{"and is missed where it is gone", `{"id":"1","slots":[{"at":2,"card":"a"}]}`, "", `{}`,
			put("slots", false, slot(2)), map[string]string{"slots[0].at": "changed", "slots[0].card": "changed"}},
		{"an old record of a block", `{"id":"1","slots":[]}`, `{"id":"1","slots":[{"at":2,"card":"b"}]}`, `{"slots":[{"at":2,"card":"b"}]}`,
			put("slots", false, slot(2)), map[string]string{}},
		{"of what others tell the claim says nothing", `{"id":"1","address":"a"}`, `{"id":"1","address":"c"}`, `{"address":"b"}`,
			put("address", false, model.Value{}), map[string]string{}},
		{"a tag that the provider never sends", `{"id":"1","tags_all":[]}`, `{"id":"1","tags_all":["all"]}`, `{}`, nil, map[string]string{}},
		{"a tag that somebody put there", `{"id":"1","tags_all":[]}`, `{"id":"1","tags_all":["all"]}`, `{"tags":["hand"]}`, nil, map[string]string{"tags_all": "changed"}},
		{"a value that the provider never sends", `{"id":"1","state":"on"}`, `{"id":"1","state":"off"}`, `{"state":"on"}`, nil, map[string]string{}},
		{"leaving it out is one, too", `{"id":"1","state":"on"}`, `{"id":"1","state":null}`, `{"state":"on"}`, nil, map[string]string{}},
		{"an edit of it shows all the same", `{"id":"1","state":"on"}`, `{"id":"1","state":"off"}`, `{"state":"off"}`, nil, map[string]string{"state": "changed"}},
		{"a value that it sends waits", `{"id":"1","state":"on"}`, `{"id":"1","state":"idle"}`, `{"state":"on"}`, nil, map[string]string{"state": "pending"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			c := claimOf(t, typ, tc.recorded, tc.declared)
			mapping.Settle(c, tc.fillings)
			if d := gocmp.Diff(tc.want, changes(value(t, tc.live), c)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSettleLeavesOtherClaims(t *testing.T) {
	t.Parallel()
	c := model.Claim{Value: value(t, `{"a":1}`)}
	mapping.Settle(&c, []mapping.Filling{{Attributes: []string{"a"}, Value: model.IntOf(2)}})
	if !c.Value.Equal(value(t, `{"a":1}`)) || c.Lens != nil {
		t.Errorf("got %+v", c)
	}
}

func TestFillings(t *testing.T) {
	t.Parallel()
	tables := load(t)
	claim := func(name, attributes string) []mapping.Filling {
		provider := "e-breuninger/netbox"
		if strings.HasPrefix(name, "openstack_") {
			provider = "hashicorp/openstack"
		}
		typ, _ := tables.Find(provider, name)
		mapped, err := typ.Claim(value(t, attributes), sealer())
		if err != nil {
			t.Fatal(err)
		}
		return mapped.Fillings
	}
	const machine, port = "netbox/virtualization.virtualmachine", "netbox/dcim.interface"
	for _, tc := range []struct {
		reason string
		got    []mapping.Filling
		want   []mapping.Filling
	}{
		{"a primary address is its machine's", claim("netbox_primary_ip", `{"id":"5","ip_address_id":7}`),
			[]mapping.Filling{{Ref: model.Ref{Kind: machine, ID: "5"}, Attributes: []string{"primary_ipv4", "primary_ipv6"}, Value: model.IntOf(7)}}},
		{"a disk is part of the machine's", claim("netbox_virtual_disk", `{"id":"3","virtual_machine_id":5,"size_mb":1000}`),
			[]mapping.Filling{{Ref: model.Ref{Kind: machine, ID: "5"}, Attributes: []string{"disk_size_mb"}, Value: model.IntOf(1000), Sum: true}}},
		{"a hardware address is its interface's", claim("netbox_mac_address", `{"id":"4","mac_address":"A","device_interface_id":9}`), []mapping.Filling{
			{Ref: model.Ref{Kind: port, ID: "9"}, Attributes: []string{"mac_address"}, Value: model.StringOf("A")},
			{Ref: model.Ref{Kind: port, ID: "9"}, Attributes: []string{"mac_addresses"}, Value: model.StringOf("4")}}},
		{"a port is its server's, and what it says itself", claim("openstack_compute_interface_attach_v2", `{"id":"s/p","instance_id":"s","port_id":"p"}`), []mapping.Filling{
			{Ref: model.Ref{Kind: "openstack/port", ID: "p"}, Attributes: []string{"device_id"}, Value: model.StringOf("s")},
			{Ref: model.Ref{Kind: "openstack/server", ID: "s"}, Attributes: []string{"network"}, Value: model.MapOf(model.Field{Name: "port", Value: model.StringOf("p")})},
			{Ref: model.Ref{Kind: "openstack/server", ID: "s"}, Attributes: []string{"security_groups"}, Value: model.StringOf("default")},
			{Ref: model.Ref{Kind: "openstack/server", ID: "s"}, Attributes: []string{"security_groups"}, Through: model.Ref{Kind: "openstack/port", ID: "p"}}}},
		{"every element of a list puts something, those that hold nothing do not", claim("openstack_compute_instance_v2", `{"id":"s","network":[{"port":""},{"port":"p"}]}`), []mapping.Filling{
			{Ref: model.Ref{Kind: "openstack/port", ID: "p"}, Attributes: []string{"device_id"}, Value: model.StringOf("s")},
			{Ref: model.Ref{Kind: "openstack/server", ID: "s"}, Attributes: []string{"network"}, Value: model.MapOf(model.Field{Name: "port", Value: model.StringOf("p")}), Through: model.Ref{Kind: "openstack/port", ID: "p"}},
			{Ref: model.Ref{Kind: "openstack/server", ID: "s"}, Attributes: []string{"security_groups"}, Through: model.Ref{Kind: "openstack/port", ID: "p"}}}},
		{"one that is assigned to nothing is nobody's", claim("netbox_mac_address", `{"id":"4","mac_address":"A","device_interface_id":0}`), nil},
	} {
		if d := gocmp.Diff(tc.want, tc.got); d != "" {
			t.Errorf("%s: %s", tc.reason, d)
		}
	}
}
