package record_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/aws/vocabulary"
	"github.com/driftd/driftd/internal/record"
)

const (
	accessKey = "AKIATRUEKEYOFTHETEST"
	session   = "IQoJb3JpZ2luX2VjEJr+truesessiontoken"
	signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
)

// An exchange is a request, and the answer of the server.
type exchange struct {
	// service and form are the request: a GET of path without a form.
	service, path, form string
	status              int
	contentType, body   string
}

// ask sends the requests of exchanges through a recorder.
func ask(t *testing.T, r *record.Recorder, all ...exchange) {
	t.Helper()
	for _, e := range all {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", e.contentType)
			w.Header().Set("X-Secret", "tokenofaproxy")
			w.Header().Set("X-Amzn-Requestid", "f3c0b1a2-9d8e-4f70-a1b2-c3d4e5f60718")
			w.WriteHeader(max(e.status, http.StatusOK))
			_, _ = io.WriteString(w, e.body)
		}))
		method := http.MethodGet
		if e.form != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/"+strings.TrimPrefix(e.path, "/"), strings.NewReader(e.form))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+accessKey+"/20260101/eu-central-1/"+e.service+"/aws4_request, SignedHeaders=host, Signature="+signature)
		request.Header.Set("X-Amz-Security-Token", session)
		answer, err := (&http.Client{Transport: r.Through(http.DefaultTransport)}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if err != nil || string(got) != e.body {
			t.Errorf("the collector got %.100q, %v", got, err)
		}
		_ = answer.Body.Close()
		server.Close()
	}
}

