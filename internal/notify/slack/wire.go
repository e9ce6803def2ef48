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
	// maxAnswer bounds each answer of Slack, in bytes.
	maxAnswer = 16 << 20
	// maxCode bounds the words in which Slack says what is wrong.
	maxCode = 64
)

// A wire carries requests to Slack.
type wire struct {
	client *http.Client
	agent  string
	now    func() time.Time
	log    *slog.Logger
	// pace is that of the messages in the channel.
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
			// A redirect would take the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       config.Timeout,
		},
		agent: "driftd/" + env.Version,
		now:   env.Now,
		log:   env.Log,
		pace:  pace{every: config.Pace},
	}
}

// Do sends a request. An answer other than success is an error, and the body of
// one is bounded.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", w.agent)
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	if err := w.judge(response); err != nil {
		_ = response.Body.Close() // nobody wants more of it
		return nil, judged{err}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

// judge says what an answer means whose status tells it. Webhooks say in the
// body which failure it is.
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

// call calls one of Slack's methods. Its error says what to do next.
func (w *wire) call(ctx context.Context, what string, method func() error) error {
	err := method()
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &httpclient.Timeout{After: w.client.Timeout}
	}
	return explain(what, err)
}

// orBare sends a message, and where Slack will never take it as it is, once more
// as bare text: better a plain word than none.
func (w *wire) orBare(m message, send func(message) error) error {
	err := send(m)
	if !errors.Is(err, notify.ErrRefused) {
		return err
	}
	w.log.Warn("a message is refused as it is: it is sent as bare text", "err", err)
	return send(m.bare())
}

// connect returns a client of Slack's methods that logs nothing.
func (w *wire) connect(address, token string, options ...slack.Option) *slack.Client {
	common := []slack.Option{slack.OptionAPIURL(address), slack.OptionHTTPClient(w), slack.OptionLog(silent{})}
	return slack.New(token, append(common, options...)...)
}

// silent logs nothing: what Slack's library would log holds secrets.
type silent struct{}

// Output does nothing.
func (silent) Output(int, string) error { return nil }
