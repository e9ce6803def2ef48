package vocabulary

import (
	"net/http"
	"strings"
	"testing"
)

// TestRequest checks that a request has the form of one to a single server, for any host.
func TestRequest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ reason, endpoint, url, service, body, want string }{
		{"a bucket in the host", "", "https://logs.s3.eu-central-1.amazonaws.com/?policy", "s3", "", "s3 eu-central-1 GET /logs?policy="},
		{"a bucket with dots", "", "https://a.logs.s3.eu-central-1.amazonaws.com/?acl", "s3", "", "s3 eu-central-1 GET /a.logs?acl="},
		{"a bucket in the path", "", "https://s3.eu-central-1.amazonaws.com/logs?acl=", "s3", "", "s3 eu-central-1 GET /logs?acl="},
		{"all buckets", "", "https://s3.eu-central-1.amazonaws.com/?max-buckets=1000", "s3", "", "s3 eu-central-1 GET /?max-buckets=1000"},
		{"a bucket in the host of a compatible server", "s3.example.org:9000", "https://logs.s3.example.org:9000/?acl", "s3", "", "s3 eu-central-1 GET /logs?acl="},
		{"a form", "", "https://ec2.eu-central-1.amazonaws.com/", "ec2", "Action=DescribeVpcs", "ec2 eu-central-1 GET / Action=DescribeVpcs"},
		{"the account", "", "https://sts.eu-central-1.amazonaws.com/", "sts", "Action=GetCallerIdentity&Version=2011-06-15", "sts eu-central-1 GET / Action=GetCallerIdentity&Version=2011-06-15"},
		{"a role", "", "https://sts.eu-central-1.amazonaws.com/", "sts", "Action=AssumeRole&Version=2011-06-15", ""},
		{"a service that breaks out of the folder", "", "https://sts.eu-central-1.amazonaws.com/", "../x", "", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.url, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/eu-central-1/"+test.service+"/aws4_request, SignedHeaders=host, Signature=0")
		got, ok := request(r, test.endpoint)
		if ok != (test.want != "") || ok && got.Key() != test.want {
			t.Errorf("%s: %t %q, want %q", test.reason, ok, got.Key(), test.want)
		}
	}
}

// TestKept checks that words that name something are not kept, although they look like those that
// are.
func TestKept(t *testing.T) {
	t.Parallel()
	v := Of("")
	for _, text := range []string{"eu-acme-1", "us-west-acme", "aws-acme", "arn:aws:iam::123456789012:policy/acme", "http://acs.amazonaws.com/groups/acme", "aws:acme", "default2", "https://acme.amazonaws.com/x"} {
		if v.Keep.MatchString(text) {
			t.Errorf("%q is kept", text)
		}
	}
	for _, text := range []string{"acme-0a1b2c3d", "sg-acme0123", "sg-0a1b2c3d4", "AKIAacme"} {
		if v.IDs.MatchString(text) {
			t.Errorf("%q counts as an ID", text)
		}
	}
	name := func(text string) string { return strings.Repeat("x", len(text)) }
	for text, want := range map[string]string{
		"arn:aws:iam::123456789012:role/acme":            "arn:xxx:iam::xxxxxxxxxxxx:role/xxxx",
		"arn:aws:sqs:eu-central-1:123456789012:role":     "arn:xxx:sqs:xxxxxxxxxxxx:xxxxxxxxxxxx:xxxx",
		"arn:aws:sns:eu-central-1:123456789012:role:abc": "arn:xxx:sns:xxxxxxxxxxxx:xxxxxxxxxxxx:xxxxxxxx",
		"arn:aws:acme:eu-central-1:123456789012:acme/a":  "arn:xxx:xxxx:xxxxxxxxxxxx:xxxxxxxxxxxx:xxxxxx",
		"lambda.amazonaws.com":                           "lambda.amazonaws.com",
		"acme.amazonaws.com":                             "",
		"arn:acme":                                       "",
	} {
		got, ok := compound(text, name)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t, want %q", text, got, ok, want)
		}
	}
}
