package normalize_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// TestWrittenByMatches compares the values that entries left with objects, in the forms of the
// changelog and of the API.
func TestWrittenByMatches(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind  string
		before, after string
		live          string
		// want are the fields that the entry wrote, with whether it left the live value.
		want string
	}{
		{"a number as a text", "virtualization.virtualmachine", `null`, `{"vcpus":"2.50"}`, `{"vcpus":2.5}`, "vcpus true"},
		{"a size in GB", "virtualization.virtualmachine", `null`, `{"disk":20}`, `{"disk":20000}`, "disk true"},
		{"another size", "virtualization.virtualmachine", `null`, `{"disk":20}`, `{"disk":30000}`, "disk false"},
		{"only what differs", "virtualization.virtualmachine", `{"memory":1,"vcpus":"1.00"}`, `{"memory":2,"vcpus":"1.00"}`, `{"memory":2,"vcpus":3}`, "memory true"},
		{"nothing as null, as a text and as none", "virtualization.virtualmachine", `null`, `{"serial":"","tenant":null}`, `{}`, "serial true; tenant true"},
		{"the model of a scope is a number there", "ipam.prefix", `null`, `{"scope_type":4,"scope_id":1}`, `{"scope_type":"dcim.site","scope_id":2}`, "scope_id false"},
		{"a reference whose name ends so", "dcim.device", `null`, `{"device_type":1}`, `{"device_type":2}`, "device_type false"},
		{"tags of a config context are slugs", "extras.configcontext", `null`, `{"tags":["My Tag"]}`, `{"tags":["my-tag"]}`, "tags true"},
		{"other tags", "extras.configcontext", `null`, `{"tags":["My Tag"]}`, `{"tags":["my-tag","b"]}`, "tags false"},
		{"models as numbers cannot be compared", "extras.customfield", `null`, `{"object_types":[1,2]}`, `{"object_types":["dcim.site"]}`, "object_types true"},
		{"a list as a text cannot be compared", "ipam.service", `null`, `{"ports":"[443]"}`, `{"ports":[80]}`, "ports true"},
		{"an address in capitals", "ipam.ipaddress", `null`, `{"address":"2001:DB8::1/64"}`, `{"address":"2001:db8::1/64"}`, "address true"},
		{"a tree", "extras.configcontext", `null`, `{"data":{"b":1,"a":[2]}}`, `{"data":{"a":[2],"b":1}}`, "data true"},
		{"a secret", "wireless.wirelesslan", `null`, `{"auth_psk":"hunter2"}`, `{}`, ""},
		{"an address with a password", "extras.webhook", `null`, `{"payload_url":"https://u:p@x"}`, `{}`, ""},
		{"a field that is not read", "virtualization.virtualmachine", `null`, `{"interface_count":1}`, `{}`, ""},
		{"custom fields", "virtualization.virtualmachine", `{"custom_fields":{"a":1,"b":1}}`, `{"custom_fields":{"a":2,"b":1,"my field":true}}`,
			`{"custom_fields":{"a":2,"my field":false}}`, `custom_fields.a true; custom_fields["my field"] false`},
	} {
		k := kindOf(t, tc.kind)
		got := ""
		for i, w := range normalize.WrittenBy(k, normalize.Entry{Before: parse(t, tc.before), After: parse(t, tc.after)}) {
			if i > 0 {
				got += "; "
			}
			got += fmt.Sprint(w.Path, " ", w.Matches(parse(t, tc.live)))
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestCopiedValues tests the values that objects copy to the objects below them.
func TestCopiedValues(t *testing.T) {
	t.Parallel()
	find := func(kind string, id model.Value) model.Value {
		if kind == "netbox/dcim.location" && id.Text() == "7" {
			return parse(t, `{"site":5}`)
		}
		return model.Value{}
	}
	for _, tc := range []struct{ reason, kind, field, parent, want string }{
		{"the scope is a site", "virtualization.virtualmachine", "site", `{"scope_type":"dcim.site","scope_id":3}`, "3"},
		{"the scope is a location", "virtualization.virtualmachine", "site", `{"scope_type":"dcim.location","scope_id":7}`, "5"},
		{"the scope is a location that was not seen", "virtualization.virtualmachine", "site", `{"scope_type":"dcim.location","scope_id":8}`, "null"},
		{"the scope is a region", "virtualization.virtualmachine", "site", `{"scope_type":"dcim.region","scope_id":3}`, "null"},
		{"there is no scope", "virtualization.virtualmachine", "site", `{}`, "null"},
		{"a rack's location", "dcim.device", "location", `{"site":1,"location":2}`, "2"},
		{"a location's site", "dcim.rack", "site", `{"site":1}`, "1"},
	} {
		for _, c := range normalize.CopiedFields() {
			if c.Kind != normalize.Type+"/"+tc.kind || c.Field != tc.field {
				continue
			}
			if got := string(c.Value(parse(t, tc.parent), find).AppendJSON(nil)); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		}
	}
}
