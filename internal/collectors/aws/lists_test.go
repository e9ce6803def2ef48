package aws

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/record/replay"
)

var update = flag.Bool("update", false, "write the golden files")

// Answers in the form of the documentation, where moto has none.
const (
	analyzers = `{"analyzers":[{"arn":"arn:aws:access-analyzer:eu-central-1:123456789012:analyzer/a","name":"a","type":"ACCOUNT","createdAt":"2024-05-01T10:00:00Z","status":"ACTIVE","tags":{}}]}`
	snapshot  = `<DescribeSnapshotAttributeResponse><snapshotId>snap-1</snapshotId><createVolumePermission><item><group>all</group></item><item><userId>111122223333</userId></item></createVolumePermission></DescribeSnapshotAttributeResponse>`
	image     = `<DescribeImageAttributeResponse><imageId>ami-1</imageId><launchPermission><item><organizationArn>arn:aws:organizations::111122223333:organization/o-1</organizationArn></item></launchPermission></DescribeImageAttributeResponse>`
	urls      = `{"FunctionUrlConfigs":[{"FunctionUrl":"https://x.lambda-url.eu-central-1.on.aws/","FunctionArn":"arn:aws:lambda:eu-central-1:123456789012:function:f","CreationTime":"2024-05-01T10:00:00Z","AuthType":"NONE"}]}`
)

// wholeEstate returns the recorded estate with the answers that moto does not have.
func wholeEstate(t *testing.T) *recording {
	t.Helper()
	r := loadRecording(t)
	r.instead["access-analyzer"] = recorded{http.StatusOK, analyzers}
	r.instead["/urls"] = recorded{http.StatusOK, urls}
	r.instead["Action=DescribeSnapshotAttribute"] = recorded{http.StatusOK, snapshot}
	r.instead["Action=DescribeImageAttribute"] = recorded{http.StatusOK, image}
	return r
}

// estateConfig returns the settings for all services other than S3.
func estateConfig(t *testing.T, url string) Config {
	t.Helper()
	c := testConfig(t, url)
	c.Region = "eu-central-1"
	c.Services = slices.DeleteFunc(knownServices(), func(name string) bool { return name == s3Service })
	return c
}

func collectEstate(t *testing.T, handler http.Handler, change func(*Config)) (model.Snapshot, error) {
	t.Helper()
	return openEstate(t, handler, change).Collect(t.Context())
}

// openEstate returns a collector of what a handler answers.
func openEstate(t *testing.T, handler http.Handler, change func(*Config)) *inventory {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := estateConfig(t, server.URL)
	if change != nil {
		change(&c)
	}
	return testInventory(t, c)
}

// rate returns the severity of a resource that no declaration manages.
func rate(s *model.Snapshot, r *model.Resource) string {
	severity, reason := replay.Rate(s, r)
	return fmt.Sprintf("%s (%s)", severity, reason)
}

// compareDump compares what was read with a golden file.
func compareDump(t *testing.T, golden string, s *model.Snapshot) {
	t.Helper()
	var b strings.Builder
	for i := range s.Resources {
		r := &s.Resources[i]
		state := r.SystemOwned
		if state == "" {
			state = rate(s, r)
		}
		fmt.Fprintf(&b, "%s %s %s\n  name %s, parent %s, made by %v, known as %v\n  %s\n  %s\n", r.Kind, r.ID, r.Place, r.Name, r.Parent, r.Makers, r.Identities, state, r.Value.AppendJSON(nil))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the estate differs from %s (-want +got):\n%s", golden, diff)
	}
}

