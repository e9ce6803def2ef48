package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// sent returns a notification as services send it.
func sent(t testing.TB, event, payload string) []byte {
	t.Helper()
	inner := fmt.Sprintf(`{"message_id": "m-1", "publisher_id": "network.host", "event_type": %q, "priority": "INFO", "payload": %s,
		"timestamp": "2026-11-22 02:40:00.123456", "_unique_id": "u", "_context_user_id": "u-mallory", "_context_user_name": "mallory",
		"_context_request_id": "req-1", "_context_global_request_id": null, "_context_auth_token": "gAAAA-token"}`, event, payload)
	return enveloped(t, inner)
}

func enveloped(t testing.TB, inner string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]string{"oslo.version": "2.0", "oslo.message": inner})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// audited returns the payload of an audit event.
func audited(path, action, outcome string) string {
	return fmt.Sprintf(`{"typeURI": "http://schemas.dmtf.org/cloud/audit/1.0/event", "eventType": "activity", "id": "ev-1", "eventTime": "2026-11-22T02:40:00.1+0000",
		"action": %q, "outcome": %q, "requestPath": %q, "reason": {"reasonType": "HTTP", "reasonCode": "200"},
		"initiator": {"typeURI": "service/security/account/user", "id": "u-bob", "name": "bob", "project_id": "p", "request_id": "req-7",
			"credential": {"token": "gAAA***", "identity_status": "Confirmed"}}, "target": {"id": "nova"}}`, action, outcome, path)
}

const audit = "audit.http.response"

type done struct {
	Kind, ID string
	Action   model.Action
	Fields   string
	Broad    bool
}

func acted(events []Event) []done {
	var all []done
	for _, a := range events {
		all = append(all, done{a.Kind, a.ID, a.Action, strings.Join(a.Fields, " "), a.Broad})
	}
	return all
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for reason, test := range decoded() {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			events, pending, err := NewDecoder().Decode(sent(t, test.event, test.payload))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, acted(events)); diff != "" || pending != test.pending {
				t.Errorf("pending %t, events (-want +got):\n%s", pending, diff)
			}
		})
	}
}

type decoding struct {
	event, payload string
	want           []done
	pending        bool
}

func decoded() map[string]decoding {
	all := map[string]decoding{}
	for _, table := range []map[string]decoding{decodedOfNeutron(), decodedOfNova(), decodedOfAudit()} {
		for reason, test := range table {
			all[reason] = test
		}
	}
	return all
}

func decodedOfNeutron() map[string]decoding {
	return map[string]decoding{
		"a rule was made by hand": {event: "security_group_rule.create.end", payload: `{"security_group_rule": {"id": "r-1", "direction": "ingress"}}`,
			want: []done{{Kind: normalize.SecurityGroupRule, ID: "r-1", Action: model.Created}}},
		"several networks at once": {event: "network.create.end", payload: `{"networks": [{"id": "n-1", "subnets": []}, {"id": "n-2"}]}`,
			want: []done{{Kind: normalize.Network, ID: "n-1", Action: model.Created}, {Kind: normalize.Network, ID: "n-2", Action: model.Created}}},
		"a group goes with its rules": {event: "security_group.delete.end",
			payload: `{"security_group_id": "g-1", "security_group": {"id": "g-1", "security_group_rules": [{"id": "r-1"}, {"id": "r-2"}]}}`,
			want: []done{{Kind: normalize.SecurityGroup, ID: "g-1", Action: model.Deleted}, {Kind: normalize.SecurityGroupRule, ID: "r-1", Action: model.Deleted},
				{Kind: normalize.SecurityGroupRule, ID: "r-2", Action: model.Deleted}}},
		"a network goes with its subnets": {event: "network.delete.end", payload: `{"network_id": "n-1", "network": {"id": "n-1", "subnets": ["s-1"]}}`,
			want: []done{{Kind: normalize.Network, ID: "n-1", Action: model.Deleted}, {Kind: normalize.Subnet, ID: "s-1", Action: model.Deleted}}},
		"an older Neutron sends only the id": {event: "router.delete.end", payload: `{"router_id": "ro-1"}`,
			want: []done{{Kind: normalize.Router, ID: "ro-1", Action: model.Deleted}}},
		"an update begins": {event: "router.update.start", payload: `{"router": {"router:external": true, "description": "x", "Admin_State_Up": false}, "id": "ro-1"}`,
			want: []done{{Kind: normalize.Router, ID: "ro-1", Fields: "admin_state_up description external"}}, pending: true},
		"a floating IP moves": {event: "floatingip.update.start", payload: `{"floatingip": {"port_id": "po-1", "fixed_ip_address": "10.0.0.5"}, "id": "f-1"}`,
			want: []done{{Kind: normalize.FloatingIP, ID: "f-1", Fields: "device_id fixed_ip_address port_id"}}, pending: true},
		"an update ends":                {event: "router.update.end", payload: `{"router": {"id": "ro-1", "name": "r"}}`, want: []done{{Kind: normalize.Router, ID: "ro-1"}}},
		"a creation begins":             {event: "router.create.start", payload: `{"router": {"name": "r"}}`},
		"tags of a group":               {event: "tag.update.end", payload: `{"parent_resource": "security_groups", "parent_resource_id": "g-1", "tags": ["a"]}`, want: []done{{Kind: normalize.SecurityGroup, ID: "g-1", Fields: "tags"}}},
		"tags by the name in addresses": {event: "tag.delete_all.end", payload: `{"parent_resource": "security-groups", "parent_resource_id": "g-1"}`, want: []done{{Kind: normalize.SecurityGroup, ID: "g-1", Fields: "tags"}}},
		"tags of a trunk":               {event: "tag.create.end", payload: `{"parent_resource": "trunks", "parent_resource_id": "t-1"}`},
		"a router gets an interface":    {event: "router.interface.create", payload: `{"router_interface": {"id": "ro-1", "port_id": "po-1", "subnet_id": "s"}}`, want: []done{{Kind: normalize.Port, ID: "po-1", Action: model.Created}}},
		"a server's port is deleted": {event: "port.delete.end", payload: `{"port_id": "po-1", "port": {"id": "po-1", "device_owner": "compute:nova", "device_id": "srv-1"}}`,
			want: []done{{Kind: normalize.Port, ID: "po-1", Action: model.Deleted}, {Kind: normalize.Server, ID: "srv-1", Fields: "interfaces"}}},
		"what driftd does not read": {event: "qos_policy.create.end", payload: `{"policy": {"id": "q"}}`},
		"a payload of another form": {event: "port.create.end", payload: `[1, 2]`},
	}
}

