package mapping

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// unnamed returns the kinds of AWS that CloudFormation has no type for. They are named in the same
// form.
func unnamed() []string {
	return []string{"AWS::EC2::Image", "AWS::EC2::SecurityGroupRule", "AWS::EC2::Snapshot", "AWS::IAM::AccountPasswordPolicy",
		"AWS::IAM::GroupPolicyAttachment", "AWS::IAM::LoginProfile", "AWS::IAM::RolePolicyAttachment", "AWS::IAM::UserPolicyAttachment"}
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
