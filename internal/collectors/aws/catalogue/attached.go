package catalogue

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/aws/policy"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

const decidesReason = "it decides who can use it"

// attachedRules rates a policy that is a resource of its own.
func attachedRules() []model.SeverityRule {
	return slices.Concat(publicRules(), table.Rate(model.High, decidesReason, "", []model.Verdict{model.Unmanaged, model.Missing}))
}

// queuePolicy returns the kind of the policies of queues, in rows with their attributes.
func queuePolicy() *Kind {
	return &Kind{
		Name: "SQS::QueuePolicy", ID: "{QueueArn}", Label: "{QueueArn@name}", Needs: "Policy",
		Parent: Reference{"SQS::Queue", "{QueueArn}"}, Part: true, Identities: queueNames(),
		Fields: public().Of("Policy>public"), Rules: attachedRules(), Exposed: table.Exposed(model.ExposesAccess, ""),
		Usual: []Usual{{Reason: "a policy without statements", Is: func(row model.Value, _ *Env) bool { return hasNoStatement(at(row, "Policy")) }}},
	}
}

// queueNames returns the identities of the policy of a queue, in a row with the attributes or in that of the queue: the URL, and the name in
// the region, because the host in the URL depends on where the request was sent. Old versions of the provider do not record the region.
func queueNames() [][2]string {
	const name = "{$account}/{QueueArn@name|text@name}"
	return [][2]string{{"url", "{^.^.text|text}"}, {"regional", "{$region} " + name}, {"regional", "any " + name}}
}

// topicPolicy returns the kind of the policies of topics, in rows with their attributes. Each topic has one.
func topicPolicy() *Kind {
	return &Kind{
		Name: "SNS::TopicPolicy", ID: "{Attributes.TopicArn}", Label: "{Attributes.TopicArn@name}", Needs: "Attributes.Policy",
		Parent: Reference{"SNS::Topic", "{Attributes.TopicArn}"}, Part: true,
		Fields: public().Of("Attributes.Policy>public"), Rules: attachedRules(), Exposed: table.Exposed(model.ExposesAccess, ""),
		Usual: []Usual{{Reason: "the policy that AWS gives every topic", Is: func(row model.Value, env *Env) bool {
			return isDefaultPolicy(at(row, "Attributes.Policy"), at(row, "Attributes.TopicArn").Str(), env.Texts["account"])
		}}},
	}
}

// hasNoStatement reports whether a text is a policy that neither allows nor denies anything.
func hasNoStatement(text model.Value) bool {
	document, err := decode.JSON([]byte(text.Str()))
	return err == nil && document.At("Statement").Kind() == model.List && len(document.At("Statement").Items()) == 0
}

// isDefaultPolicy reports whether the policy of a topic is the one that AWS gives every topic: it allows the owner of the topic the
// operations on it, and grants nothing to others. See https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-use-cases.html
func isDefaultPolicy(document model.Value, topic, account string) bool {
	statements := policy.Statements(document)
	if len(statements) != 1 || account == "" {
		return false
	}
	s := statements[0]
	known := []string{"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}
	if slices.ContainsFunc(s.Fields(), func(f model.Field) bool { return !slices.Contains(known, f.Name) }) {
		return false
	}
	return s.At("Sid").Str() == "__default_statement_ID" && s.At("Effect").Str() == "Allow" && s.At("Resource").Str() == topic &&
		onlyDefaultActions(s.At("Action")) && onlyOwner(s.At("Condition"), account)
}

// onlyDefaultActions reports whether all actions are among those of the default policy of a topic.
func onlyDefaultActions(actions model.Value) bool {
	usual := []string{"gettopicattributes", "settopicattributes", "addpermission", "removepermission", "deletetopic", "subscribe", "listsubscriptionsbytopic", "publish", "receive"}
	return !slices.ContainsFunc(policy.List(actions), func(a model.Value) bool {
		name, ok := strings.CutPrefix(strings.ToLower(a.Str()), "sns:")
		return !ok || !slices.Contains(usual, name)
	})
}

// onlyOwner reports whether a condition is fulfilled by one account alone.
func onlyOwner(condition model.Value, account string) bool {
	if len(condition.Fields()) != 1 {
		return false
	}
	owner := condition.At("StringEquals")
	if len(owner.Fields()) != 1 {
		return false
	}
	f := owner.Fields()[0]
	values := policy.List(f.Value)
	return slices.Contains([]string{"aws:sourceowner", "aws:sourceaccount"}, strings.ToLower(f.Name)) && len(values) == 1 && values[0].Text() == account
}