func decodedOfNova() map[string]decoding {
	server := func(action model.Action, fields string) []done {
		return []done{{Kind: normalize.Server, ID: "srv-1", Action: action, Fields: fields}}
	}
	return map[string]decoding{
		"a server was made":         {event: "compute.instance.create.end", payload: `{"instance_id": "srv-1", "tenant_id": "p"}`, want: server(model.Created, "")},
		"a server is being made":    {event: "compute.instance.create.start", payload: `{"instance_id": "srv-1"}`},
		"a versioned deletion":      {event: "instance.delete.end", payload: `{"nova_object.name": "InstanceActionPayload", "nova_object.data": {"uuid": "srv-1"}}`, want: server(model.Deleted, "")},
		"a stop":                    {event: "compute.instance.power_off.end", payload: `{"instance_id": "srv-1"}`, want: server(model.Edited, "vm_state")},
		"a versioned resize":        {event: "instance.resize_finish.end", payload: `{"nova_object.data": {"uuid": "srv-1"}}`, want: server(model.Edited, "flavor flavor_name vm_state")},
		"a volume is attached":      {event: "instance.volume_attach.end", payload: `{"nova_object.data": {"uuid": "srv-1", "volume_id": "v"}}`, want: server(model.Edited, "volumes")},
		"a new name":                {event: "compute.instance.update", payload: `{"instance_id": "srv-1", "old_display_name": "web", "display_name": "www", "state": "active", "old_state": "active"}`, want: server(model.Edited, "name")},
		"a versioned state":         {event: "instance.update", payload: `{"nova_object.data": {"uuid": "srv-1", "state_update": {"nova_object.data": {"old_state": "active", "state": "stopped"}}}}`, want: server(model.Edited, "vm_state")},
		"a server that comes to be": {event: "compute.instance.update", payload: `{"instance_id": "srv-1", "state": "active", "old_state": "building"}`},
		"an update without a change": {event: "compute.instance.update",
			payload: `{"instance_id": "srv-1", "state": "active", "old_state": "active", "metadata": {"role": "db"}}`},
		"a flavor":       {event: "flavor.update", payload: `{"nova_object.data": {"flavorid": "42"}}`, want: []done{{Kind: normalize.Flavor, ID: "42"}}},
		"a keypair":      {event: "keypair.import.end", payload: `{"key_name": "k", "user_id": "u-mallory"}`, want: []done{{Kind: normalize.Keypair, ID: "k", Action: model.Created}}},
		"a server group": {event: "server_group.delete", payload: `{"nova_object.data": {"uuid": "sg-1"}}`, want: []done{{Kind: normalize.ServerGroup, ID: "sg-1", Action: model.Deleted}}},
		"a volume":       {event: "volume.resize.end", payload: `{"volume_id": "v-1", "size": 2}`, want: []done{{Kind: normalize.Volume, ID: "v-1", Fields: "size"}}},
	}
}