// TestEstate compares what is read from an estate with one of each kind with a golden file.
func TestEstate(t *testing.T) {
	t.Parallel()
	recording := wholeEstate(t)
	s, err := collectEstate(t, recording, func(c *Config) { c.Shares = true })
	if err != nil {
		t.Fatal(err)
	}
	compareDump(t, filepath.Join("testdata", "estate.txt"), &s)
	seen := map[string]bool{}
	for i := range s.Resources {
		seen[s.Resources[i].Kind] = true
	}
	for _, name := range slices.Sorted(maps.Keys(catalogue.Schemas())) {
		if !seen[name] {
			t.Errorf("the estate has no %s", name)
		}
	}
	for _, c := range s.Coverage {
		if c.Failed() {
			t.Errorf("not covered: %s in %q: %s", c.Kind, c.Place, c.Reason)
		}
	}
	for key, times := range recording.asked {
		if times > 1 {
			t.Errorf("%d requests for %s", times, key)
		}
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(text, "hunter2") || strings.Contains(text, "PASSWORD") {
		t.Error("the snapshot has an environment or user data")
	}
}

const denied = `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>User is not authorized to perform this operation%s</Message></Error></Errors></Response>`

// TestEstateGaps checks that a list that cannot be read leaves its kinds unchecked in its region,
// with the next step, and nothing else.
func TestEstateGaps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason, request string
		answer          recorded
		kind, place     string
		want            string
	}{
		{
			"a right that lacks", "Action=DescribeVolumes", recorded{http.StatusForbidden, fmt.Sprintf(denied, "")},
			"EC2::Volume", "eu-central-1", "403 UnauthorizedOperation: User is not authorized to perform this operation; grant ec2:DescribeVolumes",
		},
		{
			"a policy of the organization", "Action=DescribeVolumes", recorded{http.StatusForbidden, fmt.Sprintf(denied, " with an explicit deny in a service control policy")},
			"EC2::Volume", "eu-central-1", "a policy of the organization denies it: allow ec2:DescribeVolumes there, or exclude the kinds with exclude_kinds",
		},
		{
			"a region that is off", "ec2 eu-central-1", recorded{http.StatusUnauthorized, `<Response><Errors><Error><Code>AuthFailure</Code><Message>no</Message></Error></Errors></Response>`},
			"EC2::Instance", "eu-central-1", "the region eu-central-1 is not enabled for account 123456789012, although other requests are accepted: remove it from regions, or enable it",
		},
		{
			"a right to global things", "Action=GetAccountAuthorizationDetails", recorded{http.StatusForbidden, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`},
			"IAM::AccessKey", "global", "grant iam:GetAccountAuthorizationDetails",
		},
		{
			"a group that is gone before its rules are read", "Action=DescribeSecurityGroupRules",
			recorded{http.StatusBadRequest, `<Response><Errors><Error><Code>InvalidGroup.NotFound</Code><Message>no</Message></Error></Errors></Response>`},
			"EC2::SecurityGroupRule", "eu-central-1", "400 InvalidGroup.NotFound: no",
		},
		{
			"shares of an image", "Action=DescribeImageAttribute", recorded{http.StatusForbidden, fmt.Sprintf(denied, "")},
			"EC2::ImageShare", "eu-central-1", "grant ec2:DescribeImageAttribute",
		},
		{
			"shares without an account", "Action=DescribeSnapshotAttribute",
			recorded{http.StatusOK, `<DescribeSnapshotAttributeResponse><createVolumePermission><item><x>1</x></item></createVolumePermission></DescribeSnapshotAttributeResponse>`},
			"EC2::SnapshotShare", "eu-central-1", "an entry of EC2::SnapshotShare has no id",
		},
		{
			"another document", "Action=DescribeVolumes", recorded{http.StatusOK, `<DescribeVolumesResponse><volumes/></DescribeVolumesResponse>`},
			"EC2::Volume", "eu-central-1", "the answer to DescribeVolumes has no list volumeSet",
		},
		{
			"an entry without an id", "Action=DescribeVolumes", recorded{http.StatusOK, `<DescribeVolumesResponse><volumeSet><item><size>1</size></item></volumeSet></DescribeVolumesResponse>`},
			"EC2::Volume", "eu-central-1", "an entry of EC2::Volume has no id",
		},
	} {
		recording := wholeEstate(t)
		recording.instead[test.request] = test.answer
		s, err := collectEstate(t, recording, func(c *Config) { c.Shares = true })
		if err != nil {
			t.Errorf("%s: Collect() = %v", test.reason, err)
			continue
		}
		if ok, reason := s.Covers("aws/AWS::"+test.kind, test.place); ok || !strings.Contains(reason, test.want) {
			t.Errorf("%s: %s in %s is covered: %t, because %q, want %q", test.reason, test.kind, test.place, ok, reason, test.want)
		}
		if ok, reason := s.Covers("aws/AWS::SQS::Queue", "eu-central-1"); !ok {
			t.Errorf("%s: queues are not covered: %s", test.reason, reason)
		}
		if ok, _ := s.Covers("aws/AWS::SQS::Queue", "eu-west-1"); ok {
			t.Errorf("%s: queues of a region that is not read are covered", test.reason)
		}
	}
}

// TestUnread checks resources that are listed and cannot be read, or of which it is not known
// whether AWS created them.
func TestUnread(t *testing.T) {
	t.Parallel()
	recording := wholeEstate(t)
	recording.instead["GetQueueAttributes"] = recorded{http.StatusForbidden, `{"__type":"AccessDeniedException","message":"no"}`}
	recording.instead["Action=DescribeVpcs"] = recorded{http.StatusForbidden, fmt.Sprintf(denied, "")}
	s, err := collectEstate(t, recording, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, u := range s.Unread {
		got[u.Kind] += u.Reason
	}
	for kind, want := range map[string]string{"SQS::Queue": "grant sqs:GetQueueAttributes", "EC2::InternetGateway": "AWS::EC2::VPC was not read"} {
		if !strings.Contains(got["aws/AWS::"+kind], want) {
			t.Errorf("%s is unread because %q, want %q", kind, got["aws/AWS::"+kind], want)
		}
	}
	recording = wholeEstate(t)
	recording.instead["GetResources"] = recorded{http.StatusBadRequest, `{"__type":"AccessDeniedException","message":"no"}`}
	recording.instead["GetTopicAttributes"] = recorded{http.StatusNotFound, `<ErrorResponse><Error><Code>NotFound</Code></Error></ErrorResponse>`}
	if s, err = collectEstate(t, recording, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.Unread, func(u model.Unread) bool {
		return u.Kind == "aws/AWS::SQS::Queue" && strings.Contains(u.Reason, "grant tag:GetResources")
	}) {
		t.Errorf("queues without their tags are not unread: %v", s.Unread)
	}
	if ok, reason := s.Covers("aws/AWS::SNS::Topic", "eu-central-1"); !ok || slices.ContainsFunc(s.Resources, func(r model.Resource) bool { return r.Kind == "aws/AWS::SNS::Topic" }) {
		t.Errorf("a topic that was deleted after the list: covered %t %s", ok, reason)
	}
}

// TestUnreadShares checks that a snapshot or an image in a state in which AWS does not return its shares leaves only
// these unread.
func TestUnreadShares(t *testing.T) {
	t.Parallel()
	const (
		pending  = `<DescribeImagesResponse><imagesSet><item><imageId>ami-1</imageId><imageState>available</imageState></item><item><imageId>ami-2</imageId><imageState>%s</imageState></item></imagesSet></DescribeImagesResponse>`
		snapshot = `<DescribeSnapshotsResponse><snapshotSet><item><snapshotId>snap-2</snapshotId><status>%s</status></item></snapshotSet></DescribeSnapshotsResponse>`
		fault    = `<Response><Errors><Error><Code>%s</Code><Message>no</Message></Error></Errors></Response>`
	)
	for _, test := range []struct {
		reason, imageState, imageCode, snapshotState, snapshotCode string
		images, snapshots                                          bool
	}{
		{"a pending image", "pending", "InvalidAMIID.Unavailable", "completed", "InvalidSnapshot.NotFound", true, true},
		{"an image that became unavailable after the list", "available", "InvalidAMIID.Unavailable", "completed", "InvalidSnapshot.NotFound", true, true},
		{"a failed snapshot", "available", "InvalidAMIID.NotFound", "error", "IncorrectState", true, true},
		{"an error of an image that is available", "available", "UnauthorizedOperation", "completed", "InvalidSnapshot.NotFound", false, true},
		{"an error of a snapshot that is complete", "available", "InvalidAMIID.NotFound", "completed", "UnauthorizedOperation", true, false},
	} {
		recording := wholeEstate(t)
		recording.instead["Action=DescribeImages&"] = recorded{http.StatusOK, fmt.Sprintf(pending, test.imageState)}
		recording.instead["Action=DescribeSnapshots&"] = recorded{http.StatusOK, fmt.Sprintf(snapshot, test.snapshotState)}
		recording.instead["ImageId=ami-2"] = recorded{http.StatusBadRequest, fmt.Sprintf(fault, test.imageCode)}
		delete(recording.instead, "Action=DescribeSnapshotAttribute")
		delete(recording.instead, "Action=DescribeImageAttribute")
		recording.instead["ImageId=ami-1"] = recorded{http.StatusOK, image}
		recording.instead["SnapshotId=snap-2"] = recorded{http.StatusBadRequest, fmt.Sprintf(fault, test.snapshotCode)}
		s, err := collectEstate(t, recording, func(c *Config) { c.Shares, c.Services = true, []string{"ec2"} })
		if err != nil {
			t.Fatalf("%s: %v", test.reason, err)
		}
		for kind, want := range map[string]bool{"aws/AWS::EC2::ImageShare": test.images, "aws/AWS::EC2::SnapshotShare": test.snapshots} {
			if ok, reason := s.Covers(kind, "eu-central-1"); ok != want {
				t.Errorf("%s: %s is covered: %t, because %q", test.reason, kind, ok, reason)
			}
		}
		unread := func(kind, id string) bool {
			return slices.ContainsFunc(s.Unread, func(u model.Unread) bool { return u.Includes(model.Ref{Kind: "aws/AWS::EC2::" + kind, ID: id}) })
		}
		if got, want := unread("ImageShare", "ami-2:111122223333"), test.imageCode == "InvalidAMIID.Unavailable"; got != want || unread("ImageShare", "ami-1:111122223333") || unread("ImageShare", "ami-22:111122223333") {
			t.Errorf("%s: the shares of ami-2 are unread: %t, want %t; all: %+v", test.reason, got, want, s.Unread)
		}
		if got, want := unread("SnapshotShare", "snap-2:111122223333"), test.snapshotState == "error"; got != want {
			t.Errorf("%s: the shares of snap-2 are unread: %t, want %t; all: %+v", test.reason, got, want, s.Unread)
		}
	}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	_, err := collectEstate(t, wholeEstate(t), func(c *Config) { c.Account = "999999999999" })
	if err == nil || !strings.Contains(err.Error(), "those of account 123456789012") || !strings.Contains(err.Error(), "the setting account is 999999999999") {
		t.Errorf("Collect() with another account = %v", err)
	}
	refused := wholeEstate(t)
	refused.instead["Action=GetCallerIdentity"] = recorded{http.StatusForbidden, `<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>The security token is invalid</Message></Error></ErrorResponse>`}
	if _, err = collectEstate(t, refused, nil); err == nil || !strings.Contains(err.Error(), "the credentials are refused: check profile and credentials_file") {
		t.Errorf("Collect() with credentials that do not exist = %v", err)
	}
	if _, err = collectEstate(t, wholeEstate(t), func(c *Config) { c.Account = "123456789012" }); err != nil {
		t.Errorf("Collect() with the account = %v", err)
	}
}

// TestOtherAccount checks that a source is not read with credentials of another account than before, also after a
// restart, until the setting account names it.
func TestOtherAccount(t *testing.T) {
	t.Parallel()
	const identity = "Action=GetCallerIdentity"
	handler := wholeEstate(t)
	other := wholeEstate(t)
	other.instead[identity] = recorded{http.StatusOK, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::210987654321:user/driftd</Arn><Account>210987654321</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`}
	dir := filepath.Join(t.TempDir(), "cache")
	read := func(handler http.Handler, account string) error {
		i := openEstate(t, handler, func(c *Config) { c.Account = account })
		i.account = pinned.New("account", dir, slog.New(slog.DiscardHandler))
		_, err := i.Collect(t.Context())
		return err
	}
	if err := read(handler, ""); err != nil {
		t.Fatal(err)
	}
	err := read(other, "")
	if err == nil || !strings.Contains(err.Error(), "those of account 210987654321 (arn:aws:iam::210987654321:user/driftd), and the last scan read account 123456789012") ||
		!strings.Contains(err.Error(), "or set account to the one that is to be read") {
		t.Errorf("Collect() with credentials of another account = %v", err)
	}
	if err = read(other, "210987654321"); err != nil {
		t.Errorf("Collect() of the account that is configured = %v", err)
	}
	if err = read(other, ""); err != nil {
		t.Errorf("Collect() of the account that was read last = %v", err)
	}
	if err = read(handler, ""); err == nil {
		t.Error("Collect() of the first account, after another one, has no error")
	}
}

// TestScope checks which kinds and regions are read by the settings.
func TestScope(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason      string
		change      func(*Config)
		kind, place string
		covered     bool
		want        string
	}{
		{"an endpoint alone has buckets", func(c *Config) { c.Services = nil }, "EC2::VPC", "eu-central-1", false, "only buckets are read: set services, or cloud_control for a type that driftd has no list for"},
		{"a service", func(c *Config) { c.Services = []string{"ec2"} }, "EC2::VPC", "eu-central-1", true, ""},
		{"another service", func(c *Config) { c.Services = []string{"ec2"} }, "IAM::User", "", false, "left out by services"},
		{"tags come along", func(c *Config) { c.Services = []string{"sqs"} }, "SQS::Queue", "eu-central-1", true, ""},
		{"an excluded kind", func(c *Config) { c.ExcludeKinds = []string{"AWS::EC2::*"} }, "EC2::VPC", "eu-central-1", false, "left out by exclude_kinds"},
		{"shares", func(*Config) {}, "EC2::SnapshotShare", "eu-central-1", false, "read with the setting shares only: set shares: true"},
		{"shares that are read", func(c *Config) { c.Shares = true }, "EC2::SnapshotShare", "eu-central-1", true, ""},
		{"a region that is not read", func(*Config) {}, "EC2::VPC", "us-east-1", false, "only the regions eu-central-1 are read: set regions"},
		{"an unknown region", func(*Config) {}, "EC2::VPC", "", false, "only the regions eu-central-1 are read: set regions"},
		{"a global kind", func(*Config) {}, "IAM::User", "", true, ""},
		{"a global kind by its place", func(*Config) {}, "IAM::User", "global", true, ""},
		{"buckets", func(*Config) {}, "S3::Bucket", "", false, "left out by services"},
	} {
		recording := wholeEstate(t)
		recording.instead["s3 eu-central-1 GET /?"] = recorded{http.StatusOK, `<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>`}
		s, err := collectEstate(t, recording, test.change)
		if err != nil {
			t.Errorf("%s: Collect() = %v", test.reason, err)
			continue
		}
		if ok, reason := s.Covers("aws/AWS::"+test.kind, test.place); ok != test.covered || reason != test.want {
			t.Errorf("%s: %s in %q is covered: %t, because %q, want %t, %q", test.reason, test.kind, test.place, ok, reason, test.covered, test.want)
		}
	}
}

