package mapping

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, sent, given string
		differs             bool
	}{
		"lists":     {"a single text is a list of one", `{"Statement":{"Action":"s3:GetObject","Resource":"a"}}`, `{"Statement":[{"Action":["s3:GetObject"],"Resource":["a"]}]}`, false},
		"order":     {"order and duplicates are ignored", `{"Statement":[{"Sid":"a","Resource":["x","y","x"]},{"Sid":"b"}]}`, `{"Statement":[{"Sid":"b"},{"Sid":"a","Resource":["y","x"]}]}`, false},
		"case":      {"actions are written in any case", `{"Statement":{"Action":"S3:getobject"}}`, `{"Statement":{"Action":"s3:GetObject"}}`, false},
		"everybody": {"anybody is written in two ways", `{"Statement":{"Principal":"*"}}`, `{"Statement":{"Principal":{"AWS":"*"}}}`, false},
		"account":   {"an account is its root", `{"Statement":{"Principal":{"AWS":"111122223333"}}}`, `{"Statement":{"Principal":{"AWS":["arn:aws:iam::111122223333:root"]}}}`, false},
		"condition": {"conditions are texts", `{"Statement":{"Condition":{"Bool":{"aws:SecureTransport":false}}}}`, `{"Statement":{"Condition":{"Bool":{"aws:SecureTransport":["false"]}}}}`, false},
		"empty":     {"an empty name is none", `{"Statement":{"Sid":"","Effect":"Deny"}}`, `{"Statement":{"Effect":"Deny"}}`, false},
		"effect":    {"allowing is not denying", `{"Statement":{"Effect":"Deny"}}`, `{"Statement":{"Effect":"Allow"}}`, true},
		"other":     {"one account is not another", `{"Statement":{"Principal":{"AWS":"111122223333"}}}`, `{"Statement":{"Principal":{"AWS":"*"}}}`, true},
		"resource":  {"names of resources have a case", `{"Statement":{"Resource":"A"}}`, `{"Statement":{"Resource":"a"}}`, true},
		"no policy": {"what is no policy stays", `not JSON`, `{"Statement":[]}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var live model.Value
			if err := live.UnmarshalJSON([]byte(test.given)); err != nil {
				t.Fatal(err)
			}
			sent := policy(model.StringOf(test.sent))
			if sent.Equal(policy(live)) == test.differs {
				t.Errorf("%s: %s and %s", test.reason, sent.AppendJSON(nil), policy(live).AppendJSON(nil))
			}
			if again := policy(sent); !again.Equal(sent) {
				t.Errorf("a second time it is another one: %s", again.AppendJSON(nil))
			}
		})
	}
}
