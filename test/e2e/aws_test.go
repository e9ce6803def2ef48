//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/driftd/driftd/test/tftest"
)

// moto has no list of analyzers.
const awsConfig = `
sources:
  - name: prod
    type: aws
    settings:
      endpoint: "http://%s"
      regions: [eu-central-1, us-east-1]
      services: [ec2, iam, sqs, sns, lambda, rds, dynamodb, ecr, elasticloadbalancing, eks, ecs, route53, kms, secretsmanager, cloudtrail, config, logs]
      profile: test
      credentials_file: credentials
      config_file: config
declarations:
  - {name: infra, type: terraform, governs: [prod], settings: {engine: state, state: [terraform.tfstate], mappings: [mappings]}}
`

// awsMapping has a type of its own, so that the test does not depend on the built-in tables.
const awsMapping = `
provider: hashicorp/aws
types:
  test_key:
    compare: plan
    kind: aws/AWS::EC2::KeyPair
    id: "{id}"
    place: "{region}"
    also: [aws/AWS::EC2::SecurityGroup, aws/AWS::EC2::SecurityGroupRule, aws/AWS::EC2::VPC, aws/AWS::EC2::Subnet, aws/AWS::EC2::RouteTable,
      aws/AWS::EC2::Route, aws/AWS::EC2::InternetGateway, aws/AWS::EC2::NetworkAcl, aws/AWS::EC2::NetworkAclEntry, aws/AWS::IAM::User, aws/AWS::IAM::AccessKey,
      aws/AWS::IAM::Role, aws/AWS::IAM::UserPolicyAttachment, aws/AWS::KMS::Key, aws/AWS::SNS::Topic, aws/AWS::SQS::Queue, aws/AWS::RDS::DBInstance]
`

// A hand changes an account of AWS without a declaration.
type hand struct {
	t       *testing.T
	address string
}

// call sends a form to a service in a region, and returns the first text in its answer that
// matches find.
func (h *hand) call(service, region, action, find string, params ...string) string {
	h.t.Helper()
	form := url.Values{"Action": {action}, "Version": {"2016-11-15"}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://"+h.address+"/", strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/%s/%s/aws4_request, SignedHeaders=host, Signature=0", region, service))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %s %v %s", action, answer.Status, err, body)
	}
	return regexp.MustCompile(find).FindString(string(body))
}

// TestAWS creates resources by hand in an account that moto simulates, in two regions. Nothing
// is found in an account that AWS has just created, and exactly these afterwards.
func TestAWS(t *testing.T) {
	t.Parallel()
	moto, err := tftest.StartMoto(t.Context())
	stopLater(t, moto, err)
	s, by := &shelf{t: t, dir: t.TempDir()}, hand{t, moto.Address}
	s.write("driftd.yaml", fmt.Sprintf(awsConfig, moto.Address))
	s.write("credentials", "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret-of-the-test\n")
	s.write("config", "[profile test]\n")
	const here, there = "eu-central-1", "us-east-1"
	if err := os.Mkdir(filepath.Join(s.dir, "mappings"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join("mappings", "aws.yaml"), awsMapping)
	key := by.call("ec2", here, "CreateKeyPair", "key-[0-9a-f]+", "KeyName", "declared")
	s.state([2]string{"test_key", fmt.Sprintf(`{"id": %q, "region": %q}`, key, here)})
	s.expect("an account as AWS creates it, with what is declared")

	group := by.call("ec2", here, "DescribeSecurityGroups", "sg-[0-9a-f]+")
	by.call("ec2", here, "AuthorizeSecurityGroupIngress", "", "GroupId", group, "IpPermissions.1.IpProtocol", "tcp",
		"IpPermissions.1.FromPort", "22", "IpPermissions.1.ToPort", "22", "IpPermissions.1.IpRanges.1.CidrIp", "0.0.0.0/0")
	by.call("ec2", there, "CreateKeyPair", "", "KeyName", "backdoor")
	by.call("iam", there, "CreateUser", "", "UserName", "eve")
	by.call("iam", there, "CreateAccessKey", "", "UserName", "eve")
	by.call("iam", there, "AttachUserPolicy", "", "UserName", "eve", "PolicyArn", "arn:aws:iam::aws:policy/AdministratorAccess")
	by.call("sns", here, "CreateTopic", "", "Name", "news")
	s.expect("resources that were created by hand",
		"critical unmanaged aws/AWS::EC2::SecurityGroupRule "+group+" ingress tcp 22 22 0.0.0.0/0",
		"critical unmanaged aws/AWS::IAM::User eve",
		"medium unmanaged aws/AWS::EC2::KeyPair backdoor",
		"low unmanaged aws/AWS::SNS::Topic news")
}
