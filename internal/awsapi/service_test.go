package awsapi

import (
	"net/http"
	"testing"
)

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, base, region string
		global           bool
		url, signed      string
	}{
		{"ec2", "", "eu-central-1", false, "https://ec2.eu-central-1.amazonaws.com", "eu-central-1"},
		{"ec2", "", "cn-north-1", false, "https://ec2.cn-north-1.amazonaws.com.cn", "cn-north-1"},
		{"ec2", "", "us-gov-east-1", false, "https://ec2.us-gov-east-1.amazonaws.com", "us-gov-east-1"},
		{"iam", "", "eu-central-1", true, "https://iam.amazonaws.com", "us-east-1"},
		{"iam", "", "cn-northwest-1", true, "https://iam.cn-north-1.amazonaws.com.cn", "cn-north-1"},
		{"iam", "", "us-gov-east-1", true, "https://iam.us-gov.amazonaws.com", "us-gov-west-1"},
		{"iam", "", "us-isob-east-1", true, "https://iam.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1"},
		{"route53", "", "cn-north-1", true, "https://route53.amazonaws.com.cn", "cn-northwest-1"},
		{"iam", "http://127.0.0.1:5000/", "eu-central-1", true, "http://127.0.0.1:5000", "us-east-1"},
	} {
		s := Service{ID: test.id, Global: test.global}
		if url, signed := s.endpoint(test.base, test.region); url != test.url || signed != test.signed {
			t.Errorf("endpoint of %s in %s = %s, signed for %s, want %s, %s", test.id, test.region, url, signed, test.url, test.signed)
		}
	}
	if url, _ := (&Service{ID: "a", Prefix: "api.ecr"}).endpoint("", "eu-west-1"); url != "https://api.ecr.eu-west-1.amazonaws.com" {
		t.Errorf("endpoint with a prefix = %s", url)
	}
}

// FuzzDecode checks that no answer makes the decoders fail other than with an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`<AResponse><AResult><x><item>1</item><item><b/></item></x></AResult></AResponse>`))
	f.Add([]byte(`<Response><Errors><Error><Code>X</Code></Error></Errors></Response>`))
	f.Add([]byte(`{"__type":"a#b","list":[{"a":1}],"nextToken":"t"}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		for _, protocol := range []Protocol{EC2, JSON} {
			c := &Call{Service: &Service{Protocol: protocol, Lists: "a"}, Action: "A", Page: []PageToken{{"NextToken", "nextToken"}}}
			if v, err := c.decode(body); err == nil {
				c.next(v)
				v.AppendJSON(nil)
			}
		}
		_ = decodeError(http.StatusForbidden, http.Header{}, body)
	})
}
