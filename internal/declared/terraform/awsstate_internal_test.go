package terraform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// An instance of a state is a type and its attributes. A listed row is what an operation of AWS lists, below the row of another one if that
// is not nil.
type (
	stateInstance struct {
		typ        string
		attributes map[string]any
	}
	listedRow struct {
		action  string
		of, row map[string]any
	}
)

// awsStateFindings returns the findings on a state of hashicorp/aws and on what AWS lists.
func awsStateFindings(t *testing.T, state []stateInstance, live []listedRow) []string {
	t.Helper()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	tr := newTranslator(declared.Env{Name: "infra", Governs: []string{"prod"}, Types: map[string]string{"prod": "aws"}, Sealer: model.NewSealer([]byte("key"))}, tables, nil)
	for i, in := range state {
		recorded := valueOfJSON(t, in.attributes)
		address := fmt.Sprintf("%s.x%d", in.typ, i)
		o := object{id: address, address: address, typ: in.typ, provider: "registry.terraform.io/hashicorp/aws", configuration: "aws", recorded: &recorded, recordOnly: true}
		if err := tr.add(&o); err != nil {
			t.Fatal(err)
		}
	}
	d := model.Declaration{Name: "infra", Governs: []string{"prod"}, Claims: tr.sorted(), Includes: tr.includes, Scopes: tr.scopes(nil), Problems: tr.problems}
	subjects := match.Match(awsSnapshot(t, live), []model.Declaration{d})
	var lines []string
	for i := range subjects {
		for _, o := range diff.Compare(&subjects[i], diff.Options{}) {
			lines = append(lines, fmt.Sprintf("%s %s %s", o.Verdict, strings.TrimPrefix(subjects[i].Key.Kind, "aws/AWS::"), subjects[i].Key.ID))
		}
	}
	slices.Sort(lines)
	return lines
}

