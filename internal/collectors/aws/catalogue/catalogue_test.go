package catalogue

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

func everyList(lists []*List, do func(*List)) {
	for _, l := range lists {
		do(l)
		everyList(l.Then, do)
	}
}

// someType returns the list of a type that only Cloud Control lists.
func someType() []*List { return CloudControl([]string{"AWS::Backup::BackupVault"}) }

// TestReadsOnly checks that no operation changes anything.
func TestReadsOnly(t *testing.T) {
	t.Parallel()
	everyList(append(Lists(), someType()...), func(l *List) {
		verb := slices.ContainsFunc([]string{"Describe", "List", "Get"}, func(verb string) bool { return strings.HasPrefix(l.Call.Action, verb) })
		if !verb || l.Rights == "" {
			t.Errorf("%s is no operation that reads, or names no right", l.Call.Action)
		}
	})
}

// TestReferences checks that the kinds that others refer to exist.
func TestReferences(t *testing.T) {
	t.Parallel()
	kinds := Schemas()
	check := func(of string, r Reference) {
		if r.Kind != "" && kinds[r.fullKind()] == nil {
			t.Errorf("%s refers to %s, which does not exist", of, r.Kind)
		}
	}
	everyList(Lists(), func(l *List) {
		check(l.Call.Action, l.Subject)
		for _, k := range l.Kinds {
			check(k.Name, k.Parent)
			check(k.Name, k.Maker)
			for _, m := range k.Makes {
				check(k.Name, m.Reference)
			}
			for _, u := range k.Usual {
				check(k.Name, u.In)
			}
		}
	})
}

