package awsapi

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Options are the settings of a Client.
type Options struct {
	awsconfig.Options

	// Role is the ARN of a role to assume with the credentials; "" for none. ExternalID is
	// what the role's owner requires for that; "" for nothing.
	Role, ExternalID string
	// CAFile holds the authorities to trust in place of those of the system.
	CAFile string
	Limits httpclient.Limits
	// Through returns a transport that sends requests through another one; nil sends them as
	// they are.
	Through func(http.RoundTripper) http.RoundTripper
}

// transport returns the transport of requests.
func (o *Options) transport(trust *tls.Config) http.RoundTripper {
	base := httpclient.NewBase(trust, o.Limits)
	if o.Through != nil {
		return o.Through(base)
	}
	return base
}

// A Client sends requests with the credentials of one account. It is safe for concurrent
// use.
type Client struct {
	// Config has the credentials, the region and the address of a compatible server.
	Config aws.Config
	// HTTP sends requests within the limits, without following redirects.
	HTTP *http.Client

	signer  *v4.Signer
	backoff time.Duration
	// skew is how much the clock of AWS is ahead.
	skew  atomic.Int64
	mu    sync.Mutex
	gates map[string]*gate
}

// A SettingError is an error of the settings, or of a file or credential that they name. No
// request was sent.
type SettingError struct{ Err error }

// Error returns the text of Err.
func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *SettingError) Unwrap() error { return e.Err }

// Connect returns a client without sending a request. The caller closes it.
func Connect(ctx context.Context, o Options) (*Client, error) {
	trust, err := httpclient.Trust(o.CAFile)
	if err != nil {
		return nil, &SettingError{err}
	}
	loaded, err := awsconfig.Load(ctx, o.Options)
	if err == nil && loaded.Region == "" {
		err = errors.New("no region is set")
	}
	if err != nil {
		return nil, &SettingError{err}
	}
	c := &Client{
		Config: loaded, HTTP: httpclient.New(o.transport(trust), o.Limits, httpclient.API{}).HTTP(),
		signer: v4.NewSigner(), backoff: o.Limits.Backoff, gates: map[string]*gate{},
	}
	if o.Role != "" {
		c.Config.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(
			sts.NewFromConfig(loaded, func(s *sts.Options) { s.HTTPClient = c.HTTP }), o.Role,
			func(s *stscreds.AssumeRoleOptions) {
				s.RoleSessionName = "driftd"
				if o.ExternalID != "" {
					s.ExternalID = &o.ExternalID
				}
			}))
	}
	return c, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Base returns the address of a compatible server; "" for AWS.
func (c *Client) Base() string { return aws.ToString(c.Config.BaseEndpoint) }

// Endpoint returns the URL of a service in a region.
func (c *Client) Endpoint(s *Service, region string) string {
	url, _ := s.endpoint(c.Base(), region)
	return url
}

// throttledAttempts is how often a request is sent that a service throttles. The requests
// of the HTTP client count as one.
const throttledAttempts = 5

// Do sends a call to a region, and returns the answer. A throttled call is sent again, after
// a pause of all requests to the service in that region. Errors are *Error, *SettingError,
// and those of package httpclient.
func (c *Client) Do(ctx context.Context, region string, call *Call) (v model.Value, err error) {
	ctx, settle := budget.Part(ctx)
	defer func() { settle(v.Weight()) }()
	g := c.gate(call.Service, region)
	for n := 0; ; n++ {
		if err = g.pass(ctx); err != nil {
			return model.Value{}, httpclient.Because(ctx, err)
		}
		v, err = c.send(ctx, region, call)
		if !Throttled(err) || n+1 == throttledAttempts {
			return v, err
		}
		pause := c.backoff << (n + 1)
		g.close(pause + time.Duration(rand.Int64N(int64(pause)/2+1)))
	}
}

// send sends a call once, and again if it was refused because of the clock.
func (c *Client) send(ctx context.Context, region string, call *Call) (model.Value, error) {
	a, err := c.exchange(ctx, region, call)
	if err == nil && c.adjust(a) {
		a, err = c.exchange(ctx, region, call)
	}
	switch {
	case err != nil:
		return model.Value{}, err
	case a.status/100 != 2:
		refused := decodeError(a.status, a.header, a.body)
		refused.Code, refused.Message = printable.Text(c.Redact(ctx, refused.Code)), printable.Text(c.Redact(ctx, refused.Message))
		return model.Value{}, refused
	}
	return call.decode(a.body)
}

// An answer is the response to a request, with its whole body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange signs and sends a request.
func (c *Client) exchange(ctx context.Context, region string, call *Call) (a answer, err error) {
	endpoint, signed := call.Service.endpoint(c.Base(), region)
	r, payload, err := call.request(ctx, endpoint)
	if err != nil {
		return a, err
	}
	credentials, err := c.Config.Credentials.Retrieve(ctx)
	if err != nil {
		return a, credentialsError(ctx, err)
	}
	hash := sha256.Sum256(payload)
	at := time.Now().Add(time.Duration(c.skew.Load()))
	if err = c.signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), call.Service.ID, signed, at); err != nil {
		return a, fmt.Errorf("sign %s: %w", call.Action, err)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return a, httpclient.Because(ctx, httpclient.WithoutURL(err))
	}
	a = answer{status: response.StatusCode, header: response.Header}
	a.body, err = io.ReadAll(response.Body)
	return a, errors.Join(err, response.Body.Close())
}

// credentialsError returns the error of credentials that could not be had: that of the
// service that was asked for a role, or one of this machine.
func credentialsError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &SettingError{fmt.Errorf("find AWS credentials: %w", err)}
}

// adjust reports whether a request was refused because of this machine's clock, and takes
// over that of AWS.
func (c *Client) adjust(a answer) bool {
	if a.status/100 == 2 {
		return false
	}
	switch decodeError(a.status, a.header, a.body).Code {
	case "RequestExpired", "RequestTimeTooSkewed", "InvalidSignatureException", "SignatureDoesNotMatch", "RequestInTheFuture":
	default:
		return false
	}
	theirs, err := http.ParseTime(a.header.Get("Date"))
	ahead := time.Until(theirs)
	// AWS accepts differences of up to five minutes.
	if err != nil || (ahead-time.Duration(c.skew.Load())).Abs() < 4*time.Minute {
		return false
	}
	c.skew.Store(int64(ahead))
	return true
}

// Redact replaces the secret key and the session token in a text of a server.
func (c *Client) Redact(ctx context.Context, text string) string {
	mine, err := c.Config.Credentials.Retrieve(ctx)
	if err != nil {
		return text
	}
	return httpclient.Hider(mine.SecretAccessKey, mine.SessionToken).Replace(text)
}

// A gate is the budget of requests to one service in one region.
type gate struct {
	limiter *rate.Limiter
	mu      sync.Mutex
	// until is when requests are sent again.
	until time.Time
}

// defaultRate is the largest number of requests per second to a service without a Rate.
const defaultRate = 10

func (c *Client) gate(s *Service, region string) *gate {
	_, signed := s.endpoint("", region)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := s.ID + " " + signed
	if c.gates[key] == nil {
		perSecond := s.Rate
		if perSecond == 0 {
			perSecond = defaultRate
		}
		c.gates[key] = &gate{limiter: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))}
	}
	return c.gates[key]
}

// pass waits until a request may be sent.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	pause := time.Until(g.until)
	g.mu.Unlock()
	if pause > 0 {
		if err := httpclient.Wait(ctx, pause); err != nil {
			return err
		}
	}
	return httpclient.Turn(ctx, g.limiter)
}

// close holds back all requests for d.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
}
