package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

const account = "123456789012"

func attachedEnv() *Env {
	return &Env{Source: "prod", Place: "eu-central-1", Texts: map[string]string{"region": "eu-central-1", "account": account, "partition": "aws"}}
}

// listOfAction returns the list of an operation.
func listOfAction(t *testing.T, action string) (found *List) {
	t.Helper()
	everyList(Lists(), func(l *List) {
		if l.Call.Action == action {
			found = l
		}
	})
	if found == nil {
		t.Fatalf("no list %s", action)
	}
	return found
}

// attributesOf returns the page of an answer to an operation for one queue or topic.
func attributesOf(t *testing.T, action string, of model.Value, answer model.Value) Page {
	t.Helper()
	l := listOfAction(t, action)
	rows, err := l.RowsOf(answer, of)
	if err != nil {
		t.Fatal(err)
	}
	var page Page
	for _, row := range rows {
		for _, k := range l.Kinds {
			if err := page.Add(k, row, attachedEnv(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return page
}

func textMap(pairs ...string) model.Value {
	var fields []model.Field
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, model.Field{Name: pairs[i], Value: model.StringOf(pairs[i+1])})
	}
	return model.MapOf(fields...)
}

func queuePage(t *testing.T, name, policy string) Page {
	t.Helper()
	attributes := textMap("QueueArn", "arn:aws:sqs:eu-central-1:"+account+":"+name)
	if policy != "" {
		attributes = attributes.With("Policy", model.StringOf(policy))
	}
	return attributesOf(t, "GetQueueAttributes", textMap("text", "https://sqs.eu-central-1.amazonaws.com/"+account+"/"+name), model.MapOf(model.Field{Name: "Attributes", Value: attributes}))
}

func topicPage(t *testing.T, name, policy string) Page {
	t.Helper()
	arn := "arn:aws:sns:eu-central-1:" + account + ":" + name
	entries := []model.Value{textMap("key", "TopicArn", "value", arn), textMap("key", "Policy", "value", policy)}
	return attributesOf(t, "GetTopicAttributes", textMap("TopicArn", arn), model.MapOf(model.Field{Name: "Attributes", Value: model.ListOf(entries...)}))
}

// defaultPolicy is the policy that AWS gives every topic, with a change.
func defaultPolicy(replace ...string) string {
	const text = `{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},` +
		`"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],` +
		`"Resource":"arn:aws:sns:eu-central-1:123456789012:t","Condition":{"StringEquals":{"AWS:SourceOwner":"123456789012"}}}]}`
	return strings.NewReplacer(replace...).Replace(text)
}

const (
	openPolicy = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}]}`
	ownPolicy  = `{"Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"}]}`
)

// severityOf returns how a resource is rated that no declaration manages, or that is missing.
func severityOf(r *model.Resource, v model.Verdict) model.Severity {
	rules := Schemas()[r.Kind].Severities
	at := slices.IndexFunc(rules, func(rule model.SeverityRule) bool {
		return rule.Path == "" && rule.About(v, r.ID) && model.HoldsAll(rule.Where, r.Value)
	})
	if at < 0 {
		return ""
	}
	return rules[at].Severity
}

// TestAttachedPolicies checks which policies of queues and topics are resources of their own, and how they are rated.
func TestAttachedPolicies(t *testing.T) {
	t.Parallel()
	const queue, topic = "arn:aws:sqs:eu-central-1:123456789012:q", "arn:aws:sns:eu-central-1:123456789012:t"
	for reason, tt := range map[string]struct {
		page Page
		// want are the kind, the rating, whether AWS created it, and whether it belongs to the declaration of its parent.
		want []string
	}{
		"a queue without a policy":       {queuePage(t, "q", ""), nil},
		"a queue with a policy":          {queuePage(t, "q", ownPolicy), []string{"SQS::QueuePolicy " + queue + ` high "" true`}},
		"a queue that is open":           {queuePage(t, "q", openPolicy), []string{"SQS::QueuePolicy " + queue + ` critical "" false`}},
		"the last permission was taken":  {queuePage(t, "q", `{"Version":"2008-10-17","Statement":[]}`), []string{"SQS::QueuePolicy " + queue + ` high "a policy without statements" true`}},
		"a policy that cannot be parsed": {queuePage(t, "q", `{`), []string{"SQS::QueuePolicy " + queue + ` high "" true`}},
		"a topic as AWS makes it":        {topicPage(t, "t", defaultPolicy()), []string{"SNS::TopicPolicy " + topic + ` high "the policy that AWS gives every topic" true`}},
		"a topic with the newer condition, and with the action of older ones": {topicPage(t, "t", defaultPolicy("SourceOwner", "SourceAccount", `"SNS:Publish"`, `"SNS:Publish","SNS:Receive"`)),
			[]string{"SNS::TopicPolicy " + topic + ` high "the policy that AWS gives every topic" true`}},
		"the default without its condition": {topicPage(t, "t", defaultPolicy(`,"Condition":{"StringEquals":{"AWS:SourceOwner":"123456789012"}}`, "")), []string{"SNS::TopicPolicy " + topic + ` critical "" false`}},
		"the default for another account":   {topicPage(t, "t", defaultPolicy(`Owner":"123456789012"`, `Owner":"999988887777"`)), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default for two accounts":      {topicPage(t, "t", defaultPolicy(`Owner":"123456789012"`, `Owner":["123456789012","999988887777"]`)), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default with a wide condition": {topicPage(t, "t", defaultPolicy("StringEquals", "StringLike")), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default with every action":     {topicPage(t, "t", defaultPolicy("SNS:Publish", "SNS:*")), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default of another topic":      {topicPage(t, "t", defaultPolicy(":t\"", ":u\"")), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default of another name":       {topicPage(t, "t", defaultPolicy("__default_statement_ID", "mine")), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default that denies":           {topicPage(t, "t", defaultPolicy("Allow", "Deny")), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default for all but one":       {topicPage(t, "t", defaultPolicy(`"Principal"`, `"NotPrincipal"`)), []string{"SNS::TopicPolicy " + topic + ` high "" true`}},
		"the default and a second statement": {topicPage(t, "t", defaultPolicy("}}}]}", `}}},{"Effect":"Allow","Principal":"*","Action":"SNS:Publish","Resource":"*"}]}`)),
			[]string{"SNS::TopicPolicy " + topic + ` critical "" false`}},
	} {
		all, unread := Join([]Page{tt.page}, nil, func(string, string) string { return "" })
		var got []string
		for i := range all {
			r := &all[i]
			if name := strings.TrimPrefix(r.Kind, prefix); strings.HasSuffix(name, "Policy") {
				got = append(got, fmt.Sprintf("%s %s %s %q %t", name, r.ID, severityOf(r, model.Unmanaged), r.SystemOwned, r.DeclaredWithParent))
				if r.Parent != (model.Ref{Kind: strings.TrimSuffix(r.Kind, "Policy"), ID: r.ID}) || severityOf(r, model.Missing) != model.High || strings.Contains(r.Value.Text(), "Statement") {
					t.Errorf("%s: %+v", reason, r)
				}
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || len(unread) > 0 {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestUnreadPolicies checks that a policy is not read if its queue or topic could not be read, or if it is not known
// whether a tool declares that. No finding is about it then: its queue or topic has one.
func TestUnreadPolicies(t *testing.T) {
	t.Parallel()
	const url = "https://sqs.eu-central-1.amazonaws.com/123456789012/q"
	describe := func(all []model.Unread) (texts []string) {
		for _, u := range all {
			texts = append(texts, fmt.Sprintf("%s %s of %q %q %v", strings.TrimPrefix(u.Kind, prefix), u.ID, u.Parent.ID, u.SystemOwned, u.Identities))
		}
		return texts
	}
	const queue, topic = "arn:aws:sqs:eu-central-1:123456789012:q", "arn:aws:sns:eu-central-1:123456789012:t"
	policy := fmt.Sprintf("SQS::QueuePolicy %s of %q %q [{url %s} {regional eu-central-1 123456789012/q} {regional any 123456789012/q}]", queue, queue, withParent, url)
	row, err := decode.JSON([]byte(`{"text":"` + url + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := describe(listOfAction(t, "GetQueueAttributes").Unread(row, attachedEnv(), "AccessDenied", "denied"))
	if diff := cmp.Diff([]string{"SQS::Queue " + queue + ` of "" "" []`, policy}, got); diff != "" {
		t.Error(diff)
	}
	got = describe(listOfAction(t, "GetTopicAttributes").Unread(textMap("TopicArn", topic), attachedEnv(), "AccessDenied", "denied"))
	if diff := cmp.Diff([]string{"SNS::Topic " + topic + ` of "" "" []`, fmt.Sprintf("SNS::TopicPolicy %s of %q %q []", topic, topic, withParent)}, got); diff != "" {
		t.Error(diff)
	}
	all, unread := Join([]Page{queuePage(t, "q", ownPolicy)}, nil, func(kind, _ string) string {
		return map[string]string{Tags: "denied"}[kind]
	})
	if got := describe(unread); len(all) > 0 || len(got) != 2 || got[1] != policy {
		t.Errorf("without tags: %v, unread %v", all, got)
	}
}
