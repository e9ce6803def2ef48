package terraform

import (
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

func TestSeverities(t *testing.T) {
	t.Parallel()
	const critical, high, medium = model.Critical, model.High, model.Medium
	for reason, tc := range map[string]struct {
		typ, declared, live string // live is "" for a resource that is gone
		want                model.Severity
	}{
		"another open rule of a group": {"aws_security_group", `{"ingress":[{"protocol":"tcp","from_port":80,"cidr_blocks":["0.0.0.0/0"]}]}`,
			`{"ingress":[{"protocol":"tcp","from_port":80,"cidr_blocks":["0.0.0.0/0"]},{"protocol":"tcp","from_port":22,"ipv6_cidr_blocks":["::/0"]}]}`, critical},
		"another rule of an open group": {"aws_security_group", `{"ingress":[{"protocol":"tcp","from_port":80,"cidr_blocks":["0.0.0.0/0"]}]}`,
			`{"ingress":[{"protocol":"tcp","from_port":80,"cidr_blocks":["0.0.0.0/0"]},{"protocol":"tcp","from_port":22,"cidr_blocks":["10.0.0.0/8"]}]}`, medium},
		"a rule less in an open group": {"aws_security_group", `{"ingress":[{"protocol":"tcp","cidr_blocks":["0.0.0.0/0"]},{"protocol":"udp","cidr_blocks":["10.0.0.0/8"]}]}`,
			`{"ingress":[{"protocol":"tcp","cidr_blocks":["0.0.0.0/0"]}]}`, medium},
		"pings":   {"aws_security_group", `{"ingress":[]}`, `{"ingress":[{"protocol":"icmp","cidr_blocks":["0.0.0.0/0"]}]}`, medium},
		"egress":  {"aws_security_group", `{"egress":[]}`, `{"egress":[{"protocol":"tcp","cidr_blocks":["0.0.0.0/0"]}]}`, medium},
		"opened":  {"aws_vpc_security_group_ingress_rule", `{"ip_protocol":"tcp","cidr_ipv4":"10.0.0.0/8"}`, `{"ip_protocol":"tcp","cidr_ipv4":"0.0.0.0/0"}`, critical},
		"closed":  {"aws_vpc_security_group_ingress_rule", `{"ip_protocol":"tcp","cidr_ipv4":"0.0.0.0/0"}`, `{"ip_protocol":"tcp","cidr_ipv4":"10.0.0.0/8"}`, medium},
		"a port":  {"aws_security_group_rule", `{"type":"ingress","protocol":"tcp","from_port":80,"cidr_blocks":["0.0.0.0/0"]}`, `{"type":"ingress","protocol":"tcp","from_port":22,"cidr_blocks":["0.0.0.0/0"]}`, critical},
		"a note":  {"aws_security_group_rule", `{"type":"ingress","description":"a","cidr_blocks":["0.0.0.0/0"]}`, `{"type":"ingress","description":"b","cidr_blocks":["0.0.0.0/0"]}`, medium},
		"of out":  {"aws_security_group_rule", `{"type":"egress","cidr_blocks":["10.0.0.0/8"]}`, `{"type":"egress","cidr_blocks":["0.0.0.0/0"]}`, medium},
		"Google":  {"google_compute_firewall", `{"allow":[{"protocol":"tcp"}],"source_ranges":["10.0.0.0/8"]}`, `{"allow":[{"protocol":"tcp"}],"source_ranges":["10.0.0.0/8","0.0.0.0/0"]}`, critical},
		"Azure":   {"azurerm_network_security_rule", `{"direction":"Inbound","access":"Allow","source_address_prefix":"10.0.0.0/8"}`, `{"direction":"Inbound","access":"Allow","source_address_prefix":"*"}`, critical},
		"denied":  {"azurerm_network_security_rule", `{"direction":"Inbound","access":"Deny","source_address_prefix":"10.0.0.0/8"}`, `{"direction":"Inbound","access":"Deny","source_address_prefix":"*"}`, medium},
		"Hetzner": {"hcloud_firewall", `{"rule":[{"direction":"in","protocol":"tcp","source_ips":["10.0.0.0/8"]}]}`, `{"rule":[{"direction":"in","protocol":"tcp","source_ips":["10.0.0.0/8","::/0"]}]}`, critical},
		"a source removed": {"openstack_networking_secgroup_rule_v2", `{"direction":"ingress","protocol":"tcp","remote_ip_prefix":"10.0.0.0/8"}`,
			`{"direction":"ingress","protocol":"tcp"}`, critical},
		"a member":       {"google_storage_bucket_iam_binding", `{"members":["user:ann"]}`, `{"members":["user:ann","allUsers"]}`, critical},
		"a policy":       {"aws_iam_role_policy_attachment", `{"policy_arn":"arn:aws:iam::aws:policy/ReadOnlyAccess"}`, `{"policy_arn":"arn:aws:iam::aws:policy/AdministratorAccess"}`, critical},
		"a switch":       {"aws_s3_bucket_public_access_block", `{"block_public_acls":true}`, `{"block_public_acls":false}`, critical},
		"a block gone":   {"aws_s3_bucket_public_access_block", `{"block_public_acls":true}`, ``, critical},
		"a rule gone":    {"aws_vpc_security_group_ingress_rule", `{"cidr_ipv4":"0.0.0.0/0"}`, ``, high},
		"any other type": {"aws_instance", `{"cidr_blocks":["10.0.0.0/8"]}`, `{"cidr_blocks":["0.0.0.0/0"]}`, medium},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			read := func(text string) model.Value {
				v, err := decode.JSON([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			key := model.Key{Source: "live", Kind: plan.KindOf(tc.typ), ID: "x"}
			declared := read(tc.declared)
			s := &model.Subject{Key: key, Kind: &model.Kind{Name: key.Kind, Severities: severities(tc.typ)},
				Claims: []*model.Claim{{Kind: key.Kind, ID: "x", Complete: true, Value: declared, Recorded: &declared}}}
			if tc.live != "" {
				s.Live = &model.Resource{Key: key, Value: read(tc.live)}
			}
			f := classify.Findings(classify.Input{Judged: []model.Judged{diff.Judge(s, diff.Options{})}}).Current[0]
			if f.Severity != tc.want {
				t.Errorf("%s because %q, want %s: %v", f.Severity, f.Reason, tc.want, f.Changes)
			}
		})
	}
}