// written writes a recording, and returns its folder and all of its text.
func written(t *testing.T, r *record.Recorder) (dir, text string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "recording")
	if err := r.Write(dir, record.Manifest{Taken: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return dir, contentOf(t, dir)
}

func contentOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		all.WriteString(path + "\n" + string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func newRecorder() *record.Recorder { return record.New(vocabulary.Of("")) }

// TestScrubbed checks that nothing of what a user or a server may put into an answer is written.
func TestScrubbed(t *testing.T) {
	t.Parallel()
	policy := `{"Version":"2012-10-17","Statement":[{"Sid":"AcmeSid","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::210987654321:role/acme-deployer"},"Action":"s3:GetObject",` +
		`"Resource":"arn:aws:s3:::acme-payroll/*","Condition":{"StringEquals":{"aws:RequestTag/acmeproject":"acmephoenix"}}}]}`
	for _, test := range []struct {
		reason string
		exchange
		// secrets must not be written; keep must.
		secrets, keep []string
	}{
		{
			"names, IDs, addresses and times", exchange{
				service: "ec2", form: "Action=DescribeInstances&MaxResults=1000&NextToken=opaqueTokenOfAcme&Version=2016-11-15",
				body: `<?xml version="1.0"?><!-- acmecomment --><DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/" owner="acmeattribute"><item><instanceId>i-0a1b2c3d4e5f60718</instanceId>` +
					`<ownerId>210987654321</ownerId><ipAddress>52.58.1.2</ipAddress><privateIpAddress>10.1.2.3</privateIpAddress><cidr>0.0.0.0/0</cidr><launchTime>2024-05-01T10:20:30.123Z</launchTime>` +
					`<instanceState><name>running</name></instanceState><groupName>acme-payroll</groupName><groupName>default</groupName><isDefault>true</isDefault><userData>YWNtZS1zZWNyZXQ=</userData></item></DescribeInstancesResponse>`,
			},
			[]string{"acme", "opaqueTokenOfAcme", "i-0a1b2c3d4e5f60718", "210987654321", "52.58.1.2", "2024-05-01", "YWNtZS1zZWNyZXQ"},
			[]string{"<name>running</name>", "10.1.2.3", "0.0.0.0/0", "<groupName>default</groupName>", "<isDefault>true</isDefault>", "MaxResults=1000", `xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"`},
		},
		{
			"tags, whose keys are those of users, and that contain documents", exchange{
				service: "eks", path: "/clusters/acmecluster", contentType: "application/json",
				body: `{"cluster":{"name":"acmecluster","status":"ACTIVE","tags":{"acmekey":"{\"status\":\"acmedocument\"}","status":"acmestatus","aws:eks:cluster-name":"acmecluster"},` +
					`"createdAt":1700000000.5,"version":"1.29","Environment":{"Variables":{"PASSWORD":"hunter2hunter2"}}}}`,
			},
			[]string{"acme", "hunter2", "PASSWORD", "1700000000"},
			[]string{`\"status\":\"ACTIVE\"`, "aws:eks:cluster-name", `\"version\":\"1.29\"`, "GET /clusters/"},
		},
		{
			"a tag with XML, Unicode and a language", exchange{
				service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15",
				body: `<R><tagSet><item><key>Name</key><value>&lt;state&gt;acmestate&lt;/state&gt;</value></item><item><key>acmeschlüssel</key><value>Zürich für acme</value></item></tagSet></R>`,
			},
			[]string{"acme", "Zürich", "schlüssel"}, []string{"<key>Name</key>"},
		},
		{
			"policies, plain and in the encoding of URLs", exchange{
				service: "iam", form: "Action=GetAccountAuthorizationDetails&Version=2010-05-08",
				body: `<R><AssumeRolePolicyDocument>` + url.QueryEscape(policy) + `</AssumeRolePolicyDocument><PolicyDocument>` + strings.ReplaceAll(policy, `"`, "&quot;") + `</PolicyDocument></R>`,
			},
			[]string{"acme", "AcmeSid", "210987654321"}, []string{"s3:GetObject", "StringEquals", "2012-10-17"}[:1],
		},
		{
			"an address with a signature", exchange{
				service: "lambda", path: "/2015-03-31/functions", contentType: "application/json",
				body: `{"Code":{"Location":"https://acme-bucket.s3.amazonaws.com/code?X-Amz-Signature=0123456789abcdef0123456789abcdef&X-Amz-Security-Token=acmetoken"},"Functions":[{"Runtime":"python3.12"}]}`,
			},
			[]string{"acme", "0123456789abcdef"}, []string{"python3.12"},
		},
		{
			"an error with a message", exchange{
				service: "ec2", form: "Action=DescribeVolumes&Version=2016-11-15", status: http.StatusForbidden,
				body: `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You, arn:aws:sts::210987654321:assumed-role/acme/bob, are not authorized with an explicit deny in a service control policy. Encoded authorization failure message: YWNtZQacmemessage</Message></Error></Errors></Response>`,
			},
			[]string{"acme", "210987654321", "YWNtZQ"}, []string{"UnauthorizedOperation", "<Message>service control policy</Message>"},
		},
		{
			"the page of a proxy", exchange{service: "sqs", form: "{}", contentType: "text/html", body: `<html><body>Log in with acmetoken <a href="?code=acmecode"></body></html>`},
			[]string{"acme"}, []string{"<html></html>"},
		},
		{
			"the answer of a proxy", exchange{service: "sns", form: "a=b", body: `{"code":"SplxlOBeZQQYbYS6WxSbIA","type":"acme cookie"}`},
			[]string{"acme", "SplxlOBeZQQYbYS6WxSbIA"}, nil,
		},
		{
			"neither XML nor JSON", exchange{service: "rds", form: "Action=DescribeDBInstances&Version=2014-10-31", body: "acme,secret\n1,2"}, []string{"acme"}, nil,
		},
		{
			"a large answer", exchange{service: "logs", form: `{"limit":50}`, body: `{"logGroups":[` + strings.Repeat(`{"logGroupName":"/aws/lambda/acmefunction","storedBytes":1},`, 170_000) + `{}]}`},
			[]string{"acme"}, []string{"/aws/lambda/"},
		},
	} {
		r := newRecorder()
		ask(t, r, test.exchange)
		_, text := written(t, r)
		for _, secret := range append(test.secrets, accessKey, session, signature, "tokenofaproxy", "f3c0b1a2") {
			if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
				t.Errorf("%s: %q is written:\n%.2000s", test.reason, secret, text)
			}
			if decoded, err := url.PathUnescape(strings.ReplaceAll(text, "%2", "%2")); err == nil && strings.Contains(decoded, secret) {
				t.Errorf("%s: %q is written in the encoding of URLs", test.reason, secret)
			}
		}
		for _, keep := range test.keep {
			if !strings.Contains(text, keep) {
				t.Errorf("%s: %q is not kept:\n%.2000s", test.reason, keep, text)
			}
		}
	}
}

// TestCredentialsUnrecorded checks that the answer to a request for credentials is not recorded.
func TestCredentialsUnrecorded(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	ask(t, r, exchange{service: "sts", form: "Action=AssumeRole&Version=2011-06-15", body: `<AssumeRoleResponse><SecretAccessKey>secretofarole</SecretAccessKey></AssumeRoleResponse>`})
	dir := filepath.Join(t.TempDir(), "recording")
	if err := r.Write(dir, record.Manifest{Taken: time.Now()}); err == nil || !strings.Contains(err.Error(), "nothing to record") {
		t.Errorf("Write() = %v", err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("a folder without answers is left")
	}
}

// TestSameName checks that a name has one pseudonym wherever it stands, and another one in
// another recording.
func TestSameName(t *testing.T) {
	t.Parallel()
	record := func() string {
		r := newRecorder()
		ask(t, r,
			exchange{service: "eks", path: "/clusters", body: `{"clusters":["acme.prod"]}`},
			exchange{service: "eks", path: "/clusters/acme.prod", body: `{"cluster":{"name":"acme.prod","arn":"arn:aws:eks:eu-central-1:210987654321:cluster/acme.prod"}}`},
			exchange{service: "iam", form: "Action=ListAccessKeys&UserName=acme.prod&Version=2010-05-08", body: `<R><UserName>acme.prod</UserName><Policy>{"Statement":[{"Resource":"acme.prod"}]}</Policy></R>`})
		_, text := written(t, r)
		return text
	}
	one, two := record(), record()
	name := regexp.MustCompile(`clusters\\":\[\\"([a-z]+\.[a-z]+)`).FindStringSubmatch(one)
	if name == nil {
		t.Fatalf("no name:\n%s", one)
	}
	if got := strings.Count(one, name[1]); got != 7 {
		t.Errorf("%s stands %d times there, want 7:\n%s", name[1], got, one)
	}
	if strings.Contains(two, name[1]) {
		t.Error("two recordings have the same pseudonym")
	}
}

// TestAmbiguous checks that a name that is a word of the API is replaced where it is a name, does
// not fail the search, and is reported.
func TestAmbiguous(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	ask(t, r, exchange{service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15", body: `<R><state>available</state><groupName>available</groupName><groupId>available-too</groupId></R>`})
	_, text := written(t, r)
	if strings.Count(text, "available") != 1 || !strings.Contains(text, "<state>available</state>") {
		t.Errorf("the name is kept:\n%s", text)
	}
	if got := r.Ambiguous(); len(got) != 1 || got[0] != "available" {
		t.Errorf("Ambiguous() = %q", got)
	}
}

// TestDistinct checks that different texts of one form have different pseudonyms, and that
// addresses stay in reserved ranges.
func TestDistinct(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	var body strings.Builder
	for i := range 300 {
		fmt.Fprintf(&body, "<item><n>%d</n><i>52.58.%d.0/24</i><i>52.%d.0.1</i><i>2a05:d014:%x::/48</i></item>", i, i%256, i%256, i)
	}
	ask(t, r, exchange{service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15", body: "<R>" + body.String() + "</R>"})
	_, text := written(t, r)
	for what, want := range map[string]int{`<n>[0-9]+</n>`: 300, `<i>198\.1[89]\.[0-9]+\.0/24</i>`: 256, `<i>198\.1[89]\.[0-9.]+</i>`: 256, `<i>2001:db8:[0-9a-f:]+/48</i>`: 300} {
		found := map[string]bool{}
		for _, one := range regexp.MustCompile(what).FindAllString(text, -1) {
			found[one] = true
		}
		if len(found) != want {
			t.Errorf("%d different %s, want %d", len(found), what, want)
		}
	}
}

// TestFolder checks that only a new folder is written, and that a failure leaves nothing.
func TestFolder(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	ask(t, r, exchange{service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15", body: `<R/>`})
	parent := t.TempDir()
	for _, name := range []string{"full", "empty"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"full/mine", "file"} {
		if err := os.WriteFile(filepath.Join(parent, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("empty", filepath.Join(parent, "link")); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"new": true, "empty": true, "full": false, "file": false, "link": false, "missing/new": false} {
		err := r.Write(filepath.Join(parent, name), record.Manifest{Taken: time.Now()})
		if (err == nil) != ok {
			t.Errorf("%s: Write() = %v", name, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(parent, "*.unfinished-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(parent, "new"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestLeak checks that a recording with a true text in it is not written, with any encoding, and
// that the error does not have the text.
func TestLeak(t *testing.T) {
	t.Parallel()
	const name = "acme-payroll-production"
	for reason, text := range map[string]string{
		"plain": name, "part of another": "x" + name, "of URLs": "acme%2Dpayroll%2Dproduction", "base64": base64.StdEncoding.EncodeToString([]byte("abc" + name)),
	} {
		v := vocabulary.Of("")
		v.Compound = func(got string, _ func(string) string) (string, bool) { return text, got == "leak" }
		r := record.New(v)
		ask(t, r, exchange{service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15", body: `<R><groupName>` + name + `</groupName><other>leak</other></R>`})
		parent := t.TempDir()
		err := r.Write(filepath.Join(parent, "recording"), record.Manifest{Taken: time.Now()})
		if err == nil || !strings.Contains(err.Error(), "ec2.eu-central-1.json would contain one of the true names") || strings.Contains(err.Error(), "acme") {
			t.Errorf("%s: Write() = %v", reason, err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%s: left: %v", reason, left)
		}
	}
}

// TestIncomplete checks that an answer that breaks off is not recorded, and counted.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	whole := exchange{service: "ec2", form: "Action=DescribeVpcs&Version=2016-11-15", body: `<R/>`}
	ask(t, r, whole)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "<R>")
	}))
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/analyzer", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=A/20260101/eu-central-1/access-analyzer/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := (&http.Client{Transport: r.Through(http.DefaultTransport)}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.ReadAll(answer.Body); err == nil {
		t.Error("the answer is complete")
	}
	_ = answer.Body.Close()
	_, text := written(t, r)
	if strings.Contains(text, "analyzer") || !strings.Contains(text, `"lost": 1`) {
		t.Errorf("written:\n%s", text)
	}
}

// TestOrdinaryWords checks that the search does not take words of the API for names that are
// ordinary words, too.
func TestOrdinaryWords(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	ask(t, r, exchange{
		service: "ec2", form: "Action=DescribeSecurityGroups&MaxResults=1000&Version=2016-11-15", status: http.StatusForbidden, contentType: "application/xml",
		body: `<R><state>running</state><groupName>application</groupName><groupName>Status</groupName><groupDescription>running instances of the application, for the service control policy of MaxResults, Content-Type</groupDescription>` +
			`<groupName>SecurityGroup</groupName><groupName>Header</groupName><arn>arn:aws:iam::aws:policy/AdministratorAccess</arn><groupName>Administrator</groupName><groupName>DescribeSecurityGroups</groupName>` +
			`<Message>denied by a service control policy</Message></R>`,
	})
	if _, text := written(t, r); strings.Contains(text, ">application<") {
		t.Errorf("a name is kept:\n%s", text)
	}
}
