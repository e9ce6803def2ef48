package record_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestHostile checks that names are replaced that have the form of something which is kept, in places
// where the names of the fields do not distinguish them.
func TestHostile(t *testing.T) {
	t.Parallel()
	policy := func(statement string) string {
		return `<R><PolicyDocument>` + url.PathEscape("\n{\"Statement\":["+statement+"]}") + `</PolicyDocument></R>`
	}
	const iam, ec2, rds = "Action=GetAccountAuthorizationDetails&Version=2010-05-08", "Action=DescribeVpcs&Version=2016-11-15", "Action=DescribeDBInstances&Version=2014-10-31"
	for _, test := range []struct {
		reason string
		exchange
		secrets, keep []string
	}{
		{
			"words of the API with a name around", exchange{service: "ec2", form: ec2, body: `<R><name>prod-t3.micro-acme</name><name>gp3acme</name><name>Allow-acme</name><name>acmerunning</name><name>us-east-1-acme</name></R>`},
			[]string{"acme"}, nil,
		},
		{"a short name", exchange{service: "ec2", form: ec2, body: `<R><name>hr</name><name>vpn/hr.hr</name></R>`}, []string{">hr<", "hr.hr"}, nil},
		{"a zone of an address", exchange{service: "ec2", form: ec2, body: `<R><value>fe80::1%acme</value><value>::%acme</value></R>`}, []string{"acme"}, nil},
		{
			"networks of providers and companies", exchange{service: "ec2", form: ec2, body: `<R><c>2a05:d014::/32</c><c>2630::/16</c><c>2a05:d014:1:2::3/7</c><c>52.58.1.2/7</c><c>2000::/3</c><c>0.0.0.0/0</c></R>`},
			[]string{"2a05:d014", "2630::", "52.58.1.2"}, []string{"<c>2a00::/7</c>", "<c>52.0.0.0/7</c>", "<c>2000::/3</c>", "<c>0.0.0.0/0</c>"},
		},
		{
			"private addresses of IPv6 with a random or a hardware part", exchange{service: "ec2", form: ec2, body: `<R><c>fd6b:1f2c:9a3d::/48</c><c>fe80::a8bb:ccff:fedd:eeff</c><c>fc00::/7</c><c>fd00::/8</c><c>fe80::/10</c></R>`},
			[]string{"1f2c", "a8bb", "eeff"}, []string{"<c>fc00::/7</c>", "<c>fd00::/8</c>", "<c>fe80::/10</c>"},
		},
		{
			"numbers of accounts and telephones that are no texts", exchange{service: "iam", form: iam, body: policy(`{"Effect":"Allow","Action":"s3:GetObject","Condition":{"NumericEquals":{"aws:PrincipalAccount":12345678901,"x:phone":5551234567,"x:id":4711,"y:id":2.10987654321e11,"aws:EpochTime":1700000000}}}`)},
			[]string{"12345678901", "5551234567", "4711", "10987654321", "1700000000"}, []string{"s3:GetObject"},
		},
		{
			"numbers of accounts of an API", exchange{service: "eks", path: "/clusters", body: `{"n":[12345678901,-5551234567,1.2345678901e10],"storedBytes":12345678}`},
			[]string{"12345678901", "5551234567", "2345678901e10"}, []string{`\"storedBytes\":12345678`},
		},
		{"an action of a service of one's own", exchange{service: "iam", form: iam, body: policy(`{"Effect":"Allow","Action":["acmecorp:DoIt","iam:PassRole","*"]}`)}, []string{"acme", "DoIt"}, []string{"iam:PassRole"}},
		{
			"a policy of AWS that somebody has made up", exchange{service: "iam", form: iam, body: `<R><PolicyArn>arn:aws:iam::aws:policy/AdministratorAccess</PolicyArn><Description>arn:aws:iam::aws:policy/AcmeBoundary</Description></R>`},
			[]string{"Acme"}, []string{"arn:aws:iam::aws:policy/AdministratorAccess"},
		},
		{"a bucket with the form of a namespace", exchange{service: "ec2", form: ec2, body: `<R><description>https://acmebucket.s3.amazonaws.com/doc/2006-03-01/</description></R>`}, []string{"acme"}, nil},
		{"a version of an engine of one's own", exchange{service: "rds", form: rds, body: `<R><Engine>custom-oracle-ee</Engine><EngineVersion>19.acme_cev1</EngineVersion></R>`}, []string{"acme"}, []string{"custom-oracle-ee"}},
		{"keys of tags in the exclusions of an analyzer", exchange{service: "access-analyzer", path: "/analyzer", body: `{"analyzers":[{"configuration":{"unusedAccess":{"analysisRule":{"exclusions":[{"resourceTags":[{"acmekey":"acmevalue"}]}]}}}}]}`}, []string{"acme"}, nil},
		{"keys that are tokens of requests", exchange{service: "secretsmanager", form: "{}", body: `{"SecretList":[{"SecretVersionsToStages":{"acmeversion_0123456789012345678901":["AWSCURRENT"]}}]}`}, []string{"acme"}, nil},
		{"keys of an unknown map", exchange{service: "eks", path: "/clusters", body: `{"cluster":{"unknown":{"acme-a":1,"acmeb":{"status":"acmestatus"}},"token":{"acmeversion0123456789":"x"},"status":"ACTIVE"}}`}, []string{"acme"}, []string{"ACTIVE"}},
		{
			"entries that users choose", exchange{
				service: "elasticloadbalancing", form: "Action=DescribeListeners&Version=2015-12-01",
				body: `<R><AuthenticationRequestExtraParams><entry><key>acmekey</key><value>acmevalue</value></entry></AuthenticationRequestExtraParams><Params><entry><key>acmekey</key><value>x</value></entry></Params></R>`,
			},
			[]string{"acme"}, nil,
		},
		{
			"keys of a document that is no policy", exchange{service: "sqs", form: "{}", body: `{"Attributes":{"Policy":"{\"acmekey\":{\"acmeinner\":\"Enabled\",\"status\":\"acmestatus\"}}","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-central-1:210987654321:acme\",\"maxReceiveCount\":5}"}}`},
			[]string{"acme", "210987654321"}, []string{"deadLetterTargetArn", `maxReceiveCount\\\":5`},
		},
		{
			"records of DNS", exchange{
				service: "route53", path: "/2013-04-01/hostedzone/Z0ACME/rrset?name=acme.example.&type=TXT",
				body: `<R><Name>\052.acme.example.</Name><Name>xn--acme-0ra.example.</Name><Type>TXT</Type><Value>"v=acme1; p=acmekey"</Value><Value>10 mail.acme.example.</Value><Value>joe\100acme.example</Value></R>`,
			},
			[]string{"acme", "ACME", "joe"}, []string{`\\052.`, "<Type>TXT</Type>"},
		},
		{
			"escapes", exchange{service: "eks", path: "/clusters/%61cme", body: `{"cluster":{"name":"\u0061cme","tags":{"\u0061cme":"&#97;cme","a":"%61cme","b":"\\u0061cme"},"\u0061cme key":1}}`},
			[]string{"acme", "&#97;cme", "%61cme", "61cme", "97;cme", `u0061cme`}, nil,
		},
		{
			"CDATA, attributes, comments and instructions", exchange{service: "ec2", form: ec2, body: `<?acme acme?><!DOCTYPE acme><R a="acme" xmlns:acme="urn:acme"><acme:name>x</acme:name><name><![CDATA[acme]]></name><name>a<!--acme--></name>acme<name/></R><!--acme-->`},
			nil, nil,
		},
	} {
		r := newRecorder()
		ask(t, r, test.exchange)
		_, text := written(t, r)
		for _, secret := range test.secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q is written:\n%.2000s", test.reason, secret, text)
			}
		}
		plain, err := url.PathUnescape(strings.ReplaceAll(text, "%", "%25"))
		if decoded, errDecoded := url.PathUnescape(text); errDecoded == nil {
			plain = decoded
		}
		for _, keep := range test.keep {
			if err == nil && !strings.Contains(text, keep) && !strings.Contains(plain, keep) {
				t.Errorf("%s: %q is not kept:\n%.2000s", test.reason, keep, text)
			}
		}
	}
}

