//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail/trailtest"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

// A copiedAccount is an account that moto simulates, with a trail in a bucket and a queue, to which
// the test copies the events that a stand-in for CloudTrail notes.
type copiedAccount struct {
	t       *testing.T
	trail   *trailtest.Trail
	client  *awsapi.Client
	s3      *s3.Client
	address string
	file    string
	cache   string
	files   int
}

func newCopiedAccount(t *testing.T) *copiedAccount {
	t.Helper()
	server, err := tftest.StartMoto(t.Context())
	stopLater(t, server, err)
	a := &copiedAccount{t: t, cache: t.TempDir(), file: filepath.Join(t.TempDir(), "credentials")}
	a.trail = &trailtest.Trail{Users: map[string]string{"AKIAALICE": "alice"}, Next: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: server.Address})}
	proxy := httptest.NewServer(a.trail)
	t.Cleanup(proxy.Close)
	a.address = proxy.URL
	if err := os.WriteFile(a.file, []byte("[test]\naws_access_key_id = AKIAALICE\naws_secret_access_key = secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.client, err = awsapi.Connect(t.Context(), awsapi.Options{
		Options: awsconfig.Options{Region: "eu-central-1", Profile: "test", CredentialsFile: a.file, ConfigFile: a.file, Endpoint: a.address},
		Limits:  httpclient.Limits{Concurrency: 4, Timeout: time.Minute, MaxBody: 8 << 20, Backoff: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.client.Close)
	a.s3 = s3.New(s3.Options{BaseEndpoint: sdk.String("http://" + server.Address), Region: "us-west-2", UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("AKIAALICE", "secret", "")})
	if _, err := a.s3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: sdk.String("audit"), CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"}}); err != nil {
		t.Fatal(err)
	}
	a.send("sqs", "CreateQueue", "QueueName", "driftd")
	return a
}

// send sends a call to EC2 or SQS.
func (a *copiedAccount) send(service, action string, pairs ...string) model.Value {
	a.t.Helper()
	s := map[string]*awsapi.Service{
		"ec2": {ID: "ec2", Protocol: awsapi.EC2, Version: "2016-11-15", Rate: 100},
		"sqs": {ID: "sqs", Protocol: awsapi.JSON, Version: "1.0", Target: "AmazonSQS", Rate: 100},
	}[service]
	input := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		input[pairs[i]] = pairs[i+1]
	}
	if action == "GetQueueAttributes" {
		input["AttributeNames"] = []string{"All"}
	}
	v, err := a.client.Do(a.t.Context(), "eu-central-1", &awsapi.Call{Service: s, Action: action, Input: input})
	if err != nil {
		a.t.Fatalf("%s %s: %v", service, action, err)
	}
	return v
}

func (a *copiedAccount) url() string { return a.address + "/" + trailtest.Account + "/driftd" }

// toQueue sends an event as EventBridge does.
func (a *copiedAccount) toQueue(event string) {
	a.t.Helper()
	a.send("sqs", "SendMessage", "QueueUrl", a.url(), "MessageBody", fmt.Sprintf(
		`{"version":"0","id":"x","detail-type":"AWS API Call via CloudTrail","source":"aws.ec2","account":%q,"region":"eu-central-1","resources":[],"detail":%s}`, trailtest.Account, event))
}

// toTrail delivers events as CloudTrail does: S3 has the type of the content and its encoding.
func (a *copiedAccount) toTrail(events ...string) {
	a.t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(`{"Records":[` + strings.Join(events, ",") + `]}`)); err != nil {
		a.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		a.t.Fatal(err)
	}
	a.files++
	now := time.Now().UTC()
	key := "prod/AWSLogs/" + trailtest.Account + "/CloudTrail/eu-central-1/" + now.Format("2006/01/02/") + trailtest.Account + "_CloudTrail_eu-central-1_" + now.Format("20060102T1504Z") + fmt.Sprintf("_file%d.json.gz", a.files)
	if _, err := a.s3.PutObject(a.t.Context(), &s3.PutObjectInput{Bucket: sdk.String("audit"), Key: &key, Body: bytes.NewReader(b.Bytes()),
		ContentType: sdk.String("application/json"), ContentEncoding: sdk.String("gzip")}); err != nil {
		a.t.Fatal(err)
	}
}

