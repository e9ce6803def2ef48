package aws

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

func collect(t *testing.T, answers http.Handler, change func(*Config)) (model.Snapshot, error) {
	t.Helper()
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	config := testConfig(t, server.URL)
	if change != nil {
		change(&config)
	}
	return testInventory(t, config).Collect(t.Context())
}

// ids returns the resources of a snapshot as "Kind name". Those that no declaration is
// expected for are in parentheses.
func ids(s model.Snapshot) []string {
	var all []string
	for i := range s.Resources {
		r := &s.Resources[i]
		text := strings.TrimPrefix(strings.TrimPrefix(r.Kind, normalize.Bucket), ".") + " " + r.ID
		if r.SystemOwned != "" {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return all
}

// gaps returns the incomplete coverage of a snapshot as "Kind place: reason", other than that of otherTypes.
func gaps(s model.Snapshot) []string {
	var all []string
	for _, c := range s.Coverage {
		if !c.Complete && c.Kind != Type+"/*." {
			all = append(all, strings.TrimPrefix(c.Kind, Type+"/AWS::S3::")+" "+c.Place+": "+c.Reason)
		}
	}
	return all
}

// TestNewBucketIsSystemOwned checks that no declaration is expected for the parts of a bucket
// without any configuration.
func TestNewBucketIsSystemOwned(t *testing.T) {
	t.Parallel()
	got, err := collect(t, newStore("logs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids(got) {
		if id != " logs" && !strings.HasPrefix(id, "(") {
			t.Errorf("%s would be unmanaged", id)
		}
	}
	if len(got.Resources) != 10 || gaps(got) != nil {
		t.Errorf("found %v, gaps %v", ids(got), gaps(got))
	}
}

// TestManualChanges changes each part of a bucket. Each must be a resource whose parent is the
// bucket, and for which a declaration is expected.
func TestManualChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, subresource, answer, want string
		severity                          model.Severity
	}{
		"policy":     {"a policy for all", "policy", `{"Statement":{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"s3:*","Resource":"*"}}`, normalize.BucketPolicy, model.Critical},
		"lifecycle":  {"a rule that deletes", "lifecycle", `<LifecycleConfiguration><Rule><ID>x</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`, normalize.Lifecycle, model.High},
		"versioning": {"versioning suspended", "versioning", `<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>`, normalize.Versioning, model.High},
		"block":      {"public access not blocked", "publicAccessBlock", block("false"), normalize.PublicAccess, model.High},
		"acl":        {"all users granted", "acl", acl(`<Grant><Grantee><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI></Grantee><Permission>READ</Permission></Grant>`), normalize.AccessControl, model.Critical},
		"ownership":  {"access control lists in effect", "ownershipControls", `<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></OwnershipControls>`, normalize.Ownership, model.High},
		"website":    {"a website", "website", `<WebsiteConfiguration><IndexDocument><Suffix>i.html</Suffix></IndexDocument></WebsiteConfiguration>`, normalize.Website, model.High},
		"notices":    {"a notified queue", "notification", `<NotificationConfiguration><QueueConfiguration><Id>q</Id><Queue>arn</Queue><Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>`, normalize.Notification, model.High},
		"bus":        {"a notified event bus", "notification", `<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>`, normalize.Notification, model.High},
		"lock":       {"a retention rule", "object-lock", `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>9</Days></DefaultRetention></Rule></ObjectLockConfiguration>`, normalize.ObjectLock, model.High},
		"logging":    {"logging to another bucket", "logging", `<BucketLoggingStatus><LoggingEnabled><TargetBucket>x</TargetBucket></LoggingEnabled></BucketLoggingStatus>`, normalize.Logging, ""},
		"cors":       {"other origins", "cors", `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>`, normalize.CORS, ""},
		"payer":      {"requester pays", "requestPayment", `<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>`, normalize.RequestPayment, ""},
		"encryption": {"another key", "encryption", `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`, normalize.Encryption, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore("logs")
			s.buckets["logs"][test.subresource] = test.answer
			got, err := collect(t, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(got.Resources, func(r model.Resource) bool { return r.Kind == test.want })
			if i < 0 {
				t.Fatalf("%s: found %v", test.reason, ids(got))
			}
			r := got.Resources[i]
			if r.SystemOwned != "" || r.Parent != (model.Ref{Kind: normalize.Bucket, ID: "logs"}) {
				t.Errorf("%s: system-owned %q, parent %v", test.reason, r.SystemOwned, r.Parent)
			}
			if rated := severity(got.Kinds[r.Kind], r.Value); rated != test.severity {
				t.Errorf("%s: rated %v, want %v", test.reason, rated, test.severity)
			}
		})
	}
}

// severity returns the severity of the first rule that applies to an unmanaged resource, or
// "".
func severity(k *model.Kind, v model.Value) model.Severity {
	for _, rule := range k.Severities {
		fits := rule.Path == "" && slices.Contains(rule.Verdicts, model.Unmanaged)
		if fits && !slices.ContainsFunc(rule.Where, func(c model.Condition) bool { return !c.Holds(v) }) {
			return rule.Severity
		}
	}
	return ""
}

// TestGaps makes one answer fail. Only that part of that bucket must lack coverage, with the
// reason.
func TestGaps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, subresource, answer, want string }{
		"denied":       {"a permission is missing", "policy", "!403 AccessDenied", "BucketPolicy logs: 403 AccessDenied: no; grant s3:GetBucketPolicy"},
		"another list": {"a server that does not support the subresource lists objects", "publicAccessBlock", `<ListBucketResult ` + namespace + `><Name>logs</Name></ListBucketResult>`, "Bucket.PublicAccessBlockConfiguration logs: the answer is <ListBucketResult>, not <PublicAccessBlockConfiguration>; the server does not support"},
		"nothing":      {"an empty answer", "lifecycle", "", "Bucket.LifecycleConfiguration logs: the answer is empty; the server does not support"},
		"no policy":    {"another JSON document", "policy", `{"ok": true}`, "BucketPolicy logs: the answer is not a policy: it has no Statement"},
		"other space":  {"another XML namespace", "versioning", `<VersioningConfiguration xmlns="https://example.org/"/>`, "Bucket.VersioningConfiguration logs: the answer is <VersioningConfiguration>"},
		"cut":          {"a truncated document", "acl", strings.TrimSuffix(acl(""), "</AccessControlPolicy>"), "Bucket.AccessControlPolicy logs: the answer is not valid XML"},
		"not its code": {"a code of another subresource does not mean unset", "cors", "!404 NoSuchKey", "Bucket.CorsConfiguration logs: 404 NoSuchKey"},
		"not allowed":  {"405 may be another account's bucket", "website", "!405 MethodNotAllowed", "Bucket.WebsiteConfiguration logs: 405 MethodNotAllowed: no; the bucket belongs to another account"},
		"expired":      {"credentials expired in the middle", "logging", "!400 ExpiredToken", "Bucket.LoggingConfiguration logs: 400 ExpiredToken: no; the credentials have expired"},
		"region":       {"a region that must be opted in to", "tagging", "!400 IllegalLocationConstraintException", "Bucket logs: 400 IllegalLocationConstraintException: no; the bucket is in another region"},
		"busy":         {"the server stays busy", "encryption", "!503 SlowDown", "Bucket.BucketEncryption logs: 503 SlowDown: no; the server asks to slow down"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore("data", "logs")
			s.buckets["logs"][test.subresource] = test.answer
			got, err := collect(t, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if all := gaps(got); len(all) != 1 || !strings.HasPrefix(all[0], test.want) {
				t.Errorf("%s: gaps %q, want %q", test.reason, all, test.want)
			}
		})
	}
}