func decodedOfAudit() map[string]decoding {
	server := func(fields string, broad bool) []done {
		return []done{{Kind: normalize.Server, ID: "srv-1", Fields: fields, Broad: broad}}
	}
	return map[string]decoding{
		"metadata":                 {event: audit, payload: audited("/v2.1/servers/srv-1/metadata", "create", "success"), want: server("metadata", false)},
		"metadata of one name":     {event: audit, payload: audited("/v2.1/servers/srv-1/metadata/role", "update", "success"), want: server("metadata.role", false)},
		"metadata of a long name":  {event: audit, payload: audited("/compute/v2.1/servers/srv-1/metadata/a%20b.c", "delete", "success"), want: server(`metadata["a b.c"]`, false)},
		"metadata that was read":   {event: audit, payload: audited("/v2.1/servers/srv-1/metadata", "read/list", "success")},
		"a refused request":        {event: audit, payload: audited("/v2.1/servers/srv-1/metadata", "create", "failure")},
		"a request under way":      {event: "audit.http.request", payload: audited("/v2.1/servers/srv-1/metadata", "create", "pending")},
		"an action":                {event: audit, payload: audited("/v2.1/p/servers/srv-1/action", "update/os-stop", "success"), want: server("vm_state", false)},
		"an action of no interest": {event: audit, payload: audited("/v2.1/servers/srv-1/action", "update/os-getConsoleOutput", "success")},
		"a forced deletion":        {event: audit, payload: audited("/v2.1/servers/srv-1/action", "update/forceDelete", "success"), want: []done{{Kind: normalize.Server, ID: "srv-1", Action: model.Deleted}}},
		"the server itself":        {event: audit, payload: audited("/v2.1/servers/srv-1", "update", "success"), want: server("access_ipv4 access_ipv6 description name", true)},
		"a deleted server":         {event: audit, payload: audited("/v2.1/servers/srv-1", "delete", "success"), want: []done{{Kind: normalize.Server, ID: "srv-1", Action: model.Deleted}}},
		"a made image":             {event: audit, payload: audited("/v2/images", "create", "success"), want: []done{{Kind: normalize.Image, Action: model.Created}}},
		"a list":                   {event: audit, payload: audited("/v2.1/servers/detail", "read/list", "success")},
		"an image":                 {event: audit, payload: audited("/v2/images/i-1", "update", "success"), want: []done{{Kind: normalize.Image, ID: "i-1", Broad: true}}},
		"an image's members":       {event: audit, payload: audited("/v2/images/i-1/members", "create", "success"), want: []done{{Kind: normalize.Image, ID: "i-1", Fields: "members"}}},
		"a volume's size":          {event: audit, payload: audited("/v3/p-1/volumes/v-1/action", "update/os-extend", "success"), want: []done{{Kind: normalize.Volume, ID: "v-1", Fields: "size"}}},
		"another user's keypair":   {event: audit, payload: audited("/v2.1/os-keypairs/k?user_id=u-2", "delete", "success"), want: []done{{Kind: normalize.Keypair, ID: "k", Action: model.Deleted}}},
		"no path":                  {event: audit, payload: audited("%zz", "delete", "success")},
	}
}

func TestDecodeUserAndTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 2, 40, 0, 123456000, time.UTC)
	tests := map[string]struct {
		message []byte
		want    []Event
	}{
		"in its envelope": {sent(t, "router.delete.end", `{"router_id": "ro-1"}`), []Event{{Ref: model.Ref{Kind: normalize.Router, ID: "ro-1"}, Action: model.Deleted, At: at,
			UserID: "u-mallory", User: "mallory", Request: "req-1", Via: Via, Evidence: "router.delete.end m-1"}}},
		"without one, on behalf of another request, with a newer form of time": {
			[]byte(`{"event_type": "router.delete.end", "payload": {"router_id": "ro-1"}, "timestamp": "2026-11-22T02:40:00.123456Z", "message_id": "m-2",
				"_context_user": "u-1", "_context_request_id": "req-1", "_context_global_request_id": "req-0"}`),
			[]Event{{Ref: model.Ref{Kind: normalize.Router, ID: "ro-1"}, Action: model.Deleted, At: at, UserID: "u-1", Request: "req-1", Origin: "req-0", Via: Via, Evidence: "router.delete.end m-2"}}},
		"versioned, with the user in its payload": {
			[]byte(`{"event_type": "instance.delete.end", "timestamp": "2026-11-22 02:40:00.123456", "message_id": "m-3",
				"payload": {"nova_object.data": {"uuid": "srv-1", "action_initiator_user": "u-1", "request_id": "req-3"}}}`),
			[]Event{{Ref: model.Ref{Kind: normalize.Server, ID: "srv-1"}, Action: model.Deleted, At: at, UserID: "u-1", Request: "req-3", Via: Via, Evidence: "instance.delete.end m-3"}}},
		"the audit filter names another than its own context": {sent(t, audit, audited("/v2.1/servers/srv-1", "delete", "success")),
			[]Event{{Ref: model.Ref{Kind: normalize.Server, ID: "srv-1"}, Action: model.Deleted, At: at, UserID: "u-bob", User: "bob", Request: "req-7", Via: Via, Evidence: "audit.http.response ev-1"}}},
		"no user": {[]byte(`{"event_type": "router.delete.end", "payload": {"router_id": "ro-1"}, "timestamp": "2026-11-22 02:40:00"}`), nil},
		"no time": {[]byte(`{"event_type": "router.delete.end", "payload": {"router_id": "ro-1"}, "_context_user": "u-1"}`), nil},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			events, _, err := NewDecoder().Decode(test.message)
			if err != nil {
				t.Fatal(err)
			}
			for i := range events {
				events[i].Fields = nil
			}
			if diff := cmp.Diff(test.want, events); len(events)+len(test.want) > 0 && diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for reason, message := range map[string]string{
		"no JSON":        `secret`,
		"no event":       `{"payload": {}}`,
		"a broken inner": `{"oslo.message": "{secret"}`,
		"a list":         `["secret"]`,
		"too much":       `{"event_type": "x", "payload": "secret` + strings.Repeat("x", maxNotification) + `"}`,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if _, _, err := NewDecoder().Decode([]byte(message)); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want one that shows nothing of the message", err)
			}
		})
	}
}

// TestDecodeWithinBounds decodes notifications with more fields than an object has, and with
// times that JSON cannot represent.
func TestDecodeWithinBounds(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range maxFields {
		many += fmt.Sprintf(`"f%d": 1, `, i)
	}
	const head = `{"message_id": "m", "_context_user_id": "u", "event_type": `
	for reason, message := range map[string]string{
		"many fields": head + `"port.update.start", "timestamp": "2026-11-22 02:00:00", "payload": {"id": "p", "port": {` + many + `"name": 1}}}`,
		"a long field": head + `"audit.http.response", "timestamp": "2026-11-22 02:00:00", "payload": {"outcome": "success", "action": "update/set", "initiator": {"id": "u"}, ` +
			`"requestPath": "/v2.1/servers/s/metadata/` + strings.Repeat("k", maxID) + `"}}`,
	} {
		events, _, err := NewDecoder().Decode([]byte(message))
		if err != nil || len(events) != 1 || events[0].Fields != nil || !events[0].Uncertain() {
			t.Errorf("%s: %d events, error %v; want one that may have changed any field", reason, len(events), err)
		}
	}
	for _, at := range []string{"9999-12-31T23:59:59-23:00", "0000-01-01T00:00:00+23:00"} {
		events, _, err := NewDecoder().Decode([]byte(head + `"router.create.end", "timestamp": "` + at + `", "payload": {"router": {"id": "r"}}}`))
		if err != nil || len(events) != 0 {
			t.Errorf("at %s: %+v, error %v; want nothing", at, events, err)
		}
		events, _, err = NewDecoder().Decode([]byte(head + `"audit.http.response", "timestamp": "2026-11-22 02:00:00", "payload": {"outcome": "success", "action": "create", ` +
			`"initiator": {"id": "u"}, "requestPath": "/v2.1/servers", "eventTime": "` + at + `"}}`))
		if err != nil || len(events) != 0 {
			t.Errorf("begun at %s: %+v, error %v; want nothing", at, events, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, test := range decoded() {
		f.Add(sent(f, test.event, test.payload))
	}
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, message []byte) {
		events, _, err := d.Decode(message)
		for _, a := range events {
			if err != nil || a.ID == "" && a.Began.IsZero() || len(a.ID) > maxID || a.Kind == "" || a.At.IsZero() || len(a.Fields) > maxFields || a.UserID == "" && a.User == "" {
				t.Errorf("an incomplete event, or one with an error (%v): %+v", err, a)
			}
		}
	})
}