// collect reads the account with a new collector. With lookback, the event history is read, too.
func (a *copiedAccount) collect(lookback time.Duration) model.Snapshot {
	a.t.Helper()
	c, err := aws.Definition().Open(collectors.Env{Name: "prod", CacheDir: a.cache, Log: slog.New(slog.DiscardHandler)}, func(into any) error {
		config, ok := into.(*aws.Config)
		if !ok {
			return fmt.Errorf("settings of %T", into)
		}
		config.Endpoint, config.PathStyle, config.Region, config.Services = a.address, true, "eu-central-1", []string{"ec2"}
		config.Profile, config.CredentialsFile, config.ConfigFile = "test", a.file, a.file
		config.Audit.Trail, config.Audit.Queue, config.Audit.Lookback = "s3://audit/prod/AWSLogs", "arn:aws:sqs:eu-central-1:"+trailtest.Account+":driftd", lookback
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	s, err := c.Collect(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	return s
}

// created returns who created a resource, and how sure that is.
func created(s model.Snapshot, id string) string {
	for _, e := range s.AuditEvents {
		if e.ID == id && e.Action == model.Created {
			_, from, _ := strings.Cut(e.Actor.Evidence, ", as in ")
			return strings.TrimSpace(fmt.Sprint(e.Actor.Name, " ", e.Actor.Confidence, " ", strings.SplitN(from, "_", 2)[0]))
		}
	}
	return ""
}

// TestCloudTrailCopies reads the events of an account from a trail in a bucket of another region and from a queue, before its
// event history has them.
func TestCloudTrailCopies(t *testing.T) {
	t.Parallel()
	a := newCopiedAccount(t)
	vpc := a.send("ec2", "CreateVpc", "CidrBlock", "10.0.0.0/16").At("vpc", "vpcId").Str()
	a.toTrail(a.trail.Events("eu-central-1")...)
	group := a.send("ec2", "CreateSecurityGroup", "GroupName", "g", "GroupDescription", "d", "VpcId", vpc).At("groupId").Str()
	events := a.trail.Events("eu-central-1")
	a.toQueue(events[len(events)-1])
	a.send("sqs", "SendMessage", "QueueUrl", a.url(), "MessageBody", "an order")
	s := a.collect(0)
	if got := created(s, vpc); !strings.HasPrefix(got, "alice likely s3://audit/prod/AWSLogs/"+trailtest.Account+"/CloudTrail/eu-central-1/") {
		t.Errorf("the network was created by %q; %s", got, s.LogUnread)
	}
	if got := created(s, group); got != "alice likely the queue arn:aws:sqs:eu-central-1:"+trailtest.Account+":driftd" {
		t.Errorf("the group was created by %q; %s", got, s.LogUnread)
	}
	if s.LogUnread != "" {
		t.Errorf("unread: %s", s.LogUnread)
	}
	v := a.send("sqs", "GetQueueAttributes", "QueueUrl", a.url()).At("Attributes")
	if visible, hidden := v.At("ApproximateNumberOfMessages").Text(), v.At("ApproximateNumberOfMessagesNotVisible").Text(); visible != "0" || hidden != "1" {
		t.Errorf("the queue has %s messages and %s that are hidden, want only that of another sender", visible, hidden)
	}
	s = a.collect(time.Hour)
	if got := created(s, vpc) + ", " + created(s, group); got != "alice exact, alice exact" {
		t.Errorf("with the event history: %s; %s", got, s.LogUnread)
	}
}

const notifyingConfig = `
state_dir: state
server: {listen: "%s"}
schedule: {every: 6h}
sources:
  - name: prod
    type: aws
    settings:
      endpoint: "%s"
      region: eu-central-1
      services: [ec2]
      profile: test
      credentials_file: %s
      config_file: %[3]s
      audit: {queue: "arn:aws:sqs:eu-central-1:%s:driftd", scan_interval: 30s}
declarations:
  - {name: infra, type: terraform, governs: [prod], settings: {engine: state, state: [terraform.tfstate]}}
`

// TestCloudTrailNotifies has a daemon with a schedule of hours read an account after events arrive in its queue.
func TestCloudTrailNotifies(t *testing.T) {
	t.Parallel()
	a := newCopiedAccount(t)
	vpc := a.send("ec2", "CreateVpc", "CidrBlock", "10.0.0.0/16").At("vpc", "vpcId").Str()
	i := &installation{t: t, dir: t.TempDir(), namespace: "none", address: freeAddress(t)}
	i.write("driftd.yaml", fmt.Sprintf(notifyingConfig, i.address, a.address, a.file, trailtest.Account))
	(&shelf{t: t, dir: i.dir}).state([2]string{"aws_vpc", fmt.Sprintf(`{"id": %q, "region": "eu-central-1", "cidr_block": "10.0.0.0/16"}`, vpc)})
	d := i.serve()
	d.awaitFindings()
	a.send("ec2", "DeleteVpc", "VpcId", vpc)
	events := a.trail.Events("eu-central-1")
	a.toQueue(events[len(events)-1])
	d.awaitFindings("missing aws/AWS::EC2::VPC " + vpc + " by alice\n")
	if left := a.send("sqs", "GetQueueAttributes", "QueueUrl", a.url()).At("Attributes", "ApproximateNumberOfMessages").Text(); left != "0" {
		t.Errorf("%s messages are left in the queue", left)
	}
	if code := d.stop(); code != 0 || strings.Count(d.log.String(), "new messages start a scan") != 1 {
		t.Errorf("driftd serve stopped with exit code %d", code)
	}
}
