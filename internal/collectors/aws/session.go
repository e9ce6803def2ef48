package aws

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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

	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
)

// A session asks S3, for the length of one look. The SDK finds region, credentials
// and addresses, and signs; what an answer says is read here, strictly, for the SDK
// takes any answer for one to its question.
type session struct {
	config Config
	s3     *s3.Client
	http   *http.Client
	region string
}

// connect opens a session without asking S3 anything. The caller closes it.
func connect(ctx context.Context, c Config, backoff time.Duration) (*session, error) {
	trust, err := httpclient.Trust(c.CAFile)
	if err != nil {
		return nil, &localError{err}
	}
	loaded, err := load(ctx, c)
	if err != nil {
		return nil, &localError{err}
	}
	limits := httpclient.Limits{Concurrency: c.Concurrency, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff}
	// A bucket in another region gets a request of its own, signed for there.
	s := &session{config: c, region: loaded.Region, http: httpclient.New(httpclient.NewBase(trust, limits), limits, httpclient.API{}).HTTP()}
	s.s3 = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient, o.UsePathStyle = s.http, c.PathStyle
		o.DisableS3ExpressSessionAuth = aws.Bool(true)
		o.Retryer = retry.NewStandard(onlyForClocks)
	})
	return s, nil
}

// onlyForClocks tries again where the SDK found that the clocks differ, and knows
// by how much; everything else is tried again by the transport.
func onlyForClocks(o *retry.StandardOptions) {
	o.MaxAttempts = 2
	o.Retryables = []retry.IsErrorRetryable{retry.RetryableError{}}
	o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
}

func load(ctx context.Context, c Config) (aws.Config, error) {
	loaded, err := awsconfig.Load(ctx, awsconfig.Options{
		Region: c.Region, Profile: c.Profile, CredentialsFile: c.CredentialsFile, ConfigFile: c.ConfigFile, Endpoint: c.Endpoint,
	})
	if err == nil && loaded.Region == "" {
		err = errors.New("no region is known")
	}
	return loaded, err
}

// close gives the connections back.
func (s *session) close() { s.http.CloseIdleConnections() }

// An answer is what S3 sent.
type answer struct {
	code   int
	body   []byte
	header http.Header
}

// options are those of one request: it goes to a region, and its answer is kept.
func (a *answer) options(region string) func(*s3.Options) {
	return func(o *s3.Options) {
		o.Region = region
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("keepAnswer", a.keep), middleware.After)
		})
	}
}

// keep keeps the answer before the SDK reads it. The body is in memory already.
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

// A call sends one request of the SDK.
type call func(ctx context.Context, client *s3.Client, option func(*s3.Options)) error

// ask sends a request to a region, and to another one where S3 says that the
// bucket is there. It returns the answer, if it is a success, and whose it is.
func (s *session) ask(ctx context.Context, region string, send call) (answer, string, error) {
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
			err = a.explain(err, func(text string) string { return s.hide(ctx, text) })
			return a, region, err
		}
		region = elsewhere
	}
}

// isRegion tells a name that may become part of an address.
func isRegion(name string) bool {
	return regexp.MustCompile(`^[a-z]{2}[a-z0-9-]{3,30}$`).MatchString(name)
}

// isBucket tells a name that a bucket may have. What else the SDK takes for one, as
// the ARN of an access point, leads to servers that nobody set.
func isBucket(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`).MatchString(name)
}

// hide takes secrets out of foreign words.
func (s *session) hide(ctx context.Context, text string) string {
	mine, err := s.s3.Options().Credentials.Retrieve(ctx)
	if err != nil {
		return text
	}
	for _, secret := range []string{mine.SecretAccessKey, mine.SessionToken} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// owner is what a request names as the account that must own the bucket.
func (s *session) owner() *string {
	if s.config.Account == "" {
		return nil
	}
	return &s.config.Account
}

// address is where requests go, for people.
func (s *session) address() string {
	if base := s.s3.Options().BaseEndpoint; base != nil {
		return *base
	}
	return "S3 in " + s.region
}

// server is what address says before the SDK was asked.
func (c Config) server() string { return cmp.Or(c.Endpoint, strings.TrimSpace("S3 "+c.Region)) }