// TestNotImplemented checks that 501 gives skipped coverage, and another error a failure.
func TestNotImplemented(t *testing.T) {
	t.Parallel()
	s := newStore("data", "logs")
	for _, answers := range s.buckets {
		answers["accelerate"], answers["policy"] = "!501 NotImplemented", "!403 AccessDenied"
	}
	got, err := collect(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Coverage{
		{Source: "aws", Kind: "aws/*.", Skipped: true, Reason: "only buckets are read: set services, or cloud_control for a type that driftd has no list for"},
		{Source: "aws", Kind: normalize.Accelerate, Skipped: true, Reason: "the server does not support it: 501 NotImplemented"},
		{Source: "aws", Kind: normalize.BucketPolicy, Reason: "403 AccessDenied: no; grant s3:GetBucketPolicy"},
	}
	if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got.Coverage), func(c model.Coverage) bool { return c.Complete })); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

func TestPagesAndRegions(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("bucket-%02d", i))
	}
	s := newStore(names...)
	s.pageSize, s.regions["bucket-07"], s.regions["bucket-24"] = 10, "eu-west-1", "ap-south-2"
	got, err := collect(t, s, nil)
	if err != nil || gaps(got) != nil {
		t.Fatalf("error %v, gaps %v", err, gaps(got))
	}
	for _, name := range names {
		if !slices.Contains(ids(got), " "+name) {
			t.Errorf("%s was not found", name)
		}
	}
}