// TestDocumentation checks that docs/aws.md has every kind and the exact rights.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/aws.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, l := range Lists() {
		want = append(want, l.AllRights()...)
		for _, k := range l.AllKinds() {
			if !k.IsCarrier() && !strings.Contains(string(page), "`"+k.Name+"`") {
				t.Errorf("docs/aws.md does not list %s", k.Name)
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for block := range strings.SplitSeq(string(page), "```") {
		var policy struct {
			Statement []struct {
				Sid    string
				Action any
			}
		}
		text, ok := strings.CutPrefix(block, "json\n")
		if !ok || json.Unmarshal([]byte(text), &policy) != nil {
			continue
		}
		for _, s := range policy.Statement {
			actions, _ := s.Action.([]any)
			for _, action := range actions {
				if name, ok := action.(string); ok && s.Sid == "Lists" {
					got = append(got, name)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rights in docs/aws.md differ (-want +got):\n%s", diff)
	}
}

// TestForeign reads from the policies of roles whether others than the account can assume them.
func TestForeign(t *testing.T) {
	t.Parallel()
	for principal, want := range map[string]bool{
		`{"AWS":"arn:aws:iam::999988887777:root"}`:                                            true,
		`{"AWS":["arn:aws:iam::123456789012:root","999988887777"]}`:                           true,
		`{"Federated":"arn:aws:iam::123456789012:oidc-provider/token.actions.example.org"}`:   true,
		`{"Service":"ec2.amazonaws.com"}`:                                                     false,
		`{"AWS":["arn:aws:iam::123456789012:role/a","123456789012","AROAAAAAAAAAAAAAAAAAA"]}`: false,
	} {
		role, err := decode.JSON([]byte(`{"Arn":"arn:aws:iam::123456789012:role/partner","AssumeRolePolicyDocument":{"Statement":{"Effect":"Allow","Principal":` + principal + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := foreign().Read(nil, role).Text() == "true"; got != want {
			t.Errorf("%s: foreign: %t, want %t", principal, got, want)
		}
	}
}

// TestTags checks what created a resource by tags that no user can set.
func TestTags(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string]string{
		`[{"Key":"aws:cloudformation:stack-name","Value":"web"}]`:                     "declared by the CloudFormation stack web",
		`[{"key":"aws:autoscaling:groupName","value":"g"},{"key":"a","value":"b"}]`:   "created by the Auto Scaling group g",
		`{"aws:eks:cluster-name":"k8s"}`:                                              "created by the EKS cluster k8s",
		`[{"TagKey":"kubernetes.io/cluster/k8s","TagValue":"owned"}]`:                 "",
		`[{"Key":"eks:cluster-name","Value":"k8s"},{"Key":"Name","Value":"default"}]`: "",
	} {
		v, err := decode.JSON([]byte(tags))
		if err != nil {
			t.Fatal(err)
		}
		all := readTags(v)
		if got := ownerByTags(all); got != want {
			t.Errorf("%s: created by %q, want %q", tags, got, want)
		}
		for _, f := range withoutReserved(all).Fields() {
			if strings.HasPrefix(f.Name, "aws:") {
				t.Errorf("%s: the tag %s is kept", tags, f.Name)
			}
		}
	}
}

// TestBackups checks which resources AWS Backup and Data Lifecycle Manager made by tags that no user can set: snapshots and images, but
// not what a user restored from them.
func TestBackups(t *testing.T) {
	t.Parallel()
	const source, policy = "aws:backup:source-resource", "aws:dlm:lifecycle-policy-id"
	for _, tt := range []struct{ action, id, tag, want string }{
		{"DescribeSnapshots", "snapshotId", source, "created by AWS Backup"},
		{"DescribeSnapshots", "snapshotId", policy, "created by Data Lifecycle Manager"},
		{"DescribeSnapshots", "snapshotId", "dlm:managed", ""},
		{"DescribeImages", "imageId", source, "created by AWS Backup"},
		{"DescribeImages", "imageId", policy, "created by Data Lifecycle Manager"},
		{"DescribeImages", "imageId", "backup:source-resource", ""},
		{"DescribeVolumes", "volumeId", source, ""},
	} {
		row := textMap(tt.id, "x").With("tagSet", model.ListOf(textMap("key", "a", "value", "b"), textMap("key", tt.tag, "value", "i-1")))
		var page Page
		everyList(Lists(), func(l *List) {
			if l.Call.Action == tt.action && len(page.entries) == 0 {
				if err := page.Add(l.Kinds[0], row, attachedEnv(), nil); err != nil {
					t.Fatal(err)
				}
			}
		})
		resources, _ := Join([]Page{page}, nil, func(string, string) string { return "" })
		if got := resources[0].SystemOwned; got != tt.want {
			t.Errorf("%s with the tag %s: created by AWS: %q, want %q", tt.action, tt.tag, got, tt.want)
		}
	}
}

// FuzzRows checks that no row of any kind makes the reading fail other than with an error.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"vpcId":"a","tagSet":[{"key":"a","value":1}],"Policy":"{\"Statement\":{}}","UserDetailList":[{"UserName":"a","GroupList":["g"]}]}`))
	f.Add([]byte(`{"attachmentSet":[{"instanceId":"i","deleteOnTermination":"true"}],"createTime":1e300,"routeSet":[[1]],"Attributes":[{"key":"Policy","value":"x"}]}`))
	f.Add([]byte(`{"ResourceDescriptions":[{"Identifier":"a","Properties":"{\"Arn\":[1],\"^\":{\"Identifier\":\"\"},\"Tags\":{\"a\":1}}"},{"Identifier":1,"Properties":"["}]}`))
	lists := append(Lists(), someType()...)
	f.Fuzz(func(_ *testing.T, data []byte) {
		row, err := decode.JSON(data)
		if err != nil || row.Kind() != model.Map {
			return
		}
		env := &Env{Source: "s", Place: "p", Texts: map[string]string{"region": "r", "account": "a", "partition": "aws"}}
		var pages []Page
		everyList(lists, func(l *List) {
			var page Page
			rows, _ := l.RowsOf(row, row)
			for _, each := range rows {
				for _, k := range l.Kinds {
					_ = page.Add(k, each, env, nil)
				}
				l.Unread(each, env, "", "x")
			}
			l.Inputs(l.Of(rows), env)
			pages = append(pages, page)
		})
		Join(pages, nil, func(string, string) string { return "" }, someType()...)
	})
}

// TestInstanceProfiles checks that a profile without a role, such as after RemoveRoleFromInstanceProfile, is listed.
func TestInstanceProfiles(t *testing.T) {
	t.Parallel()
	role := model.ListOf(textMap("RoleName", "r", "Path", "/"))
	resources, _ := Join([]Page{listed(t, "ListInstanceProfiles",
		textMap("InstanceProfileName", "a", "Path", "/").With("Roles", role), textMap("InstanceProfileName", "b", "Path", "/").With("Roles", model.ListOf()),
		textMap("InstanceProfileName", "c", "Path", "/aws-service-role/x/"))}, nil, func(string, string) string { return "" })
	var got []string
	for i := range resources {
		r := &resources[i]
		got = append(got, fmt.Sprintf("%s %q %t", r.ID, r.Value.At("role").Text(), r.SystemOwned != ""))
	}
	if diff := cmp.Diff([]string{`a "r" false`, `b "" false`, `c "" true`}, got); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
}
