package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// FuzzObject normalizes an arbitrary row as every kind, twice, and joins the objects with
// each other.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","name":{"x":[1]},"security_groups":[{"name":"a"},"b",null,{}],"flavor":"1","image":[],"metadata":[1],"tags":{"a":1},"created":7}`,
		`{"id":"a","keypair":{"name":"k","public_key":[]},"members":[1,"a",null],"policies":"x","device_id":"a","device_owner":"compute:"}`,
		`{"id":"a","fixed_ips":{"ip_address":1},"allowed_address_pairs":[[],"x",{"mac_address":1}],"mac_address":[1],"external_gateway_info":"x","routes":[null]}`,
		`{"id":"a","direction":"ingress","security_group_id":"a","remote_ip_prefix":"::/00","protocol":6.0,"port_range_min":[],"created_at":"x","attachments":[{"server_id":"a"},1]}`,
		`{"id":"a","status":"BUILD","os_glance_x":1,"properties":{"properties":{}},"remote_ip_prefix":1,"swap":""}`,
	} {
		f.Add([]byte(seed))
	}
	kinds := normalize.Kinds()
	f.Fuzz(func(t *testing.T, data []byte) {
		row, err := decode.JSON(data)
		if err != nil {
			return
		}
		e := &normalize.Estate{Project: "p", User: "u", Objects: map[string][]normalize.Object{}}
		for _, k := range kinds {
			o, err := normalize.New().Object(k, row)
			again, errAgain := normalize.New().Object(k, row)
			if (err == nil) != (errAgain == nil) || !o.Value.Equal(again.Value) {
				t.Fatalf("%s read twice: %s, %s", k.Name, text(o.Value), text(again.Value))
			}
			if err == nil {
				e.Objects[k.Name] = []normalize.Object{o}
				hasNoBlank(t, k.Name, o.Value)
			}
		}
		resources, unread := e.Resources("cloud")
		if len(resources)+len(unread) != len(e.Objects) {
			t.Fatalf("%d objects made %d resources, and %d that were not read", len(e.Objects), len(resources), len(unread))
		}
	})
}

// hasNoBlank reports whether no field of an object is blank.
func hasNoBlank(t *testing.T, kind string, v model.Value) {
	t.Helper()
	for _, field := range v.Fields() {
		if k := field.Value.Kind(); k != model.Bool && k != model.Number && field.Value.IsEmpty() {
			t.Errorf("%s: %s is blank", kind, field.Name)
		}
	}
}
