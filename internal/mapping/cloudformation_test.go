package mapping

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// unnamed returns the kinds of AWS that CloudFormation has no type for. They are named in the same
// form.
func unnamed() []string {
	return []string{"AWS::EC2::Image", "AWS::EC2::ImagePermission", "AWS::EC2::ImageShare", "AWS::EC2::SecurityGroupRule", "AWS::EC2::Snapshot", "AWS::EC2::SnapshotPermission", "AWS::EC2::SnapshotShare",
		"AWS::IAM::AccountPasswordPolicy", "AWS::IAM::GroupPolicyAttachment", "AWS::IAM::LoginProfile", "AWS::IAM::RolePolicyAttachment", "AWS::IAM::UserPolicyAttachment"}
}

// TestCloudFormation holds the identities in the tables of AWS against CloudFormation's database of
// types: each kind is a type of it, and an ID has at least the parts of the type's primary identifier, or
// is an ID or ARN that AWS assigns.
func TestCloudFormation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cloudformation.json")
	if err != nil {
		t.Fatal(err)
	}
	var primary map[string][]string
	if err = json.Unmarshal(text, &primary); err != nil {
		t.Fatal(err)
	}
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range tables.Types() {
		name, ok := strings.CutPrefix(typ.kind, "aws/")
		if !ok || !typ.byPlan {
			continue
		}
		parts, known := primary[name]
		if known == slices.Contains(unnamed(), name) {
			t.Errorf("%s: kind %s is in CloudFormation's database: %v; see tools/cloudformation", typ.name, name, known)
		}
		for _, id := range typ.ids {
			var fields []string
			for _, p := range id {
				for _, f := range p.fields {
					fields = append(fields, f.names[0])
				}
			}
			assigned := slices.ContainsFunc(fields, func(f string) bool { return f == "id" || f == "arn" || strings.HasSuffix(f, "_id") })
			if len(fields) < len(parts) && !assigned {
				t.Errorf("%s: the id has %v, and CloudFormation identifies %s by %v", typ.name, fields, name, parts)
			}
		}
	}
}

// TestPeeringAccepter checks that only one type claims a peering connection within one account: its two
// ends are two instances with different attributes, and would be disputed.
func TestPeeringAccepter(t *testing.T) {
	t.Parallel()
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	attributes := model.MapOf(model.Field{Name: "id", Value: model.StringOf("pcx-1")})
	for name, claims := range map[string]bool{"aws_vpc_peering_connection": true, "aws_vpc_peering_connection_accepter": false} {
		typ, _ := tables.Find("registry.terraform.io/hashicorp/aws", name)
		if _, err := typ.Claim(attributes, model.NewSealer([]byte("key"))); (err == nil) != claims {
			t.Errorf("%s: claims the connection: %v", name, err == nil)
		}
		if included := typ.StandsFor(attributes); (len(included) == 1) == claims {
			t.Errorf("%s: includes %v", name, included)
		}
	}
}

// TestLoggedIsNoIdentity checks that a rule with an ID is named in the log by its content, and does not
// include another rule with the same content, which was made by hand after its removal.
func TestLoggedIsNoIdentity(t *testing.T) {
	t.Parallel()
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	text := func(name, value string) model.Field { return model.Field{Name: name, Value: model.StringOf(value)} }
	rule := []model.Field{text("security_group_rule_id", "sgr-1"), text("security_group_id", "sg-1"), text("cidr_ipv4", "10.0.0.0/8")}
	for content, attributes := range map[string]model.Value{
		"tcp 22 22": model.MapOf(append(slices.Clone(rule), text("ip_protocol", "tcp"), text("from_port", "22"), text("to_port", "22"))...),
		"-1 0 0":    model.MapOf(append(slices.Clone(rule), text("ip_protocol", "-1"), model.Field{Name: "from_port"}, model.Field{Name: "to_port"})...),
	} {
		for _, way := range []string{"ingress", "egress"} {
			typ, _ := tables.Find("registry.terraform.io/hashicorp/aws", "aws_vpc_security_group_"+way+"_rule")
			mapped, err := typ.Claim(attributes, model.NewSealer([]byte("key")))
			if want := []string{"sg-1 " + way + " " + content + " 10.0.0.0/8"}; err != nil || !slices.Equal(mapped.LogNames, want) {
				t.Errorf("%s: %v, named %q, want %q", way, err, mapped.LogNames, want)
			}
			if included := typ.StandsFor(attributes); included != nil {
				t.Errorf("%s: includes %v", way, included)
			}
		}
	}
}
