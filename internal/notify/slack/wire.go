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

// A wire sends requests to Slack.
type wire struct {
	client *http.Client
	agent  string
	now    func() time.Time
	log    *slog.Logger
	// pace limits the rate of messages in the channel.
	pace pace
}

func newWire(config Config, env notify.Env) *wire {
	return &wire{
		client: &http.Client{
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
		agent: "driftd/" + env.Version,
		now:   env.Now,
		log:   env.Log,
		pace:  pace{every: config.Pace},
	}
}

// Do sends a request. A response other than success is an error. The body is limited to
// maxAnswer.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", w.agent)
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	if err := w.judge(response); err != nil {
		_ = response.Body.Close() // the rest of the body is not needed
		return nil, judged{err}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

// judge returns the error for the status of a response. Webhooks send an error code in the body.
func (w *wire) judge(response *http.Response) error {
	err := post.Judge(response.StatusCode, response.Header, w.now())
	if err == nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError {
		return err
	}
	word, readErr := io.ReadAll(io.LimitReader(response.Body, maxCode))
	if code := strings.TrimSpace(string(word)); readErr == nil && known(code) {
		return refusal(code, "", standing)
	}
	return err
}

// call calls a Slack method. The error contains the next step.
func (w *wire) call(ctx context.Context, what string, method func() error) error {
	err := method()
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &httpclient.Timeout{After: w.client.Timeout}
	}
	return explain(what, err)
}

// orBare sends a message. If Slack refuses it, it sends the text without blocks.
func (w *wire) orBare(m message, send func(message) error) error {
	err := send(m)
	if !errors.Is(err, notify.ErrRefused) {
		return err
	}
	w.log.Warn("message refused, sending its text without blocks", "err", err)
	return send(m.bare())
}

// connect returns a client of Slack's methods that logs nothing.
func (w *wire) connect(address, token string, options ...slack.Option) *slack.Client {
	common := []slack.Option{slack.OptionAPIURL(address), slack.OptionHTTPClient(w), slack.OptionLog(silent{})}
	return slack.New(token, append(common, options...)...)
}

// silent discards the log of Slack's library, which contains secrets.
type silent struct{}

// Output does nothing.
func (silent) Output(int, string) error { return nil }
