package terraform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// messageSchemas is an excerpt of the schemas of hashicorp/aws.
const messageSchemas = `{"format_version":"1.0","provider_schemas":{"registry.terraform.io/hashicorp/aws":{"resource_schemas":{
"aws_sqs_queue":{"version":0,"block":{"attributes":{"id":{"type":"string","optional":true,"computed":true},"arn":{"type":"string","computed":true},"url":{"type":"string","computed":true},
 "name":{"type":"string","optional":true,"computed":true},"region":{"type":"string","optional":true,"computed":true},"policy":{"type":"string","optional":true,"computed":true}}}},
"aws_sns_topic":{"version":0,"block":{"attributes":{"id":{"type":"string","optional":true,"computed":true},"arn":{"type":"string","computed":true},
 "name":{"type":"string","optional":true,"computed":true},"region":{"type":"string","optional":true,"computed":true},"policy":{"type":"string","optional":true,"computed":true}}}},
"aws_sqs_queue_policy":{"version":0,"block":{"attributes":{"id":{"type":"string","optional":true,"computed":true},"queue_url":{"type":"string","required":true},
 "region":{"type":"string","optional":true,"computed":true},"policy":{"type":"string","required":true}}}},
"aws_sns_topic_policy":{"version":0,"block":{"attributes":{"id":{"type":"string","optional":true,"computed":true},"arn":{"type":"string","required":true},
 "region":{"type":"string","optional":true,"computed":true},"policy":{"type":"string","required":true}}}}}}}}`

// Policies of a queue or topic.
const (
	policyA       = `{"Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"}]}`
	policyB       = `{"Statement":[{"Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"}]}`
	policyOpen    = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}]}`
	policyDefault = `{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:Publish"],` +
		`"Resource":"arn:aws:sns:eu-central-1:123456789012:x","Condition":{"StringEquals":{"AWS:SourceOwner":"123456789012"}}}]}`
)

// A message is a queue or a topic named x, its policy, and how that is declared.
type message struct {
	topic bool
	// undeclared leaves the queue or topic out of the declaration, which has another one. stack reports that a stack of
	// CloudFormation declares it.
	undeclared, stack bool
	// inline and own are where the configuration writes the policy declared. copied reports that the state of the
	// queue or topic has the policy of its own resource.
	inline, own, copied bool
	declared, live      string
	// unread has the source read no attributes, and byState uses no plan.
	unread, byState bool
	// old has the state of a provider that does not record the region, and url is the URL that the source reads.
	old bool
	url string
}

const messageURL = "https://sqs.eu-central-1.amazonaws.com/123456789012/x"

func (m *message) arn() string {
	return "arn:aws:" + map[bool]string{true: "sns", false: "sqs"}[m.topic] + ":eu-central-1:123456789012:x"
}

func (m *message) kind() string {
	return "aws/AWS::" + map[bool]string{true: "SNS::Topic", false: "SQS::Queue"}[m.topic]
}

// instances returns the type, and the recorded, live and declared values of each instance, and what its configuration writes.
func (m *message) instances() (all []messageInstance) {
	base := "aws_sqs_queue"
	if m.topic {
		base = "aws_sns_topic"
	}
	values := func(typ, policy string) map[string]any {
		v := map[string]any{"id": messageURL, "policy": policy, "region": "eu-central-1"}
		if m.old {
			delete(v, "region")
		}
		switch {
		case typ != base && !m.topic:
			v["queue_url"] = messageURL
		case typ != base:
			v["id"], v["arn"] = m.arn(), m.arn()
		case m.topic:
			v["id"], v["arn"], v["name"] = m.arn(), m.arn(), "x"
		default:
			v["arn"], v["url"], v["name"] = m.arn(), messageURL, "x"
		}
		return v
	}
	recorded, after := "", m.live
	if m.topic {
		recorded = policyDefault
	}
	if m.inline || m.copied {
		recorded = m.declared
	}
	writes := map[string]any{"name": map[string]any{"constant_value": "x"}}
	if m.inline {
		after, writes["policy"] = m.declared, map[string]any{"constant_value": m.declared}
	}
	parent := messageInstance{base, values(base, recorded), values(base, m.live), values(base, after), writes}
	if m.undeclared {
		for _, v := range []map[string]any{parent.recorded, parent.live, parent.after} {
			for name, text := range v {
				v[name] = strings.ReplaceAll(strings.ReplaceAll(text.(string), ":x", ":y"), "/x", "/y")
			}
			v["policy"] = map[bool]string{true: policyDefault}[m.topic]
		}
	}
	all = append(all, parent)
	if m.own {
		own := messageInstance{base + "_policy", values(base+"_policy", m.declared), values(base+"_policy", m.live), values(base+"_policy", m.declared), map[string]any{
			map[bool]string{true: "arn", false: "queue_url"}[m.topic]: map[string]any{"references": []string{base + ".x.arn", base + ".x"}},
			"policy": map[string]any{"constant_value": m.declared}}}
		if m.live == "" {
			own.live = nil
		}
		all = append(all, own)
	}
	return all
}

