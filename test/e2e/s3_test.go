//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

const s3Config = `
sources:
  - {name: s3, type: aws, settings: {endpoint: "http://%s", region: us-east-1, path_style: true, profile: test, credentials_file: credentials, config_file: config}}
declarations:
  - {name: infra, type: terraform, governs: [s3], settings: {engine: state, state: [terraform.tfstate]}}
`

// everybody and overTLS are policies, in the form of a provider.
const (
	overTLS   = `{"Statement":[{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":"*","Resource":["arn:aws:s3:::logs","arn:aws:s3:::logs/*"],"Sid":"tls"}],"Version":"2012-10-17"}`
	everybody = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::%s/*"}]}`
)

// A shelf is a folder with a driftd.yaml, from which the built program scans a real S3 server.
type shelf struct {
	t   *testing.T
	dir string
	s3  *s3.Client
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	server, err := tools.StartS3(t.Context())
	stopLater(t, server, err)
	s := &shelf{t: t, dir: t.TempDir()}
	s.s3 = s3.New(s3.Options{BaseEndpoint: aws.String("http://" + server.Address), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(tftest.S3User, tftest.S3Password, "")})
	s.write("driftd.yaml", fmt.Sprintf(s3Config, server.Address))
	s.write("credentials", "[test]\naws_access_key_id = "+tftest.S3User+"\naws_secret_access_key = "+tftest.S3Password+"\n")
	s.write("config", "[profile test]\n")
	return s
}

func (s *shelf) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// state writes a state of these instances, each a type and its attributes.
func (s *shelf) state(instances ...[2]string) {
	s.t.Helper()
	resources := make([]string, len(instances))
	for i, instance := range instances {
		resources[i] = fmt.Sprintf(`{"mode": "managed", "type": %q, "name": "r%d", "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
			"instances": [{"schema_version": 0, "attributes": %s, "sensitive_attributes": []}]}`, instance[0], i, instance[1])
	}
	s.write("terraform.tfstate", `{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "b4e5", "outputs": {}, "resources": [`+strings.Join(resources, ",")+`]}`)
}

// do fails on the error of a call that must succeed.
func (s *shelf) do(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// expect scans, and compares the findings.
func (s *shelf) expect(reason string, want ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), driftdPath(s.t), "scan", "--config", "driftd.yaml", "-o", "json", "--state-dir", "state")
	cmd.Dir, cmd.Env = s.dir, []string{"HOME=" + s.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	var report model.Report
	if err := json.Unmarshal(out, &report); err != nil {
		s.t.Fatalf("%s: decode report: %v: %s%s", reason, err, out, &stderr)
	}
	var got []string
	for _, f := range report.Findings {
		line := fmt.Sprintf("%s %s %s %s", f.Severity, f.Verdict, strings.TrimPrefix(f.Kind, "aws/AWS::S3::"), f.Name)
		for _, c := range f.Changes {
			line += " " + c.Path
		}
		got = append(got, line)
	}
	for _, line := range without(want, got) {
		s.t.Errorf("%s: not found: %s", reason, line)
	}
	for _, line := range without(got, want) {
		s.t.Errorf("%s: found as well: %s", reason, line)
	}
}

// TestS3 changes buckets of a real server by hand, declared parts and undeclared ones: exactly
// these changes are found, and none after they were undone.
func TestS3(t *testing.T) {
	t.Parallel()
	s, ctx := newShelf(t), t.Context()
	for _, name := range []string{"logs", "data"} {
		s.do(s.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}))
	}
	version := func(status types.BucketVersioningStatus) {
		s.do(s.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String("logs"), VersioningConfiguration: &types.VersioningConfiguration{Status: status}}))
	}
	label := func(value string) {
		s.do(s.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: aws.String("logs"), Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("team"), Value: &value}}}}))
	}
	allow := func(bucket, policy string) {
		s.do(s.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: &policy}))
	}
	version(types.BucketVersioningStatusEnabled)
	label("data")
	allow("logs", overTLS)
	s.state(
		[2]string{"aws_s3_bucket", `{"id": "logs", "bucket": "logs", "object_lock_enabled": false, "tags": {"team": "data"}, "tags_all": {"team": "data"}, "versioning": [{"enabled": false, "mfa_delete": false}], "policy": ""}`},
		[2]string{"aws_s3_bucket_versioning", `{"id": "logs", "bucket": "logs", "expected_bucket_owner": "", "mfa": null, "versioning_configuration": [{"mfa_delete": "", "status": "Enabled"}]}`},
		[2]string{"aws_s3_bucket_policy", fmt.Sprintf(`{"id": "logs", "bucket": "logs", "policy": %q}`, overTLS)},
		[2]string{"aws_s3_bucket", `{"id": "data", "bucket": "data", "object_lock_enabled": false, "tags": null, "tags_all": {}}`},
	)
	s.expect("nothing has changed since the apply")

	version(types.BucketVersioningStatusSuspended)
	label("ops")
	allow("logs", fmt.Sprintf(everybody, "logs"))
	allow("data", fmt.Sprintf(everybody, "data"))
	s.do(s.s3.PutBucketCors(ctx, &s3.PutBucketCorsInput{Bucket: aws.String("data"), CORSConfiguration: &types.CORSConfiguration{
		CORSRules: []types.CORSRule{{AllowedMethods: []string{"GET"}, AllowedOrigins: []string{"*"}}}}}))
	s.do(s.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("byhand")}))
	allow("byhand", fmt.Sprintf(everybody, "byhand"))
	s.expect("it was changed by hand",
		`high changed Bucket.VersioningConfiguration logs versioning_configuration[0].status`,
		`low changed Bucket logs tags_all.team`,
		`critical changed BucketPolicy logs policy.Statement[0].Action policy.Statement[0].Condition policy.Statement[0].Effect policy.Statement[0].Resource policy.Statement[0].Sid`,
		`critical unmanaged BucketPolicy data`,
		`low unmanaged Bucket.CorsConfiguration data`,
		`critical unmanaged Bucket byhand`)

	version(types.BucketVersioningStatusEnabled)
	label("data")
	allow("logs", overTLS)
	s.do(s.s3.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: aws.String("data")}))
	s.do(s.s3.DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: aws.String("data")}))
	s.do(s.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String("byhand")}))
	s.expect("it was undone")

	s.do(s.s3.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: aws.String("logs")}))
	s.do(s.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String("data")}))
	s.expect("a policy and a bucket were deleted", `high missing BucketPolicy logs`, `high missing Bucket data`)
}

// TestS3Inline is TestS3 for a state of a provider before 4.0, in which the parts of the bucket
// are blocks.
func TestS3Inline(t *testing.T) {
	t.Parallel()
	s, ctx := newShelf(t), t.Context()
	s.do(s.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("logs")}))
	version := func(status types.BucketVersioningStatus) {
		s.do(s.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String("logs"), VersioningConfiguration: &types.VersioningConfiguration{Status: status}}))
	}
	cors := func(origin string) {
		s.do(s.s3.PutBucketCors(ctx, &s3.PutBucketCorsInput{Bucket: aws.String("logs"), CORSConfiguration: &types.CORSConfiguration{
			CORSRules: []types.CORSRule{{AllowedMethods: []string{"GET"}, AllowedOrigins: []string{origin}}}}}))
	}
	version(types.BucketVersioningStatusEnabled)
	cors("https://example.org")
	s.state([2]string{"aws_s3_bucket", `{"id": "logs", "bucket": "logs", "acl": "private", "cors_rule": [{"allowed_headers": null, "allowed_methods": ["GET"],
		"allowed_origins": ["https://example.org"], "expose_headers": null, "max_age_seconds": 0}], "lifecycle_rule": [], "logging": [], "policy": null,
		"server_side_encryption_configuration": [], "tags": null, "versioning": [{"enabled": true, "mfa_delete": false}], "website": []}`})
	s.expect("nothing has changed since the apply")

	version(types.BucketVersioningStatusSuspended)
	cors("*")
	s.do(s.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String("logs"), Policy: aws.String(fmt.Sprintf(everybody, "logs"))}))
	s.expect("it was changed by hand",
		`high changed Bucket.VersioningConfiguration logs versioning[0].enabled`,
		`medium changed Bucket.CorsConfiguration logs cors_rule[0].allowed_origins`,
		`critical unmanaged BucketPolicy logs`)

	version(types.BucketVersioningStatusEnabled)
	cors("https://example.org")
	s.do(s.s3.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: aws.String("logs")}))
	s.expect("it was undone")
}
