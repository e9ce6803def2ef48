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
		"another kind":   {Config{Region: "eu-central-1"}, "aws/AWS::EC2::Instance", "i-1", ""},
	} {
		if got := (&inventory{config: tc.config}).Link(model.Ref{Kind: tc.kind, ID: tc.id}); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
