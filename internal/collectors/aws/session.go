package aws

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
)

// A session sends the requests of one scan to S3. The SDK resolves the address and signs. This
// package decodes the answers, because the SDK accepts any answer as one to its request.
type session struct {
	config Config
	client *awsapi.Client
	s3     *s3.Client
	region string
}

// connect opens a session without sending a request. The caller closes it. Requests go through
// another transport unless through is nil.
func connect(ctx context.Context, c Config, backoff time.Duration, through func(http.RoundTripper) http.RoundTripper) (*session, error) {
	options := c.options(backoff)
	options.Through = through
	client, err := awsapi.Connect(ctx, options)
	if err != nil {
		return nil, err
	}
	s := &session{config: c, region: client.Config.Region, client: client}
	s.s3 = s3.NewFromConfig(client.Config, func(o *s3.Options) {
		// Redirects are not followed: do sends a new request, signed for the other region.
		o.HTTPClient, o.UsePathStyle = client.HTTP, c.PathStyle
		o.DisableS3ExpressSessionAuth = aws.Bool(true)
		o.Retryer = retry.NewStandard(retryOnlyClockSkew)
	})
	return s, nil
}

// retryOnlyClockSkew makes the SDK retry only a request that was refused because of the clock,
// after it has computed the difference. The transport retries all other failures.
func retryOnlyClockSkew(o *retry.StandardOptions) {
	o.MaxAttempts = 2
	o.Retryables = []retry.IsErrorRetryable{retry.RetryableError{}}
	o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
}

// close closes the idle connections.
func (s *session) close() { s.client.Close() }

// An answer is the response to a request, with its whole body.
type answer struct {
	code   int
	body   []byte
	header http.Header
}

// options returns the option that sends a request to a region and stores its answer in a.
func (a *answer) options(region string) func(*s3.Options) {
	return func(o *s3.Options) {
		o.Region = region
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("keepAnswer", a.keep), middleware.After)
		})
	}
}

// keep is a middleware that stores the answer before the SDK decodes it.
func (a *answer) keep(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		return out, metadata, err
	}
	if a.body, err = io.ReadAll(response.Body); err != nil {
		return out, metadata, err
	}
	response.Body = io.NopCloser(bytes.NewReader(a.body))
	a.code, a.header = response.StatusCode, response.Header
	return out, metadata, nil
}

// An apiCall sends one request through the SDK.
type apiCall func(ctx context.Context, client *s3.Client, option func(*s3.Options)) error

// do sends a request to a region, and again to another region if S3 answers that the bucket is
// there. It returns a successful answer and the region that sent it.
func (s *session) do(ctx context.Context, region string, send apiCall) (answer, string, error) {
	region = cmp.Or(region, s.region)
	for hops := 0; ; hops++ {
		var a answer
		err := send(ctx, s.s3, a.options(region))
		if a.code/100 == 2 {
			return a, region, nil
		}
		if ctx.Err() != nil {
			return a, region, context.Cause(ctx)
		}
		elsewhere := cmp.Or(a.header.Get("X-Amz-Bucket-Region"), normalize.DecodeError(a.body).Region)
		if elsewhere == region || !isRegion(elsewhere) || hops > 0 {
			err = a.asError(err, func(text string) string { return s.client.Redact(ctx, text) })
			return a, region, err
		}
		region = elsewhere
	}
}

// isRegion reports whether a name has the form of a region, so that it may become part of a
// host name.
func isRegion(name string) bool {
	return regexp.MustCompile(`^[a-z]{2}[a-z0-9-]{3,30}$`).MatchString(name)
}

// isBucket reports whether a name has the form of a bucket's name. The SDK also accepts other
// identifiers, such as the ARN of an access point, and sends the request to another host.
func isBucket(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`).MatchString(name)
}

// owner returns the account that must own the buckets, for the request header
// x-amz-expected-bucket-owner; nil if the account is not configured.
func (s *session) owner() *string {
	if s.config.Account == "" {
		return nil
	}
	return &s.config.Account
}

// address returns the address of the requests, for messages.
func (s *session) address() string {
	if base := s.s3.Options().BaseEndpoint; base != nil {
		return *base
	}
	return "S3 in " + s.region
}

// isCompatible reports whether requests are sent to a server other than AWS.
func (s *session) isCompatible() bool {
	return s.client.Base() != "" || s.s3.Options().BaseEndpoint != nil
}

// server returns the address for messages before the SDK has resolved it.
func (c Config) server() string { return cmp.Or(c.Endpoint, strings.TrimSpace("S3 "+c.Region)) }
