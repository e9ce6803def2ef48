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
	return []string{"AWS::EC2::Image", "AWS::EC2::ImagePermission", "AWS::EC2::SecurityGroupRule", "AWS::EC2::Snapshot", "AWS::EC2::SnapshotPermission",
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