// TestRegionInError checks that a region that only the error contains is followed.
func TestRegionInError(t *testing.T) {
	t.Parallel()
	s := newStore("logs")
	got, err := collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `<Error><Code>AuthorizationHeaderMalformed</Code><Message>wrong</Message><Region>eu-west-1</Region></Error>`)
			return
		}
		s.ServeHTTP(w, r)
	}), nil)
	if err != nil || gaps(got) != nil || len(got.Resources) == 0 {
		t.Errorf("error %v, gaps %v", err, gaps(got))
	}
}

// TestHostileRegion has the server send a region that would change the host name.
func TestHostileRegion(t *testing.T) {
	t.Parallel()
	s := newStore("logs")
	s.regions["logs"] = "evil.example.org/"
	got, err := collect(t, s, nil)
	if err != nil || len(got.Resources) != 0 || len(gaps(got)) != len(normalize.Kinds()) {
		t.Errorf("error %v, found %v, gaps %v", err, ids(got), gaps(got))
	}
}

// TestHostileNames has the server list names of buckets that the SDK would send to another
// host.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	names := []string{"arn:aws:s3:us-east-1:123456789012:accesspoint/evil", "arn:aws:s3::123456789012:accesspoint/evil.mrap", "..", "a/../b", "a\nb", "logs?policy"}
	for _, style := range []bool{true, false} {
		s := newStore(append(names, "logs")...)
		got, err := collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" && r.URL.Path != "/logs" {
				t.Errorf("requested %s", r.URL)
			}
			s.ServeHTTP(w, r)
		}), func(c *Config) { c.PathStyle = style })
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if covered, reason := got.Covers(normalize.Bucket, name); covered || !strings.Contains(reason, "not a valid bucket name") {
				t.Errorf("%q is covered: %t (%s)", name, covered, reason)
			}
		}
	}
}