// TestOffsetHidden checks that times that people choose or that are the same in all accounts do not
// show the offset of the others, and that they stay different.
func TestOffsetHidden(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	var dates strings.Builder
	for i := range 300 {
		fmt.Fprintf(&dates, "<d>%s</d>", time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	ask(t, r, exchange{
		service: "rds", form: "Action=DescribeDBInstances&Version=2014-10-31",
		body: `<R><at>2024-05-01T10:20:30Z</at><noon>2024-05-01T12:00:00.000Z</noon><born>1961-03-04</born><never>9999-12-31T23:59:59Z</never><zero>1970-01-01T00:00:00Z</zero><ValidTill>2024-08-22T17:08:50Z</ValidTill>` + dates.String() + `</R>`,
	})
	_, text := written(t, r)
	of := func(name, layout string) time.Time {
		match := regexp.MustCompile("<" + name + ">([^<]*)</" + name + ">").FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("no %s:\n%s", name, text)
		}
		at, err := time.Parse(layout, match[1])
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return at
	}
	offset := time.Date(2024, 5, 1, 10, 20, 30, 0, time.UTC).Sub(of("at", time.RFC3339))
	noon := of("noon", "2006-01-02T15:04:05.000Z")
	if own := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC).Sub(noon); own == offset || own%(24*time.Hour) != 0 || own < 30*24*time.Hour {
		t.Errorf("a chosen time is shifted by %v, others by %v", own, offset)
	}
	for _, secret := range []string{"1961-03-04", "2024-08-22", "17:08:50"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is written", secret)
		}
	}
	for _, keep := range []string{"<never>9999-12-31T23:59:59Z</never>", "<zero>1970-01-01T00:00:00Z</zero>", "<ValidTill></ValidTill>"} {
		if !strings.Contains(text, keep) {
			t.Errorf("%s is not kept:\n%s", keep, text)
		}
	}
	found := map[string]bool{}
	for _, one := range regexp.MustCompile(`<d>[0-9-]{10}</d>`).FindAllString(text, -1) {
		found[one] = true
	}
	if len(found) != 300 {
		t.Errorf("%d different dates, want 300", len(found))
	}
}

// TestManyResources checks that the time and the search do not grow with the square of the number
// of resources.
func TestManyResources(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	const resources, page = 10_000, 1000
	start := time.Now()
	for from := 0; from < resources; from += page {
		var body strings.Builder
		for i := from; i < from+page; i++ {
			fmt.Fprintf(&body, "<item><instanceId>i-%017x</instanceId><name>prod-web-%05d</name><cidr>52.%d.%d.0/24</cidr><description>web server %d of the shop</description></item>", i, i, i/256, i%256, i)
		}
		ask(t, r, exchange{service: "ec2", form: fmt.Sprintf("Action=DescribeInstances&NextToken=token%d&Version=2016-11-15", from), body: "<R>" + body.String() + "</R>"})
	}
	_, text := written(t, r)
	networks := map[string]bool{}
	for _, network := range regexp.MustCompile(`<cidr>[0-9./]+`).FindAllString(text, -1) {
		networks[network] = true
	}
	if took := time.Since(start); took > time.Minute || len(networks) != resources {
		t.Errorf("%d networks after %v, want %d", len(networks), took, resources)
	}
}