type messageInstance struct {
	typ                   string
	recorded, live, after map[string]any
	writes                map[string]any
}

// planned returns the instances of a plan.
func (m *message) planned(t *testing.T) []plan.Instance {
	t.Helper()
	const provider = "registry.terraform.io/hashicorp/aws"
	var drift, changes, resources, prior []any
	blocks := map[string]plan.Blocks{}
	change := func(i *messageInstance, before, after map[string]any) map[string]any {
		action := "update"
		switch {
		case before == nil:
			action = "create"
		case after == nil:
			action = "delete"
		case before["policy"] == after["policy"]:
			action = "no-op"
		}
		null := func(v map[string]any) any {
			if v == nil {
				return nil
			}
			return v
		}
		return map[string]any{"address": i.typ + ".x", "mode": "managed", "type": i.typ, "name": "x", "provider_name": provider, "change": map[string]any{
			"actions": []string{action}, "before": null(before), "after": null(after), "after_unknown": map[string]any{}, "before_sensitive": map[string]any{}, "after_sensitive": map[string]any{}}}
	}
	for _, i := range m.instances() {
		if d := change(&i, i.recorded, i.live); d["change"].(map[string]any)["actions"].([]string)[0] != "no-op" {
			drift = append(drift, d)
		}
		changes = append(changes, change(&i, i.live, i.after))
		blocks[i.typ+".x"] = plan.Blocks{}
		resources = append(resources, map[string]any{"address": i.typ + ".x", "mode": "managed", "type": i.typ, "name": "x", "expressions": i.writes, "schema_version": 0})
		if i.live != nil {
			prior = append(prior, map[string]any{"address": i.typ + ".x", "mode": "managed", "type": i.typ, "name": "x", "provider_name": provider, "schema_version": 0, "values": i.live})
		}
	}
	text, err := json.Marshal(map[string]any{"format_version": "1.2", "terraform_version": "1.11.4", "resource_drift": drift, "resource_changes": changes,
		"configuration": map[string]any{"root_module": map[string]any{"resources": resources}},
		"prior_state":   map[string]any{"format_version": "1.0", "terraform_version": "1.11.4", "values": map[string]any{"root_module": map[string]any{"resources": prior}}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := plan.DecodeSchemas(strings.NewReader(messageSchemas), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Read(plan.Input{Plan: p, Schemas: schemas, Blocks: blocks}, model.NewSealer([]byte("key"))).Instances
}

// snapshot returns what the source reads, with the events of a change of the policy by carol.
func (m *message) snapshot(t *testing.T, at time.Time) model.Snapshot {
	t.Helper()
	env := &catalogue.Env{Source: "prod", Place: "eu-central-1", Texts: map[string]string{"region": "eu-central-1", "account": "123456789012", "partition": "aws"}}
	answer := map[string]any{"Attributes": map[string]any{"QueueArn": m.arn(), "Policy": m.live}}
	action, row := "GetQueueAttributes", map[string]any{"text": cmp.Or(m.url, messageURL)}
	if m.topic {
		action, row = "GetTopicAttributes", map[string]any{"TopicArn": m.arn()}
		answer = map[string]any{"Attributes": []any{map[string]any{"key": "TopicArn", "value": m.arn()}, map[string]any{"key": "Policy", "value": m.live}}}
	}
	s := model.Snapshot{Source: "prod", Taken: at, Kinds: catalogue.Schemas(), Coverage: []model.Coverage{
		{Source: "prod", Reason: "other regions are not read", Skipped: true}}}
	for kind := range s.Kinds {
		s.Coverage = append(s.Coverage, model.Coverage{Source: "prod", Kind: kind, Place: "eu-central-1", Complete: true})
	}
	var page catalogue.Page
	for _, l := range catalogue.Lists() {
		for _, then := range l.Then {
			if then.Call.Action != action {
				continue
			}
			if m.unread {
				s.Unread = append(s.Unread, then.Unread(valueOfJSON(t, row), env, "AccessDenied", "denied")...)
				continue
			}
			rows, err := then.RowsOf(valueOfJSON(t, answer), valueOfJSON(t, row))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				for _, k := range then.Kinds {
					if err := page.Add(k, r, env, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	s.Resources, _ = catalogue.Join([]catalogue.Page{page}, nil, func(string, string) string { return "" })
	for i := range s.Resources {
		if m.stack && s.Resources[i].Kind == m.kind() {
			s.Resources[i].SystemOwned = "declared by the CloudFormation stack s"
		}
	}
	if m.undeclared {
		y := strings.Replace(m.arn(), ":x", ":y", 1)
		s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: "prod", Kind: m.kind(), ID: y}, Place: "eu-central-1", Name: "y", Value: model.MapOf()})
	}
	s.AuditEvents = m.events(at)
	return s
}

// events returns the events of a change of the policy by carol.
func (m *message) events(at time.Time) (all []model.AuditEvent) {
	carol := model.Actor{Name: "carol", Confidence: model.Exact, At: at.Add(-time.Minute)}
	event := func(kind, id string, action model.Action, fields ...string) {
		all = append(all, model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: action, Fields: fields, Actor: carol})
	}
	event(m.kind(), m.arn(), model.Edited, "policy", "public")
	if m.live == "" {
		for _, id := range []string{m.arn(), "eu-central-1 123456789012/x", messageURL} {
			event(m.kind()+"Policy", id, model.Deleted, "policy")
		}
	} else {
		event(m.kind()+"Policy", m.arn(), model.Created)
		event(m.kind()+"Policy", m.arn(), model.Edited)
	}
	return all
}

func valueOfJSON(t *testing.T, v any) model.Value {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := decode.JSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// findings returns the findings of a scan.
func (m *message) findings(t *testing.T, tables *mapping.Tables) []string {
	t.Helper()
	env := declared.Env{Name: "infra", Governs: []string{"prod"}, Types: map[string]string{"prod": "aws"}, Sealer: model.NewSealer([]byte("key"))}
	p, own := &plans{root: &root{loader: &loader{env: env, tables: tables}}}, newOwn("infra", "Terraform")
	tr := newTranslator(env, tables, nil)
	tr.planned = time.Unix(1000, 0)
	instances := m.planned(t)
	for i := range instances {
		if m.byState {
			o := object{id: instances[i].Address, address: instances[i].Address, typ: instances[i].Type, provider: instances[i].Provider, configuration: "aws",
				recorded: instances[i].Whole.Recorded, recordOnly: true}
			if err := tr.add(&o); err != nil {
				t.Fatal(err)
			}
			continue
		}
		p.instance(tr, own, &instances[i])
	}
	d := model.Declaration{Name: "infra", Governs: []string{"prod", own.snapshot.Source}, Claims: tr.sorted(), Includes: tr.includes, Scopes: tr.scopes(nil), Problems: tr.problems}
	in := classify.Input{Now: time.Unix(2000, 0)}
	for _, s := range []model.Snapshot{m.snapshot(t, time.Unix(1500, 0)), *own.sorted()} {
		in.Snapshots = append(in.Snapshots, s)
		subjects := match.Match(s, []model.Declaration{d})
		for i := range subjects {
			in.Judged = append(in.Judged, model.Judged{Subject: &subjects[i], Outcomes: diff.Compare(&subjects[i], diff.Options{})})
		}
	}
	var lines []string
	for _, f := range classify.Findings(in).Current {
		line := fmt.Sprintf("%s %s %s %s by %s", f.Severity, f.Verdict, strings.TrimPrefix(f.Kind, "aws/AWS::"), f.Key.ID, f.Actor.Label())
		for _, c := range f.Changes {
			line += " " + c.Path
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// TestAttachedPolicies checks each way to declare the policy of a queue or topic with each change of it by hand: exactly
// one finding is about the change.
func TestAttachedPolicies(t *testing.T) {
	t.Parallel()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	const queue, topic = "arn:aws:sqs:eu-central-1:123456789012:x", "arn:aws:sns:eu-central-1:123456789012:x"
	for reason, tt := range map[string]struct {
		m    message
		want []string
	}{
		"inline, unchanged":          {message{inline: true, declared: policyA, live: policyA}, nil},
		"inline, changed":            {message{inline: true, declared: policyA, live: policyB}, []string{"high changed SQS::Queue " + queue + " by carol policy"}},
		"inline, opened":             {message{inline: true, declared: policyA, live: policyOpen}, []string{"critical changed SQS::Queue " + queue + " by carol policy"}},
		"inline, removed":            {message{inline: true, declared: policyA}, []string{"high changed SQS::Queue " + queue + " by carol policy"}},
		"inline topic, opened":       {message{topic: true, inline: true, declared: policyA, live: policyOpen}, []string{"critical changed SNS::Topic " + topic + " by carol policy"}},
		"inline topic, the default":  {message{topic: true, inline: true, declared: policyA, live: policyDefault}, []string{"high changed SNS::Topic " + topic + " by carol policy"}},
		"its own, unchanged":         {message{own: true, declared: policyA, live: policyA}, nil},
		"its own, unchanged, copied": {message{own: true, copied: true, declared: policyA, live: policyA}, nil},
		"its own, changed":           {message{own: true, copied: true, declared: policyA, live: policyB}, []string{"high changed SQS::QueuePolicy " + queue + " by carol policy"}},
		"its own, opened":            {message{own: true, declared: policyA, live: policyOpen}, []string{"critical changed SQS::QueuePolicy " + queue + " by carol policy"}},
		"its own, removed":           {message{own: true, copied: true, declared: policyA}, []string{"high missing SQS::QueuePolicy " + messageURL + " by carol"}},
		"its own, another URL":       {message{own: true, declared: policyA, live: policyOpen, url: "https://queue.amazonaws.com/123456789012/x"}, []string{"critical changed SQS::QueuePolicy " + queue + " by carol policy"}},
		"its own, an old state":      {message{own: true, old: true, declared: policyA, live: policyOpen}, []string{"critical changed SQS::QueuePolicy " + queue + " by carol policy"}},
		"its own, an old state and another URL": {message{own: true, old: true, declared: policyA, live: policyA, url: "https://vpce-1.sqs.eu-central-1.vpce.amazonaws.com/123456789012/x"},
			nil},
		"its own, removed, an old state":           {message{own: true, old: true, declared: policyA}, []string{"high missing SQS::QueuePolicy " + messageURL + " by carol"}},
		"a topic's own, unchanged":                 {message{topic: true, own: true, declared: policyA, live: policyA}, nil},
		"a topic's own, opened":                    {message{topic: true, own: true, declared: policyA, live: policyOpen}, []string{"critical changed SNS::TopicPolicy " + topic + " by carol policy"}},
		"a topic's own, the default":               {message{topic: true, own: true, declared: policyA, live: policyDefault}, []string{"high changed SNS::TopicPolicy " + topic + " by carol policy"}},
		"none, none":                               {message{}, nil},
		"none, added":                              {message{live: policyA}, []string{"high unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"none, opened":                             {message{live: policyOpen}, []string{"critical unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"none, emptied":                            {message{live: `{"Statement":[]}`}, nil},
		"none, opened and recorded":                {message{live: policyOpen, declared: policyOpen, copied: true}, []string{"critical unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"no topic's, the default":                  {message{topic: true, live: policyDefault}, nil},
		"no topic's, opened":                       {message{topic: true, live: policyOpen}, []string{"critical unmanaged SNS::TopicPolicy " + topic + " by carol"}},
		"an unmanaged queue":                       {message{undeclared: true, live: policyA}, []string{"low unmanaged SQS::Queue " + queue + " by unknown"}},
		"an open unmanaged queue":                  {message{undeclared: true, live: policyOpen}, []string{"critical unmanaged SQS::Queue " + queue + " by unknown"}},
		"an open unmanaged topic":                  {message{topic: true, undeclared: true, live: policyOpen}, []string{"critical unmanaged SNS::Topic " + topic + " by unknown"}},
		"the queue of a stack":                     {message{undeclared: true, stack: true, live: policyA}, nil},
		"the open queue of a stack":                {message{undeclared: true, stack: true, live: policyOpen}, []string{"critical unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"a declared queue with the tag of a stack": {message{stack: true, live: policyA}, []string{"high unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"unread, inline, opened":                   {message{unread: true, inline: true, declared: policyA, live: policyOpen}, []string{"high changed SQS::Queue " + queue + " by carol policy"}},
		"unread, its own, unchanged":               {message{unread: true, own: true, copied: true, declared: policyA, live: policyA}, nil},
		"unread, its own, changed":                 {message{unread: true, own: true, copied: true, declared: policyA, live: policyB}, []string{"high changed SQS::QueuePolicy " + messageURL + " by unknown policy"}},
		"unread, its own, an old state":            {message{unread: true, own: true, old: true, copied: true, declared: policyA, live: policyA}, nil},
		"unread, none, opened":                     {message{unread: true, live: policyOpen}, []string{"high changed SQS::Queue " + queue + " by carol policy"}},
		"unread, unmanaged":                        {message{unread: true, undeclared: true, live: policyOpen}, []string{"low unchecked SQS::Queue " + queue + " by unknown"}},
		"unread topic, its own, unchanged":         {message{topic: true, unread: true, own: true, copied: true, declared: policyA, live: policyA}, nil},
		"a state, its own":                         {message{byState: true, own: true, copied: true, declared: policyA, live: policyA}, nil},
		"a state, none, opened":                    {message{byState: true, live: policyOpen}, []string{"critical unmanaged SQS::QueuePolicy " + queue + " by carol"}},
		"a state, its own, removed":                {message{byState: true, own: true, copied: true, declared: policyA}, []string{"high missing SQS::QueuePolicy " + messageURL + " by carol"}},
	} {
		if d := gocmp.Diff(tt.want, tt.m.findings(t, tables)); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}