// awsSnapshot returns a snapshot of what AWS lists in one region.
func awsSnapshot(t *testing.T, live []listedRow) model.Snapshot {
	t.Helper()
	env := &catalogue.Env{Source: "prod", Place: "eu-central-1", Texts: map[string]string{"region": "eu-central-1", "account": "123456789012", "partition": "aws"}}
	s := model.Snapshot{Source: "prod", Taken: time.Unix(1500, 0), Kinds: catalogue.Schemas()}
	for kind := range s.Kinds {
		s.Coverage = append(s.Coverage, model.Coverage{Source: "prod", Kind: kind, Place: "eu-central-1", Complete: true})
	}
	var lists []*catalogue.List
	for _, l := range catalogue.Lists() {
		lists = append(append(lists, l), l.Then...)
	}
	var page catalogue.Page
	for _, row := range live {
		at := slices.IndexFunc(lists, func(l *catalogue.List) bool { return l.Call.Action == row.action })
		value := valueOfJSON(t, row.row)
		if row.of != nil {
			value = value.With("^", valueOfJSON(t, row.of))
		}
		for _, k := range lists[at].Kinds {
			if err := page.Add(k, value, env, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Resources, s.Unread = catalogue.Join([]catalogue.Page{page}, nil, func(string, string) string { return "" })
	return s
}

// TestLambdaPermissions checks that a permission is found by each name of its function.
func TestLambdaPermissions(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:lambda:eu-central-1:123456789012:function:f"
	function := map[string]any{"FunctionName": "f", "FunctionArn": arn}
	live := []listedRow{
		{"ListFunctions", nil, function},
		{"GetPolicy", function, map[string]any{"Policy": `{"Statement":[{"Sid":"s","Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},"Action":"lambda:InvokeFunction"}]}`}},
	}
	const unmanaged = "unmanaged Lambda::Permission " + arn + ":s"
	for _, tt := range []struct {
		reason     string
		attributes map[string]any
		want       []string
	}{
		{"the name", map[string]any{"function_name": "f", "region": "eu-central-1"}, nil},
		{"the name, in an old state", map[string]any{"function_name": "f"}, nil},
		{"the ARN", map[string]any{"function_name": arn, "region": "eu-central-1"}, nil},
		{"the ARN, in an old state", map[string]any{"function_name": arn}, nil},
		{"the account and the name", map[string]any{"function_name": "123456789012:function:f", "region": "eu-central-1"}, nil},
		{"the end of the ARN", map[string]any{"function_name": "function:f", "region": "eu-central-1"}, nil},
		{"another function", map[string]any{"function_name": arn + "2", "region": "eu-central-1"}, []string{"missing Lambda::Permission " + arn + "2 s", unmanaged}},
		{"an alias", map[string]any{"function_name": "f", "region": "eu-central-1", "qualifier": "live"}, []string{"unchecked Lambda::Permission f:live s", unmanaged}},
		{"an alias, in an old state", map[string]any{"function_name": arn, "qualifier": "live"}, []string{"unchecked Lambda::Permission " + arn + ":live s", unmanaged}},
		{"no alias", map[string]any{"function_name": "f", "region": "eu-central-1", "qualifier": ""}, nil},
		{"another region", map[string]any{"function_name": strings.Replace(arn, "central", "west", 1), "region": "eu-west-1"},
			[]string{"unchecked Lambda::Permission " + strings.Replace(arn, "central", "west", 1) + " s", unmanaged}},
	} {
		tt.attributes["id"], tt.attributes["statement_id"] = "s", "s"
		state := []stateInstance{{"aws_lambda_function", map[string]any{"arn": arn, "function_name": "f"}}, {"aws_lambda_permission", tt.attributes}}
		if d := gocmp.Diff(tt.want, awsStateFindings(t, state, live)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, d)
		}
	}
}

// TestDatabases checks that clusters and instances of DocumentDB and Neptune, which RDS lists among its own, are declared by their types.
func TestDatabases(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:rds:eu-central-1:123456789012:"
	var state []stateInstance
	live := []listedRow{{"DescribeDBClusters", nil, map[string]any{"DBClusterArn": arn + "cluster:by-hand", "Engine": "docdb"}}}
	for _, engine := range []string{"rds", "docdb", "neptune"} {
		state = append(state, stateInstance{"aws_" + engine + "_cluster", map[string]any{"arn": arn + "cluster:" + engine, "cluster_identifier": engine}},
			stateInstance{"aws_" + engine + "_cluster_instance", map[string]any{"arn": arn + "db:" + engine, "identifier": engine}})
		live = append(live, listedRow{"DescribeDBClusters", nil, map[string]any{"DBClusterArn": arn + "cluster:" + engine, "Engine": engine}},
			listedRow{"DescribeDBInstances", nil, map[string]any{"DBInstanceArn": arn + "db:" + engine, "Engine": engine}})
	}
	if d := gocmp.Diff([]string{"unmanaged RDS::DBCluster " + arn + "cluster:by-hand"}, awsStateFindings(t, state, live)); d != "" {
		t.Errorf("databases (-want +got):\n%s", d)
	}
}

// TestUnconfirmedSubscription checks that a declared subscription is missing only if no subscription to its topic waits for confirmation.
func TestUnconfirmedSubscription(t *testing.T) {
	t.Parallel()
	const topic = "arn:aws:sns:eu-central-1:123456789012:t"
	state := []stateInstance{{"aws_sns_topic_subscription", map[string]any{"arn": topic + ":1", "id": topic + ":1"}}}
	for arn, want := range map[string][]string{
		"PendingConfirmation": {"unchecked SNS::Subscription " + topic + ":1"},
		"Deleted":             {"missing SNS::Subscription " + topic + ":1"},
		topic + ":1":          nil,
	} {
		live := []listedRow{{"ListSubscriptions", nil, map[string]any{"TopicArn": topic, "SubscriptionArn": arn, "Protocol": "email"}}}
		if d := gocmp.Diff(want, awsStateFindings(t, state, live)); d != "" {
			t.Errorf("%s (-want +got):\n%s", arn, d)
		}
	}
}