// TestSecretsInAnswers has the server send the credentials back.
func TestSecretsInAnswers(t *testing.T) {
	t.Parallel()
	_, err := collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<Error><Code>InvalidToken</Code><Message>%s is not hunter2</Message></Error>`, r.Header.Get("X-Amz-Security-Token"))
	}), func(c *Config) {
		c.CredentialsFile = file(t, "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2\naws_session_token = sess-0\n")
	})
	if text := fmt.Sprint(err); !strings.Contains(text, "… is not …") {
		t.Errorf("error %q", text)
	}
}

// TestBucketDeletedDuringScan deletes a bucket after it was listed.
func TestBucketDeletedDuringScan(t *testing.T) {
	t.Parallel()
	s := newStore("data", "logs")
	logs := func(r model.Resource) bool { return r.ID == "logs" }
	s.buckets["logs"]["acl"] = "!404 NoSuchBucket"
	if got, err := collect(t, s, nil); err != nil || gaps(got) == nil || !slices.ContainsFunc(got.Resources, logs) {
		t.Errorf("one part answers NoSuchBucket: error %v, found %v, gaps %v", err, ids(got), gaps(got))
	}
	for part := range s.buckets["logs"] {
		s.buckets["logs"][part] = "!404 NoSuchBucket"
	}
	if got, err := collect(t, s, nil); err != nil || gaps(got) != nil || slices.ContainsFunc(got.Resources, logs) {
		t.Errorf("error %v, found %v, gaps %v", err, ids(got), gaps(got))
	}
}

// TestNamedBuckets reads the configured buckets of an account that may not list buckets.
func TestNamedBuckets(t *testing.T) {
	t.Parallel()
	s := newStore("data", "logs")
	noList := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			writeError(w, http.StatusForbidden, "AccessDenied")
			return
		}
		if got := r.Header.Get("X-Amz-Expected-Bucket-Owner"); got != "111122223333" {
			t.Errorf("the request has the expected owner %q", got)
		}
		s.ServeHTTP(w, r)
	})
	_, err := collect(t, noList, nil)
	var failed *httpclient.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Hint, "buckets") {
		t.Errorf("without a list: %v", err)
	}
	got, err := collect(t, noList, func(c *Config) { c.Buckets, c.Account = []string{"logs"}, "111122223333" })
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []struct {
		name string
		want bool
	}{{"logs", true}, {"data", false}} {
		if covered, reason := got.Covers(normalize.BucketPolicy, place.name); covered != place.want {
			t.Errorf("%s is covered: %t (%s)", place.name, covered, reason)
		}
	}
}

// TestClockSkew has a server whose clock is an hour ahead. It must refuse only one request.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	s := newStore("logs")
	var refused atomic.Int32
	got, err := collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || now.Sub(at).Abs() > 15*time.Minute {
			refused.Add(1)
			writeError(w, http.StatusForbidden, "RequestTimeTooSkewed")
			return
		}
		s.ServeHTTP(w, r)
	}), nil)
	if err != nil || gaps(got) != nil || refused.Load() != 1 {
		t.Errorf("error %v, gaps %v, %d refused", err, gaps(got), refused.Load())
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*Config)
		status int
		code   string
		want   string
	}{
		"key":         {"a wrong key", nil, http.StatusForbidden, "InvalidAccessKeyId", "check profile and credentials_file"},
		"credentials": {"no credentials", func(c *Config) { c.CredentialsFile = c.ConfigFile }, http.StatusOK, "", "credentials_file"},
		"profile":     {"no such profile", func(c *Config) { c.Profile = "other" }, http.StatusOK, "", "profile"},
		"ca":          {"no such authority", func(c *Config) { c.CAFile = "/does/not/exist" }, http.StatusOK, "", "ca_file"},
		"page":        {"a login page", nil, http.StatusOK, "", "does not support this request"},
		"closed port": {"a closed port", func(c *Config) { c.Endpoint = "http://127.0.0.1:1" }, http.StatusOK, "", "nothing listens there"},
	}
	for name, test := range tests {
		for _, buckets := range [][]string{nil, {"data", "logs"}} {
			t.Run(fmt.Sprint(name, buckets), func(t *testing.T) {
				t.Parallel()
				_, err := collect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if test.code != "" {
						writeError(w, test.status, test.code)
						return
					}
					fmt.Fprint(w, "<html>log in</html>")
				}), func(c *Config) {
					c.Buckets = buckets
					if test.change != nil {
						test.change(c)
					}
				})
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: %v, want %q", test.reason, err, test.want)
				}
			})
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newStore("data", "logs"))
	t.Cleanup(server.Close)
	got, err := testInventory(t, testConfig(t, server.URL)).Probe(t.Context())
	if err != nil || got.Version != "AmazonS3" || got.Identity != "the account with the canonical id abc" || got.Endpoint != server.URL || len(got.Coverage) != len(normalize.Kinds()) {
		t.Errorf("Probe() = %+v, %v", got, err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*Config)
		want   string
	}{
		"fine":        {"the defaults are valid", func(*Config) {}, ""},
		"endpoint":    {"an address needs a scheme", func(c *Config) { c.Endpoint = "minio:9000" }, "endpoint"},
		"secret":      {"no secrets in the configuration", func(c *Config) { c.Endpoint = "https://a:b@example.org" }, "credentials_file"},
		"bucket":      {"names, not patterns", func(c *Config) { c.Buckets = []string{"logs-*"} }, "buckets"},
		"account":     {"a number", func(c *Config) { c.Account = "prod" }, "account"},
		"pattern":     {"a pattern", func(c *Config) { c.ExcludeKinds = []string{"["} }, "exclude_kinds"},
		"concurrency": {"at least one", func(c *Config) { c.Concurrency = 0 }, "concurrency"},
		"audit":       {"CloudTrail keeps 90 days", func(c *Config) { c.Audit.Lookback = 100 * 24 * time.Hour }, "audit.lookback"},
		"rate":        {"0 means no limit", func(c *Config) { c.Rate = -1 }, "rate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Defaults()
			test.change(&c)
			if err := c.check(); err == nil != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", test.reason, err, test.want)
			}
		})
	}
}

// TestExcludeKinds checks that an excluded kind is not requested.
func TestExcludeKinds(t *testing.T) {
	t.Parallel()
	s := newStore("logs")
	s.buckets["logs"]["accelerate"] = "!500 InternalError"
	got, err := collect(t, s, func(c *Config) { c.ExcludeKinds = []string{"AWS::S3::Bucket.Accelerate*"} })
	if err != nil || len(gaps(got)) != 1 || gaps(got)[0] != "Bucket.AccelerateConfiguration : left out by exclude_kinds" {
		t.Errorf("error %v, gaps %v", err, gaps(got))
	}
}
