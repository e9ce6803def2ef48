package policy_test

import (
	"testing"

	"github.com/driftd/driftd/internal/collectors/aws/policy"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// TestPolicies checks which policies are open to everyone, and which allow everything.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason, document        string
		everyone, administrator bool
	}{
		{"everyone", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*"}}`, true, false},
		{"everyone of AWS", `{"Statement":[{"Effect":"Allow","Principal":{"AWS":["1","*"]},"Action":"sqs:*"}]}`, true, false},
		{"a condition", `{"Statement":[{"Effect":"Allow","Principal":"*","Condition":{"StringEquals":{"aws:SourceOwner":"1"}}}]}`, false, false},
		{"an empty condition", `{"Statement":[{"Effect":"Allow","Principal":"*","Condition":{}}]}`, true, false},
		{"everyone of AWS, after a denial", `{"Statement":[{"Effect":"Deny","Principal":"*"},{"Effect":"Allow","Principal":{"AWS":"*"}}]}`, true, false},
		{"one account", `{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::1:root"}}}`, false, false},
		{"a service", `{"Statement":{"Effect":"Allow","Principal":{"Service":"logging.s3.amazonaws.com"}}}`, false, false},
		{"a denial", `{"Statement":[{"Effect":"Deny","Principal":"*"}]}`, false, false},
		{"all but one", `{"Statement":[{"Effect":"Allow","NotPrincipal":{"AWS":"1"}}]}`, true, false},
		{"administrator", `{"Statement":[{"Effect":"Allow","Action":["*"],"Resource":"*"}]}`, false, true},
		{"administrator in the encoding of URLs", `%7B%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22%2A%3A%2A%22%2C%22Resource%22%3A%5B%22%2A%22%5D%7D%5D%7D`, false, true},
		{"every right to grant oneself rights", `{"Statement":[{"Effect":"Allow","Action":["s3:GetObject","IAM:*"],"Resource":"*"}]}`, false, true},
		{"every action but one", `{"Statement":[{"Effect":"Allow","NotAction":"s3:DeleteBucket","Resource":"*"}]}`, false, true},
		{"every action but those of IAM", `{"Statement":[{"Effect":"Allow","NotAction":["iam:*","account:*"],"Resource":"*"}]}`, false, false},
		{"every resource but one", `{"Statement":[{"Effect":"Allow","Action":"*","NotResource":"arn:aws:s3:::a"}]}`, false, true},
		{"a right of IAM on one role", `{"Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"arn:aws:iam::1:role/a"}]}`, false, false},
		{"one service", `{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`, false, false},
		{"no document", `x`, false, false},
	} {
		statements := policy.Statements(model.StringOf(test.document))
		if got := policy.AllowsEveryone(statements); got != test.everyone {
			t.Errorf("%s: AllowsEveryone() = %t", test.reason, got)
		}
		if got := policy.AllowsEverything(statements); got != test.administrator {
			t.Errorf("%s: AllowsEverything() = %t", test.reason, got)
		}
	}
	document, err := decode.JSON([]byte(`{"Statement":{"Effect":"Allow","Principal":"*"}}`))
	if err != nil || !policy.AllowsEveryone(policy.Statements(document)) {
		t.Errorf("a decoded document is not open to everyone: %v", err)
	}
}
