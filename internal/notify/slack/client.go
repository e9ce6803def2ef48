package slack

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

const (
	// maxAnswer is the maximum size of a response, in bytes.
	maxAnswer = 16 << 20
	// maxCode is the maximum length of an error code.
	maxCode = 64
)

// An apiClient sends requests to Slack.
type apiClient struct {
	http  *http.Client
	agent string
	now   func() time.Time
	log   *slog.Logger
	// limiter limits the rate of messages in the channel.
	limiter rateLimiter
}

func newAPIClient(config Config, env notify.Env) *apiClient {
	return &apiClient{
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:                  http.ProxyFromEnvironment,
				MaxResponseHeaderBytes: 64 << 10,
				IdleConnTimeout:        time.Minute,
				ForceAttemptHTTP2:      true,
			},
			// A redirect would send the token to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       config.Timeout,
		},
		agent:   "driftd/" + env.Version,
		now:     env.Now,
		log:     env.Log,
		limiter: rateLimiter{interval: config.Pace},
	}
}

// Do sends a request. A response other than success is an error. The body is limited to
// maxAnswer.
func (c *apiClient) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", c.agent)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if err := c.statusError(response); err != nil {
		_ = response.Body.Close() // the rest of the body is not needed
		return nil, classified{err}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

// statusError returns the error for the status of a response, or nil. The response of a webhook has
// an error code in the body.
func (c *apiClient) statusError(response *http.Response) error {
	err := post.Judge(response.StatusCode, response.Header, c.now())
	if err == nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError {
		return err
	}
	word, readErr := io.ReadAll(io.LimitReader(response.Body, maxCode))
	if code := strings.TrimSpace(string(word)); readErr == nil && isErrorCode(code) {
		return codeError(code, "", permanentHint)
	}
	return err
}

// call calls a Slack method. what is the action in its error, which contains the next step.
func (c *apiClient) call(ctx context.Context, what string, method func() error) error {
	err := method()
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &httpclient.Timeout{After: c.http.Timeout}
	}
	return explain(what, err)
}

// sendWithFallback sends m. If Slack refuses m, it sends the text without blocks.
func (c *apiClient) sendWithFallback(m message, send func(message) error) error {
	err := send(m)
	if !errors.Is(err, notify.ErrRefused) {
		return err
	}
	c.log.Warn("message refused, sending its text without blocks", "err", err)
	return send(m.withoutBlocks())
}

// connect returns a client of Slack's methods that logs nothing.
func (c *apiClient) connect(address, token string, options ...slack.Option) *slack.Client {
	common := []slack.Option{slack.OptionAPIURL(address), slack.OptionHTTPClient(c), slack.OptionLog(silent{})}
	return slack.New(token, append(common, options...)...)
}

// silent discards the log of Slack's library, which contains secrets.
type silent struct{}

// Output does nothing.
func (silent) Output(int, string) error { return nil }
