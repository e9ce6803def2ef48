package normalize_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// shuffled returns the rows of every list in another order, and their objects.
func (r rows) shuffled(t *rapid.T) *normalize.Estate {
	e := &normalize.Estate{Project: "p", User: "u", Objects: map[string][]normalize.Object{}}
	for _, kind := range normalize.Kinds() {
		if list, ok := r[kind.Name]; ok {
			e.Objects[kind.Name] = []normalize.Object{}
			for _, row := range rapid.Permutation(list).Draw(t, kind.Name) {
				e.Objects[kind.Name] = append(e.Objects[kind.Name], read(t, kind, row))
			}
		}
	}
	return e
}

func read(t *rapid.T, kind *normalize.Kind, row string) normalize.Object {
	var v model.Value
	if err := v.UnmarshalJSON([]byte(row)); err != nil {
		t.Fatal(err)
	}
	o, err := normalize.New().Object(kind, v)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOrderHasNoEffect tests that the order of the rows, and of the lists in them, does not
// change the resources.
func TestOrderHasNoEffect(t *testing.T) {
	t.Parallel()
	cloud := small()
	cloud[normalize.SecurityGroup] = []string{`{"id":"g","name":"web","tenant_id":"p"}`, `{"id":"h","name":"default","tenant_id":"p"}`}
	cloud[normalize.SecurityGroupRule] = []string{`{"id":"r1","direction":"ingress","security_group_id":"g"}`, `{"id":"r2","direction":"ingress","security_group_id":"g","remote_ip_prefix":"::/0"}`,
		`{"id":"r3","direction":"ingress","security_group_id":"gone"}`, `{"id":"r4","direction":"ingress","security_group_id":"gone"}`}
	wanted, unwanted := cloud.estate(t).Resources("cloud")
	rapid.Check(t, func(t *rapid.T) {
		resources, unread := cloud.shuffled(t).Resources("cloud")
		same := func(a, b model.Resource) bool {
			return a.Key == b.Key && a.Name == b.Name && a.Place == b.Place && a.Parent == b.Parent && a.SystemOwned == b.SystemOwned && a.Value.Equal(b.Value)
		}
		if !slices.EqualFunc(resources, wanted, same) {
			t.Fatalf("got %v, want %v", resources, wanted)
		}
		if !slices.EqualFunc(unread, unwanted, func(a, b model.Unread) bool { return a.Ref == b.Ref && a.Reason == b.Reason }) {
			t.Fatalf("not read: %v, want %v", unread, unwanted)
		}
	})
}

// TestSpellings tests that the notations of a port and of its related objects do not change
// their values.
func TestSpellings(t *testing.T) {
	t.Parallel()
	port, rule := kindOf(t, normalize.Port), kindOf(t, normalize.SecurityGroupRule)
	rapid.Check(t, func(t *rapid.T) {
		mixed := func(s string) string {
			if rapid.Bool().Draw(t, "upper") {
				return strings.ToUpper(s)
			}
			return s
		}
		ips := rapid.Permutation([]string{`{"ip_address":"10.0.0.9","subnet_id":"s"}`, `{"subnet_id":"s","ip_address":"10.0.0.20"}`, `{"subnet_id":"t","ip_address":"2001:db8::1"}`}).Draw(t, "addresses")
		groups := rapid.Permutation([]string{`"a"`, `"b"`, `"c"`}).Draw(t, "groups")
		own := rapid.SampledFrom([]string{`"mac_address":"` + mixed("fa:16:3e:00:00:01") + `",`, ``, `"mac_address":null,`}).Draw(t, "own")
		absent := rapid.SampledFrom([]string{``, `,"qos_policy_id":null,"dns_name":"","extra_dhcp_opts":[],"binding:profile":{}`}).Draw(t, "absent")
		o := read(t, port, `{"id":"p","mac_address":"`+mixed("fa:16:3e:00:00:01")+`","fixed_ips":[`+strings.Join(ips, ",")+`],"security_groups":[`+strings.Join(groups, ",")+`],
			"allowed_address_pairs":[{`+own+`"ip_address":"10.0.0.0/24"}]`+absent+`}`)
		const want = `{"allowed_address_pairs":[{"ip_address":"10.0.0.0/24"}],"fixed_ips":[{"ip_address":"10.0.0.20","subnet_id":"s"},{"ip_address":"10.0.0.9","subnet_id":"s"},{"ip_address":"2001:db8::1","subnet_id":"t"}],"mac_address":"fa:16:3e:00:00:01","security_groups":["a","b","c"]}`
		if got := text(o.Value); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		protocol := rapid.SampledFrom([]string{`"tcp"`, `"TCP"`, `"6"`, `6`}).Draw(t, "protocol")
		number := rapid.SampledFrom([]string{`443`, `"443"`, `443.0`}).Draw(t, "port")
		none := rapid.SampledFrom([]string{``, `,"remote_group_id":null,"description":""`}).Draw(t, "none")
		o = read(t, rule, `{"id":"r","protocol":`+protocol+`,"port_range_min":`+number+none+`}`)
		if got := text(o.Value); got != `{"port_range_min":443,"protocol":"tcp"}` {
			t.Fatalf("got %s", got)
		}
	})
}

// TestSchemas tests that the notations of a value, and those that users write, are equal.
func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := normalize.Schemas()
	for reason, tc := range map[string]struct {
		kind, declared, live string
		same                 bool
	}{
		"an address in another notation":    {normalize.Subnet, `{"cidr":"2001:DB8:0::/64"}`, `{"cidr":"2001:db8::/64"}`, true},
		"another address":                   {normalize.Subnet, `{"gateway_ip":"10.0.0.1"}`, `{"gateway_ip":"10.0.0.254"}`, false},
		"pools in another order":            {normalize.Subnet, `{"allocation_pools":[{"start":"10.0.0.2","end":"10.0.0.9"},{"start":"10.0.0.20","end":"10.0.0.29"}]}`, `{"allocation_pools":[{"start":"10.0.0.20","end":"10.0.0.29"},{"start":"10.0.0.2","end":"10.0.0.9"}]}`, true},
		"routes in another order":           {normalize.Router, `{"routes":[{"destination":"a","nexthop":"b"},{"destination":"c","nexthop":"d"}]}`, `{"routes":[{"destination":"c","nexthop":"d"},{"destination":"a","nexthop":"b"}]}`, true},
		"another next hop":                  {normalize.Router, `{"routes":[{"destination":"a","nexthop":"b"}]}`, `{"routes":[{"destination":"a","nexthop":"c"}]}`, false},
		"servers of names in another order": {normalize.Subnet, `{"dns_nameservers":["9.9.9.9","1.1.1.1"]}`, `{"dns_nameservers":["1.1.1.1","9.9.9.9"]}`, false},
		"a MAC address in capitals":         {normalize.Port, `{"mac_address":"FA:16:3E:00:00:01"}`, `{"mac_address":"fa:16:3e:00:00:01"}`, true},
		"groups in another order":           {normalize.Port, `{"security_groups":["b","a"]}`, `{"security_groups":["a","b"]}`, true},
		"a boolean as text":                 {normalize.Server, `{"config_drive":"true"}`, `{"config_drive":true}`, true},
		"an interface in another network":   {normalize.Server, `{"interfaces":[{"network":"a"}]}`, `{"interfaces":[{"network":"b"}]}`, false},
		"tags in another order":             {normalize.Image, `{"tags":["b","a"]}`, `{"tags":["a","b"]}`, true},
		"an empty entry of metadata":        {normalize.Server, `{"metadata":{"a":""}}`, `{"metadata":{"b":""}}`, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := diff.Equal(schemas[tc.kind].Schema, parse(t, tc.declared), parse(t, tc.live)); got != tc.same {
				t.Errorf("%s and %s are the same: %t", tc.declared, tc.live, got)
			}
		})
	}
}
