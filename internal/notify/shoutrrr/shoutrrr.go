// Package shoutrrr sends messages with the library shoutrrr, which supports e-mail, Teams,
// Discord, Telegram, PagerDuty, Opsgenie and others.
//
// The library runs in a separate process for each message, because it takes no context, waits
// for minutes within a call, reads responses without a limit, panics if a connection fails
// (Zulip) and ignores failed requests (Telegram). A process can be killed, and its HTTP requests
// can be observed.
package shoutrrr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/phrase"
)

// Config configures a shoutrrr receiver.
type Config struct {
	// URLFile is a file with the address of the service in the format of shoutrrr, which contains passwords
	// and tokens. It is required.
	URLFile string `mapstructure:"url_file" path:"true"`
	// Timeout is the maximum duration of a delivery.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Definition returns the definition of the receiver type "shoutrrr".
func Definition() notify.Definition {
	return notify.Define("shoutrrr", Config{Timeout: 20 * time.Second}, open)
}

func open(env notify.Env, config Config) (notify.Receiver, error) {
	if config.Timeout <= 0 {
		return notify.Receiver{}, errors.New("timeout: must be over 0s")
	}
	if config.URLFile == "" {
		return notify.Receiver{}, errors.New("url_file: set the path of the file with the service's address")
	}
	address, err := credential.Read(config.URLFile)
	if err != nil {
		return notify.Receiver{}, fmt.Errorf("url_file: %w", err)
	}
	name, err := check(address)
	if err != nil {
		return notify.Receiver{}, fmt.Errorf("url_file: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return notify.Receiver{}, fmt.Errorf("find driftd's own program: %w", err)
	}
	return notify.Receiver{Notifier: &sender{
		program: program, name: name, address: address, service: serviceOf(name), timeout: config.Timeout, now: env.Now,
	}}, nil
}

// A sender starts a process for each message.
type sender struct {
	program       string
	name, address string
	service       service
	timeout       time.Duration
	now           func() time.Time
	// env is added to the environment of the process.
	env []string
}

// Notify delivers one message. It cannot check whether an interrupted delivery has arrived, so
// the message may arrive twice.
func (s *sender) Notify(ctx context.Context, entry model.OutboxEntry) (string, error) {
	r, ok := s.service.sendRequest(&entry.Message)
	if !ok {
		return "", nil
	}
	r.Address = s.address
	if err := s.send(ctx, r); err != nil {
		return "", fmt.Errorf("send by %s: %w", s.name, err)
	}
	return "", nil
}

// maxOutcome is the maximum size of the process's output, in bytes.
const maxOutcome = 16 << 10

// send starts the process that sends the message of r, and returns the error of its outcome.
func (s *sender) send(ctx context.Context, r sendRequest) error {
	input, err := json.Marshal(r)
	if err != nil {
		return notify.Refused(fmt.Errorf("write message as JSON: %w", err))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, &httpclient.Timeout{After: s.timeout})
	defer cancel()
	process := exec.CommandContext(ctx, s.program, Verb)
	process.Env = append(inheritedEnv(os.Environ()), s.env...)
	process.Stdin = bytes.NewReader(input)
	process.WaitDelay = time.Second
	output := &limitedBuffer{}
	process.Stdout = output
	err = process.Run()
	var (
		exit *exec.ExitError
		o    outcome
	)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.As(err, &exit):
		return fmt.Errorf("start the process that sends the message: %w", err)
	case err != nil, json.Unmarshal(output.Bytes(), &o) != nil:
		return errors.New("the process that sends the message failed")
	}
	return o.asError(s.now())
}

// inheritedEnv returns the variables of environ that the process needs: for proxies, certificates,
// temporary files and time zones. Other variables may contain credentials.
func inheritedEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "HOME", "PATH", "TMPDIR", "TZ", "ZONEINFO", "GODEBUG":
			return false
		}
		return true
	})
}

// A limitedBuffer stores only the first maxOutcome bytes.
type limitedBuffer struct{ bytes.Buffer }

// Write stores the beginning of p for which there is room. It never fails.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxOutcome-b.Len())])
	return len(p), nil
}

// clean returns an error of the library as one line without parts of the address.
func clean(err error, address string) string {
	return phrase.Line(redact(err.Error(), address), 200)
}
