package terraform

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// TestComparedByPlan checks the claims of a type of which the table has the identity only: with a plan,
// with a plan whose provider could not read the resource, and with a state.
func TestComparedByPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const table = `provider: acme/cloud
types:
  cloud_group: {compare: plan, kind: aws/Group, id: "{id}", place: "{region|arn:3}", children: {ingress: aws/Rule}, also: [aws/User]}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.yaml"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := mapping.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	value := func(description string) *model.Value {
		v := model.MapOf(model.Field{Name: "id", Value: model.StringOf("sg-1")}, model.Field{Name: "arn", Value: model.StringOf("arn:aws:ec2:eu-west-1:1:security-group/sg-1")},
			model.Field{Name: "description", Value: model.StringOf(description)}, model.Field{Name: "ingress", Value: model.ListOf(model.StringOf("22"))})
		return &v
	}
	schema := &model.Schema{}
	instance := plan.Instance{Address: "cloud_group.web", Type: "cloud_group", Name: "web", Provider: "registry.terraform.io/acme/cloud", ID: "sg-1",
		Declared: value("a"), Recorded: value("a"), Live: value("b"), LiveRead: true, Schema: schema,
		Whole: plan.Whole{Declared: value("a"), Recorded: value("a")}}
	env := declared.Env{Name: "root", Governs: []string{"prod"}, Types: map[string]string{"prod": "aws"}, Sealer: model.NewSealer([]byte("key"))}
	p := &plans{root: &root{loader: &loader{env: env, tables: tables}}}
	at := time.Unix(60, 0)
	translate := func(change func(*plan.Instance)) *translator {
		i, made := instance, newTranslator(env, tables, nil)
		made.planned = at
		change(&i)
		p.instance(made, newOwn("root", "OpenTofu 1.12.6"), &i)
		return made
	}
	planned := translate(func(*plan.Instance) {})
	c := planned.claims[0]
	if c.Source != "prod" || c.Kind != "aws/Group" || c.ID != "sg-1" || c.Place != "eu-west-1" || c.Lens != nil || c.RecordOnly {
		t.Errorf("claim %+v", c)
	}
	if !c.Value.Equal(*value("a")) || c.Recorded == nil || c.LiveRead == nil || !c.LiveRead.Value.Equal(*value("b")) || c.LiveRead.Schema != schema || c.LiveRead.At != at {
		t.Errorf("the claim does not have what the plan read: %+v", c)
	}
	if diff := cmp.Diff([]string{"aws/Rule"}, c.CoversChildren); diff != "" { // It is not known that the configuration does not write it.
		t.Error(diff)
	}
	if diff := cmp.Diff([]model.Scope{{Kind: "aws/Group"}, {Kind: "aws/User"}}, planned.scopes(nil)); diff != "" {
		t.Error(diff)
	}
	if gone := translate(func(i *plan.Instance) { i.Live = nil }).claims[0]; !gone.LiveRead.Read() || !gone.LiveRead.Value.IsNull() {
		t.Errorf("gone: %+v", gone.LiveRead)
	}
	failed := translate(func(i *plan.Instance) { i.Unchecked, i.Declared, i.Live, i.LiveRead = "denied", nil, nil, false })
	if c := failed.claims[0]; c.LiveRead.Read() || c.Unchecked != "" || failed.claims[1].Unchecked != "denied" || failed.claims[1].Source != "plan:root" {
		t.Errorf("the provider could not read it: %+v", failed.claims)
	}
	state := newTranslator(env, tables, nil)
	if err := state.add(&object{id: "cloud_group.web", address: "cloud_group.web", typ: "cloud_group", provider: "registry.terraform.io/acme/cloud",
		configuration: "cloud", recorded: value("a"), recordOnly: true}); err != nil {
		t.Fatal(err)
	}
	if c := state.claims[0]; !c.RecordOnly || c.LiveRead.Read() || !c.Value.Equal(model.MapOf()) || state.tally.ExistenceOnly != 1 || len(c.CoversChildren) != 1 {
		t.Errorf("from a state: %+v, tally %+v", c, state.tally)
	}
}

// TestStandsFor checks an instance that stands for several live resources: each of them exists for the
// declaration, and the plan's own provider compares the attributes.
func TestStandsFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const table = `provider: acme/cloud
types:
  cloud_rule: {compare: plan, kind: aws/Rule, id: "{rule_id}", stands_for: [{kind: aws/Rule, by: rule, is: "{group} {port} {networks}"}]}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.yaml"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := mapping.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	value := model.MapOf(model.Field{Name: "group", Value: model.StringOf("sg-1")}, model.Field{Name: "port", Value: model.IntOf(0)},
		model.Field{Name: "networks", Value: model.ListOf(model.StringOf("10.0.0.0/8"), model.StringOf("192.0.2.0/24"))})
	env := declared.Env{Name: "root", Governs: []string{"prod"}, Types: map[string]string{"prod": "aws"}, Sealer: model.NewSealer([]byte("key"))}
	p := &plans{root: &root{loader: &loader{env: env, tables: tables}}}
	made := newTranslator(env, tables, nil)
	p.instance(made, newOwn("root", "OpenTofu 1.12.6"), &plan.Instance{Address: "cloud_rule.web", Type: "cloud_rule", Name: "web",
		Provider: "registry.terraform.io/acme/cloud", Declared: &value, Recorded: &value, Live: &value, LiveRead: true, Whole: plan.Whole{Declared: &value, Recorded: &value}})
	var got []string
	for _, in := range made.includes {
		got = append(got, in.Source+" "+in.Kind+" "+in.Value)
	}
	for _, c := range made.claims {
		got = append(got, c.Source+" "+c.Kind+" "+c.ID)
	}
	// The provider could not read an instance with an ID.
	whole := value.With("rule_id", model.StringOf("sgr-1"))
	failed := newTranslator(env, tables, nil)
	p.instance(failed, newOwn("root", "OpenTofu 1.12.6"), &plan.Instance{Address: "cloud_rule.web", Type: "cloud_rule", Name: "web",
		Provider: "registry.terraform.io/acme/cloud", Recorded: &whole, Unchecked: "denied", Whole: plan.Whole{Recorded: &whole}})
	if len(failed.includes) != 2 {
		t.Errorf("an instance that was not read includes %v", failed.includes)
	}
	want := []string{"prod aws/Rule sg-1 0 10.0.0.0/8", "prod aws/Rule sg-1 0 192.0.2.0/24", "plan:root terraform/cloud_rule cloud_rule.web"}
	if diff := cmp.Diff(want, got); diff != "" || len(made.problems) > 0 {
		t.Errorf("%s; problems %v", diff, made.problems)
	}
}
