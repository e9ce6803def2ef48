package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

func TestSeverities(t *testing.T) {
	t.Parallel()
	schemas := normalize.Schemas()
	for reason, tc := range map[string]struct {
		kind, live string
		verdict    model.Verdict
		path       string
		want       model.Severity
		why        string
	}{
		"a rule that lets anybody in":       {normalize.SecurityGroupRule, `{"open_to":"anybody"}`, model.Unmanaged, "", model.Critical, "open to the world"},
		"a rule for the world's pings":      {normalize.SecurityGroupRule, `{"open_to":"anybody by icmp"}`, model.Unmanaged, "", model.High, "answers the world's control messages"},
		"a group for the world's pings":     {normalize.SecurityGroup, `{"open_to":"anybody by icmp"}`, model.Unmanaged, "", model.High, "answers the world's control messages"},
		"an open rule's description":        {normalize.SecurityGroupRule, `{"open_to":"anybody"}`, model.Changed, "description", model.Low, "a label"},
		"a rule that lets some in":          {normalize.SecurityGroupRule, `{"remote_ip_prefix":"10.0.0.0/8"}`, model.Unmanaged, "", model.Medium, "decides who can reach whom"},
		"a rule that became open":           {normalize.SecurityGroupRule, `{"open_to":"anybody"}`, model.Changed, "remote_ip_prefix", model.Critical, "open to the world"},
		"a rule with another description":   {normalize.SecurityGroupRule, `{}`, model.Changed, "description", model.Low, "a label"},
		"a rule that is gone":               {normalize.SecurityGroupRule, ``, model.Missing, "", model.High, ""},
		"a group that lets anybody in":      {normalize.SecurityGroup, `{"open":["tcp 22 from 0.0.0.0/0"],"open_to":"anybody"}`, model.Unmanaged, "", model.Critical, "open to the world"},
		"a group that is shut":              {normalize.SecurityGroup, `{}`, model.Unmanaged, "", model.Low, ""},
		"an open group with another name":   {normalize.SecurityGroup, `{"open_to":"anybody"}`, model.Changed, "name", model.Low, "a label"},
		"a port without filters":            {normalize.Port, `{"port_security_enabled":false}`, model.Changed, "port_security_enabled", model.High, "nothing filters what it sends and receives"},
		"a port with filters":               {normalize.Port, `{"port_security_enabled":true}`, model.Changed, "port_security_enabled", model.Medium, ""},
		"an unknown port without filters":   {normalize.Port, `{"port_security_enabled":false}`, model.Unmanaged, "", model.High, "nothing filters what it sends and receives"},
		"a router plugged in":               {normalize.Port, `{"port_security_enabled":false,"device_owner":"network:router_interface"}`, model.Unmanaged, "", model.Medium, "decides where packets go"},
		"an unknown port":                   {normalize.Port, `{"port_security_enabled":true}`, model.Unmanaged, "", model.Low, ""},
		"a group taken from a port":         {normalize.Port, `{}`, model.Changed, "security_groups", model.High, "decides who can reach it"},
		"an address that a port may take":   {normalize.Port, `{}`, model.Undeclared, "allowed_address_pairs[0].ip_address", model.High, "decides which addresses it may take"},
		"a server in error":                 {normalize.Server, `{"vm_state":"error"}`, model.Changed, "vm_state", model.High, "the server is in error"},
		"a server that was stopped":         {normalize.Server, `{"vm_state":"stopped"}`, model.Changed, "vm_state", model.Medium, ""},
		"a group taken from a server":       {normalize.Server, `{}`, model.Changed, "security_groups", model.High, "decides who can reach it"},
		"a server plugged in elsewhere":     {normalize.Server, `{}`, model.Changed, "interfaces[1].network", model.Medium, "decides which networks it is in"},
		"a server with another description": {normalize.Server, `{}`, model.Changed, "description", model.Low, "a label"},
		"a server with other metadata":      {normalize.Server, `{}`, model.Changed, "metadata.role", model.Medium, ""},
		"an image that was opened":          {normalize.Image, `{"visibility":"community"}`, model.Changed, "visibility", model.High, "every project can use it"},
		"an image that was closed":          {normalize.Image, `{"visibility":"private"}`, model.Changed, "visibility", model.Medium, ""},
		"an unknown public image":           {normalize.Image, `{"visibility":"public"}`, model.Unmanaged, "", model.High, "every project can use it"},
		"another name of a public image":    {normalize.Image, `{"visibility":"public"}`, model.Changed, "name", model.Medium, ""},
		"an unknown image":                  {normalize.Image, `{"visibility":"shared"}`, model.Unmanaged, "", model.Low, ""},
		"a network for everybody":           {normalize.Network, `{"shared":true}`, model.Changed, "shared", model.High, "every project can use it"},
		"a network whose ports are open":    {normalize.Network, `{"port_security_enabled":false}`, model.Changed, "port_security_enabled", model.High, "nothing filters its new ports"},
		"an unknown network":                {normalize.Network, `{"shared":false}`, model.Unmanaged, "", model.Low, ""},
		"another way out":                   {normalize.Router, `{}`, model.Changed, "external_gateway_info.network_id", model.High, "decides where packets go"},
		"an address of the outside":         {normalize.FloatingIP, `{}`, model.Unmanaged, "", model.High, "decides what is reached from outside"},
		"an address that leads elsewhere":   {normalize.FloatingIP, `{}`, model.Changed, "port_id", model.High, "decides what is reached from outside"},
		"another key":                       {normalize.Keypair, `{}`, model.Changed, "public_key", model.High, "decides who can log in"},
		"an unknown key":                    {normalize.Keypair, `{}`, model.Unmanaged, "", model.Medium, "decides who can log in"},
		"other servers of names":            {normalize.Subnet, `{}`, model.Changed, "dns_nameservers", model.Medium, "decides who answers for names"},
		"another gateway":                   {normalize.Subnet, `{}`, model.Changed, "gateway_ip", model.High, "decides where packets go"},
		"a flavor for everybody":            {normalize.Flavor, `{"is_public":true}`, model.Changed, "is_public", model.High, "every project can use it"},
		"a volume that is plugged in":       {normalize.Volume, `{}`, model.Changed, "attachments", model.High, "decides who reads and writes it"},
		"a server group":                    {normalize.ServerGroup, `{}`, model.Changed, "policies", model.Medium, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Key: model.Key{Source: "cloud", Kind: tc.kind, ID: "x"}, Kind: schemas[tc.kind]}
			if tc.live != "" {
				s.Live = &model.Resource{Key: s.Key, Value: parse(t, tc.live)}
			}
			out := model.Outcome{Verdict: tc.verdict}
			if tc.path != "" {
				out.Changes = []model.Change{{Path: tc.path}}
			}
			f := classify.Findings(classify.Input{Judged: []model.Judged{{Subject: s, Outcomes: []model.Outcome{out}}}}).Current[0]
			if f.Severity != tc.want || f.Reason != tc.why {
				t.Errorf("%s because %q, want %s because %q", f.Severity, f.Reason, tc.want, tc.why)
			}
		})
	}
}
