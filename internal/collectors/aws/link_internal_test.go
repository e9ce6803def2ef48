package aws

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestLink(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config         Config
		kind, id, want string
	}{
		"bucket":         {Config{Region: "eu-central-1"}, "aws/AWS::S3::Bucket", "shop", "https://console.aws.amazon.com/s3/buckets/shop?tab=properties"},
		"policy":         {Config{Region: "eu-central-1"}, "aws/AWS::S3::BucketPolicy", "shop", "https://console.aws.amazon.com/s3/buckets/shop?tab=permissions"},
		"public access":  {Config{Region: "cn-north-1"}, "aws/AWS::S3::Bucket.PublicAccessBlockConfiguration", "shop", "https://console.amazonaws.cn/s3/buckets/shop?tab=permissions"},
		"lifecycle":      {Config{Region: "us-gov-west-1"}, "aws/AWS::S3::Bucket.LifecycleConfiguration", "shop", "https://console.amazonaws-us-gov.com/s3/buckets/shop?tab=management"},
		"special":        {Config{Region: "eu-central-1"}, "aws/AWS::S3::Bucket", "a?b#c", "https://console.aws.amazon.com/s3/buckets/a%3Fb%23c?tab=properties"},
		"a path":         {Config{Region: "eu-central-1"}, "aws/AWS::S3::Bucket", "../x", ""},
		"a parent":       {Config{Region: "eu-central-1"}, "aws/AWS::S3::Bucket", "..", ""},
		"another server": {Config{Region: "eu-central-1", Endpoint: "https://minio.example.org"}, "aws/AWS::S3::Bucket", "shop", ""},
		"no region":      {Config{}, "aws/AWS::S3::Bucket", "shop", ""},
		"another kind":   {Config{Region: "eu-central-1"}, "aws/AWS::Backup::BackupVault", "eu-central-1:daily", ""},

		"instance":             {Config{Region: "eu-central-1"}, "aws/AWS::EC2::Instance", "i-1", "https://console.aws.amazon.com/ec2/home?region=eu-central-1#InstanceDetails:instanceId=i-1"},
		"one region of a list": {Config{Regions: []string{"cn-north-1"}}, "aws/AWS::EC2::VPC", "vpc-1", "https://console.amazonaws.cn/vpcconsole/home?region=cn-north-1#VpcDetails:VpcId=vpc-1"},
		"several regions":      {Config{Regions: []string{"eu-central-1", "us-east-1"}}, "aws/AWS::EC2::Instance", "i-1", ""},
		"region of an ARN": {
			Config{Regions: []string{"eu-central-1", "us-east-1"}}, "aws/AWS::Lambda::Function", "arn:aws:lambda:us-east-1:123456789012:function:f",
			"https://console.aws.amazon.com/lambda/home?region=us-east-1#/functions/f",
		},
		"an ARN without a region": {Config{Region: "eu-central-1"}, "aws/AWS::Lambda::Function", "arn:aws:lambda:#:123456789012:function:f", ""},
		"a user of several regions": {
			Config{Regions: []string{"eu-central-1", "us-east-1"}}, "aws/AWS::IAM::User", "eve+x@example.org", "https://console.aws.amazon.com/iam/home#/users/details/eve+x@example.org",
		},
		"a policy of a role":     {Config{Region: "us-gov-west-1"}, "aws/AWS::IAM::RolePolicyAttachment", "ci/arn:aws:iam::aws:policy/X", "https://console.amazonaws-us-gov.com/iam/home#/roles/details/ci"},
		"a share":                {Config{Region: "eu-central-1"}, "aws/AWS::EC2::SnapshotShare", "snap-1:123456789012", "https://console.aws.amazon.com/ec2/home?region=eu-central-1#SnapshotDetails:snapshotId=snap-1"},
		"a user without regions": {Config{}, "aws/AWS::IAM::User", "eve", ""},
		"a server with users":    {Config{Region: "eu-central-1", Endpoint: "https://aws.example.org"}, "aws/AWS::IAM::User", "eve", ""},
	} {
		if got := (&inventory{config: tc.config}).Link(model.Ref{Kind: tc.kind, ID: tc.id}); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
