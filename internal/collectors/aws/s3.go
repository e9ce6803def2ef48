package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
)

// A getter requests one part of a bucket. owner is the account that must own the bucket, or
// nil.
type getter func(ctx context.Context, c *s3.Client, bucket, owner *string, o func(*s3.Options)) error

// getterOf returns a getter that calls an operation of the SDK and ignores the SDK's result.
func getterOf[In, Out any](send func(*s3.Client, context.Context, *In, ...func(*s3.Options)) (*Out, error), input func(bucket, owner *string) *In) getter {
	return func(ctx context.Context, c *s3.Client, bucket, owner *string, o func(*s3.Options)) error {
		_, err := send(c, ctx, input(bucket, owner), o)
		return err
	}
}

// getters returns the getter of each kind.
func getters() map[string]getter {
	return map[string]getter{
		normalize.Bucket: getterOf((*s3.Client).GetBucketTagging, func(b, o *string) *s3.GetBucketTaggingInput {
			return &s3.GetBucketTaggingInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.BucketPolicy: getterOf((*s3.Client).GetBucketPolicy, func(b, o *string) *s3.GetBucketPolicyInput {
			return &s3.GetBucketPolicyInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Versioning: getterOf((*s3.Client).GetBucketVersioning, func(b, o *string) *s3.GetBucketVersioningInput {
			return &s3.GetBucketVersioningInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Encryption: getterOf((*s3.Client).GetBucketEncryption, func(b, o *string) *s3.GetBucketEncryptionInput {
			return &s3.GetBucketEncryptionInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.PublicAccess: getterOf((*s3.Client).GetPublicAccessBlock, func(b, o *string) *s3.GetPublicAccessBlockInput {
			return &s3.GetPublicAccessBlockInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Ownership: getterOf((*s3.Client).GetBucketOwnershipControls, func(b, o *string) *s3.GetBucketOwnershipControlsInput {
			return &s3.GetBucketOwnershipControlsInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.AccessControl: getterOf((*s3.Client).GetBucketAcl, func(b, o *string) *s3.GetBucketAclInput {
			return &s3.GetBucketAclInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Lifecycle: getterOf((*s3.Client).GetBucketLifecycleConfiguration, func(b, o *string) *s3.GetBucketLifecycleConfigurationInput {
			return &s3.GetBucketLifecycleConfigurationInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.CORS: getterOf((*s3.Client).GetBucketCors, func(b, o *string) *s3.GetBucketCorsInput {
			return &s3.GetBucketCorsInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Logging: getterOf((*s3.Client).GetBucketLogging, func(b, o *string) *s3.GetBucketLoggingInput {
			return &s3.GetBucketLoggingInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.ObjectLock: getterOf((*s3.Client).GetObjectLockConfiguration, func(b, o *string) *s3.GetObjectLockConfigurationInput {
			return &s3.GetObjectLockConfigurationInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Website: getterOf((*s3.Client).GetBucketWebsite, func(b, o *string) *s3.GetBucketWebsiteInput {
			return &s3.GetBucketWebsiteInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Accelerate: getterOf((*s3.Client).GetBucketAccelerateConfiguration, func(b, o *string) *s3.GetBucketAccelerateConfigurationInput {
			return &s3.GetBucketAccelerateConfigurationInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.RequestPayment: getterOf((*s3.Client).GetBucketRequestPayment, func(b, o *string) *s3.GetBucketRequestPaymentInput {
			return &s3.GetBucketRequestPaymentInput{Bucket: b, ExpectedBucketOwner: o}
		}),
		normalize.Notification: getterOf((*s3.Client).GetBucketNotificationConfiguration, func(b, o *string) *s3.GetBucketNotificationConfigurationInput {
			return &s3.GetBucketNotificationConfigurationInput{Bucket: b, ExpectedBucketOwner: o}
		}),
	}
}