func TestProbeEstate(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(wholeEstate(t))
	t.Cleanup(server.Close)
	p, err := testInventory(t, estateConfig(t, server.URL)).Probe(t.Context())
	if err != nil || !strings.Contains(p.Identity, "in account 123456789012") {
		t.Errorf("Probe() = %q, %v", p.Identity, err)
	}
}

func TestCheckScope(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason string
		change func(*Config)
		want   string
	}{
		{"no region", func(c *Config) { c.Regions = []string{"*"} }, `"*" is not a region`},
		{"twice", func(c *Config) { c.Regions = []string{"eu-central-1", "eu-central-1"} }, "stands there twice"},
		{"region is missing", func(c *Config) { c.Regions = []string{"us-east-1"} }, "setting regions lacks eu-central-1"},
		{"an unknown service", func(c *Config) { c.Services = []string{"ec3"} }, `"ec3" is not one of access-analyzer, cloudtrail`},
		{"an external id alone", func(c *Config) { c.ExternalID = "x" }, "set assume_role"},
		{"a short age", func(c *Config) { c.MaxKeyAge = time.Hour }, "setting max_key_age must be at least 24h"},
		{"an age without keys", func(c *Config) { c.MaxKeyAge, c.Services = 48*time.Hour, []string{"ec2"} }, "setting max_key_age has no effect: services or exclude_kinds leave out AWS::IAM::AccessKey"},
		{"shares that are left out", func(c *Config) { c.Shares, c.ExcludeKinds = true, []string{"AWS::EC2::*Share"} }, "setting shares has no effect"},
		{"shares of a store", func(c *Config) { c.Shares, c.Endpoint = true, "https://s3.example.org" }, "setting shares has no effect"},
		{"no type", func(c *Config) { c.CloudControl = []string{"aws_backup_vault"} }, `"aws_backup_vault" is not a type of CloudFormation`},
		{"a type twice", func(c *Config) { c.CloudControl = []string{"AWS::Backup::BackupVault", "AWS::Backup::BackupVault"} }, "AWS::Backup::BackupVault stands there twice"},
		{"a type of the catalogue", func(c *Config) { c.CloudControl = []string{"AWS::EC2::VPC"} }, "AWS::EC2::VPC is read without it"},
		{"a type of a bucket", func(c *Config) { c.CloudControl = []string{"AWS::S3::Bucket"} }, "AWS::S3::Bucket is read without it"},
		{"a pattern of no kind", func(c *Config) { c.ExcludeKinds = []string{"AWS::ECS::*", "AWS::Lamda::Url"} }, `"AWS::Lamda::Url" matches no kind`},
		{"no role", func(c *Config) { c.AssumeRole = "driftd" }, "setting assume_role is not a role"},
	} {
		c := Defaults()
		c.Region = "eu-central-1"
		test.change(&c)
		if err := c.check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: check() = %v, want %q", test.reason, err, test.want)
		}
	}
}
