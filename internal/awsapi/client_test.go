package awsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A fake answers requests in their order, the last answer to all further ones.
type fake struct {
	mu      sync.Mutex
	answers []string
	// got are the requests: method, path with query, target, region and body.
	got []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	if len(scope) < 4 {
		scope = make([]string, 4)
	}
	f.got = append(f.got, strings.Join(strings.Fields(fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("X-Amz-Target"), " ", scope[2], " ", scope[3], " ", string(body))), " "))
	text := f.answers[min(len(f.got), len(f.answers))-1]
	if code, rest, ok := strings.Cut(text, "!"); ok {
		var status int
		_, _ = fmt.Sscan(code, &status)
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
		text = rest
	}
	_, _ = io.WriteString(w, text)
}

func connectTo(t *testing.T, f *fake, change func(*Options)) *Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Options: awsconfig.Options{Region: "eu-central-1", Profile: "test", CredentialsFile: file, ConfigFile: file, Endpoint: server.URL},
		Limits:  httpclient.Limits{Concurrency: 4, Timeout: time.Minute, MaxBody: 1 << 20, Backoff: 1},
	}
	if change != nil {
		change(&o)
	}
	c, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestDo(t *testing.T) {
	t.Parallel()
	ec2 := &Service{ID: "ec2", Protocol: EC2, Version: "2016-11-15"}
	for _, test := range []struct {
		reason, answer, request, want string
		call                          Call
	}{
		{
			"a list in a form of EC2 is numbered",
			`<DescribeVpcsResponse xmlns="x"><requestId>1</requestId><vpcSet><item><vpcId>vpc-1</vpcId><tagSet/></item></vpcSet></DescribeVpcsResponse>`,
			"POST / eu-central-1 ec2 Action=DescribeVpcs&Owner.1=self&Owner.2=b+c&Version=2016-11-15",
			`{"requestId":"1","vpcSet":[{"tagSet":"","vpcId":"vpc-1"}]}`,
			Call{Service: ec2, Action: "DescribeVpcs", Input: map[string]any{"Owner": []string{"self", "b c"}}},
		},
		{
			"a list of another service has members; the result is unwrapped; a global service is signed for the home of the partition",
			`<ListUsersResponse><ListUsersResult><Users><member><UserName>a</UserName></member></Users><IsTruncated>false</IsTruncated></ListUsersResult><ResponseMetadata/></ListUsersResponse>`,
			"POST / us-east-1 iam Action=ListUsers&Max=5&Name.member.1=a&Version=2010-05-08",
			`{"IsTruncated":"false","Users":[{"UserName":"a"}]}`,
			Call{Service: &Service{ID: "iam", Protocol: Query, Version: "2010-05-08", Global: true}, Action: "ListUsers", Input: map[string]any{"Name": []string{"a"}, "Max": 5}},
		},
		{
			"a document", `{"Keys":[{"KeyId":"1"}]}`,
			`POST / TrentService.ListKeys eu-central-1 kms {"Limit":5}`, `{"Keys":[{"KeyId":"1"}]}`,
			Call{Service: &Service{ID: "kms", Protocol: JSON, Version: "1.1", Target: "TrentService"}, Action: "ListKeys", Input: map[string]any{"Limit": 5}},
		},
		{
			"a document without parameters", `{}`, `POST / T.ListKeys eu-central-1 kms {}`, `{}`,
			Call{Service: &Service{ID: "kms", Protocol: JSON, Version: "1.1", Target: "T"}, Action: "ListKeys"},
		},
		{
			"a path", `{"Policy":"x"}`, "GET /functions/a%2Fb/policy?Marker=m eu-central-1 lambda", `{"Policy":"x"}`,
			Call{Service: &Service{ID: "lambda", Protocol: RESTJSON}, Action: "GetPolicy", Path: "/functions/{Name}/policy", Input: map[string]any{"Name": "a/b", "Marker": "m"}},
		},
		{
			"elements of a list by their name", `<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/Z1</Id></HostedZone></HostedZones></ListHostedZonesResponse>`,
			"GET /2013-04-01/hostedzone us-east-1 route53", `{"HostedZones":[{"Id":"/hostedzone/Z1"}]}`,
			Call{Service: &Service{ID: "route53", Protocol: RESTXML, Global: true, Lists: "HostedZone"}, Action: "ListHostedZones", Path: "/2013-04-01/hostedzone"},
		},
	} {
		f := &fake{answers: []string{test.answer}}
		v, err := connectTo(t, f, nil).Do(t.Context(), "eu-central-1", &test.call)
		if err != nil {
			t.Errorf("%s: Do() = %v", test.reason, err)
			continue
		}
		if got := string(v.AppendJSON(nil)); got != test.want {
			t.Errorf("%s: Do() = %s, want %s", test.reason, got, test.want)
		}
		if diff := cmp.Diff([]string{test.request}, f.got); diff != "" {
			t.Errorf("%s: requests differ (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ reason, answer, want string }{
		{"EC2", `403!<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no. Encoded authorization failure message: abc</Message></Error></Errors></Response>`, "403 UnauthorizedOperation: no."},
		{"form", `403!<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`, "403 AccessDenied: no"},
		{"document", `400!{"__type":"com.amazonaws.x#AccessDeniedException","Message":"no"}`, "400 AccessDeniedException: no"},
		{"the secret key in an answer is hidden", `400!{"__type":"X","message":"key hunter2hunter2"}`, "400 X: key …"},
		{"a proxy", `403!<html>`, "403 Forbidden"},
		{"a page of HTML", `<html></html>`, "the answer is not the one to this request: it is <html>"},
		{"another operation", `<DescribeSubnetsResponse/>`, "the answer is not the one to this request: it is <DescribeSubnetsResponse>"},
		{"nothing", ``, "the answer is not the one to this request: it is empty"},
		{"a part", `<DescribeVpcsResponse><vpcSet>`, "the answer is not the one to this request: it is not valid XML"},
		{"two documents", `<DescribeVpcsResponse/><DescribeVpcsResponse/>`, "the answer is not the one to this request: it has content after the document"},
		{"depth", strings.Repeat("<a>", 5000), "the answer is not the one to this request: it is nested too deeply"},
	} {
		f := &fake{answers: []string{test.answer}}
		_, err := connectTo(t, f, nil).Do(t.Context(), "eu-central-1", &Call{Service: &Service{ID: "ec2", Protocol: EC2, Rate: 1000}, Action: "DescribeVpcs"})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: Do() = %v, want %s", test.reason, err, test.want)
		}
	}
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	throttled := `400!{"__type":"ThrottlingException","message":"Rate exceeded"}`
	call := &Call{Service: &Service{ID: "kms", Protocol: JSON, Version: "1.1", Target: "T", Rate: 1000}, Action: "ListKeys"}
	f := &fake{answers: []string{throttled, throttled, `{}`}}
	if _, err := connectTo(t, f, nil).Do(t.Context(), "eu-central-1", call); err != nil || len(f.got) != 3 {
		t.Errorf("Do() = %v after %d requests, want success after 3", err, len(f.got))
	}
	f = &fake{answers: []string{throttled}}
	if _, err := connectTo(t, f, nil).Do(t.Context(), "eu-central-1", call); !Throttled(err) || len(f.got) != throttledAttempts {
		t.Errorf("Do() = %v after %d requests, want the error after %d", err, len(f.got), throttledAttempts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := connectTo(t, &fake{answers: []string{throttled}}, func(o *Options) { o.Limits.Backoff = time.Hour })
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Do(ctx, "eu-central-1", call); !errors.Is(err, context.Canceled) {
		t.Errorf("Do() with an ended context = %v", err)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	f := &fake{answers: []string{`403!<Response><Errors><Error><Code>RequestExpired</Code></Error></Errors></Response>`, `<DescribeVpcsResponse/>`}}
	call := &Call{Service: &Service{ID: "ec2", Protocol: EC2, Rate: 1000}, Action: "DescribeVpcs"}
	c := connectTo(t, f, nil)
	if _, err := c.Do(t.Context(), "eu-central-1", call); err != nil || len(f.got) != 2 {
		t.Errorf("Do() = %v after %d requests, want success after 2", err, len(f.got))
	}
	f.mu.Lock()
	f.answers = []string{`403!<Response><Errors><Error><Code>RequestExpired</Code></Error></Errors></Response>`}
	f.mu.Unlock()
	if _, err := c.Do(t.Context(), "eu-central-1", call); CodeOf(err) != "RequestExpired" || len(f.got) != 3 {
		t.Errorf("Do() with the clock of AWS = %v after %d requests, want the error after 3", err, len(f.got))
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	page := func(id, next string) string {
		return fmt.Sprintf(`<DescribeVpcsResponse><vpcSet><item>%s</item></vpcSet><nextToken>%s</nextToken></DescribeVpcsResponse>`, id, next)
	}
	expired := `400!<Response><Errors><Error><Code>InvalidNextToken</Code></Error></Errors></Response>`
	for _, test := range []struct {
		reason  string
		answers []string
		want    []string
		err     string
	}{
		{"two pages", []string{page("1", "t"), page("2", "")}, []string{"1", "2"}, ""},
		{"a token that expires starts again", []string{page("1", "t"), expired, page("3", "u"), page("4", "")}, []string{"3", "4"}, ""},
		{"it starts again once", []string{page("1", "t"), expired, page("3", "u"), expired}, nil, "400 InvalidNextToken"},
		{"the first page has no token", []string{expired}, nil, "400 InvalidNextToken"},
		{"a token that repeats", []string{page("1", "t"), page("2", "u"), page("3", "t")}, nil, errRepeated.Error()},
	} {
		call := &Call{Service: &Service{ID: "ec2", Protocol: EC2, Rate: 1000}, Action: "DescribeVpcs", Page: []PageToken{{"NextToken", "nextToken"}}}
		var got []string
		err := connectTo(t, &fake{answers: test.answers}, nil).Pages(t.Context(), "eu-central-1", call, func() { got = nil }, func(v model.Value) error {
			for _, item := range v.At("vpcSet").Items() {
				got = append(got, item.Text())
			}
			return nil
		})
		if fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
			t.Errorf("%s: Pages() = %v, want %q", test.reason, err, test.err)
		}
		if diff := cmp.Diff(test.want, got); test.err == "" && diff != "" {
			t.Errorf("%s: rows differ (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	answer := func(arn string) string {
		return `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>` + arn + `</Arn><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
	}
	who, err := connectTo(t, &fake{answers: []string{answer("arn:aws-cn:iam::123456789012:user/a")}}, nil).Identify(t.Context())
	if want := (Identity{Account: "123456789012", Partition: "aws-cn", ARN: "arn:aws-cn:iam::123456789012:user/a"}); err != nil || who != want {
		t.Errorf("Identify() = %+v, %v, want %+v", who, err, want)
	}
	if _, err = connectTo(t, &fake{answers: []string{answer("arn:aws:iam::999999999999:user/a")}}, nil).Identify(t.Context()); err == nil {
		t.Error("Identify() accepts an ARN of another account")
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	f := &fake{answers: []string{
		`<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials><AssumedRoleUser><Arn>a</Arn><AssumedRoleId>b</AssumedRoleId></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>`,
		`<DescribeVpcsResponse/>`,
	}}
	c := connectTo(t, f, func(o *Options) { o.Role, o.ExternalID = "arn:aws:iam::123456789012:role/x", "secret-id" })
	if _, err := c.Do(t.Context(), "eu-central-1", &Call{Service: &Service{ID: "ec2", Protocol: EC2}, Action: "DescribeVpcs"}); err != nil {
		t.Fatal(err)
	}
	form, err := url.ParseQuery(f.got[0][strings.LastIndex(f.got[0], " ")+1:])
	if err != nil || form.Get("RoleArn") != "arn:aws:iam::123456789012:role/x" || form.Get("ExternalId") != "secret-id" || form.Get("RoleSessionName") != "driftd" {
		t.Errorf("AssumeRole was requested with %v", form)
	}
	if mine, err := c.Config.Credentials.Retrieve(t.Context()); err != nil || mine.AccessKeyID != "ASIAROLE" {
		t.Errorf("requests are signed with %s, %v, want the role's key", mine.AccessKeyID, err)
	}
}
