package aws

import (
	"context"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
)

// objects are the objects of one bucket. It implements cloudtrail.Objects.
type objects struct {
	session *session
	// region is the region that answered last.
	region atomic.Value
}

// do sends a request to the region of the bucket, and returns the body of the answer.
func (o *objects) do(ctx context.Context, send apiCall) ([]byte, error) {
	ctx, settle := budget.Part(ctx)
	defer settle(0)
	known, _ := o.region.Load().(string)
	a, region, err := o.session.do(ctx, known, send)
	if err != nil {
		return nil, err
	}
	o.region.Store(region)
	return a.body, nil
}

// List returns at most 1000 keys with a prefix after a key, in order, and whether there are more.
func (o *objects) List(ctx context.Context, bucket, owner, prefix, after string) (keys []string, more bool, err error) {
	body, err := o.do(ctx, func(ctx context.Context, c *s3.Client, option func(*s3.Options)) error {
		_, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix, StartAfter: &after, EncodingType: types.EncodingTypeUrl, ExpectedBucketOwner: &owner}, option)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return normalize.DecodeListing(body)
}

// Get returns the content of an object.
func (o *objects) Get(ctx context.Context, bucket, owner, key string) ([]byte, error) {
	return o.do(ctx, func(ctx context.Context, c *s3.Client, option func(*s3.Options)) error {
		_, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key, ExpectedBucketOwner: &owner}, option)
		return err
	})
}
