// Package alertmanager sends open findings to Alertmanagers as alerts, with API version 2.
package alertmanager

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

// Config configures an alertmanager receiver.
type Config struct {
	// Addresses of the Alertmanagers. Each gets all alerts. At least one is required.
	URLs []string `mapstructure:"urls"`
	// User name for basic authentication.
	Username string `mapstructure:"username"`
	// File with the password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// File with a bearer token, instead of user name and password.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// File with the CA certificates to trust. If it is not set, the system's are trusted.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Interval at which all open findings are sent again. An alert that is not sent again ends
	// after three intervals.
	Every time.Duration `mapstructure:"every"`
	// Maximum duration of a request.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Definition returns the definition of the receiver type "alertmanager".
func Definition() notify.Definition {
	return notify.Define("alertmanager", Config{Every: time.Minute, Timeout: 10 * time.Second}, open)
}

func open(env notify.Env, config Config) (notify.Receiver, error) {
	if config.Every <= 0 {
		return notify.Receiver{}, errors.New("every: must be over 0s")
	}
	client, err := post.New(post.Options{Server: "the Alertmanager", Timeout: config.Timeout, CAFile: config.CAFile, Now: env.Now})
	if err != nil {
		return notify.Receiver{}, err
	}
	header, err := config.header()
	if err != nil {
		return notify.Receiver{}, err
	}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "driftd/"+env.Version)
	m := &mirror{every: config.Every, url: env.URL, now: env.Now}
	if len(config.URLs) == 0 {
		return notify.Receiver{}, errors.New("urls: set the address of at least one Alertmanager")
	}
	for i, text := range config.URLs {
		to, err := post.Address(text)
		if err != nil {
			return notify.Receiver{}, fmt.Errorf("urls[%d]: the address %w", i, err)
		}
		m.peers = append(m.peers, &peer{client: client, to: to.JoinPath("api/v2/alerts"), header: header, log: env.Log})
	}
	return notify.Receiver{Mirror: m}, nil
}

// header returns the Authorization header.
func (c Config) header() (http.Header, error) {
	header := http.Header{}
	switch {
	case c.TokenFile != "" && c.Username+c.PasswordFile != "":
		return nil, errors.New("set either token_file, or username and password_file")
	case (c.Username == "") != (c.PasswordFile == ""):
		return nil, errors.New("username and password_file go together")
	case c.TokenFile != "":
		token, err := credential.Read(c.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("token_file: %w", err)
		}
		header.Set("Authorization", "Bearer "+token)
	case c.Username != "":
		password, err := credential.Read(c.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("password_file: %w", err)
		}
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.Username+":"+password)))
	}
	if strings.ContainsAny(header.Get("Authorization"), "\r\n\x00") {
		return nil, errors.New("token_file: the token has several lines")
	}
	return header, nil
}

// A mirror sends findings to all its peers.
type mirror struct {
	peers []*peer
	every time.Duration
	url   string
	now   func() time.Time
}

// lifetime is the lifetime of an alert in intervals. A restart of driftd does not resolve alerts,
// but they end after driftd has stopped.
const lifetime = 3

// Every returns the interval of Show.
func (m *mirror) Every() time.Duration { return m.every }

// Show sends an alert for each open finding that is not muted, and ends earlier alerts without
// such a finding. It sends to all Alertmanagers concurrently. One that fails gets the alerts with
// the next call.
func (m *mirror) Show(ctx context.Context, findings []model.Finding) error {
	now := m.now().UTC()
	alerts := make(map[string]alert, len(findings))
	for i := range findings {
		if f := &findings[i]; !f.Muted() && f.Resolved.IsZero() {
			a := newAlert(f, m.url, now, now.Add(lifetime*m.every))
			alerts[a.id()] = a
		}
	}
	errs := make([]error, len(m.peers))
	var group sync.WaitGroup
	for i, p := range m.peers {
		group.Go(func() { errs[i] = p.show(ctx, alerts, now) })
	}
	group.Wait()
	return joined(errs)
}

// joined joins the errors of all peers. The result is permanent if all errors are, and partial if
// at least one peer succeeded.
func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	text := errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	switch {
	case slices.Contains(errs, nil):
		return notify.Partial(text)
	case slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, notify.ErrPermanent) }):
		return text
	}
	return notify.Permanent(text)
}

// A peer is one Alertmanager.
type peer struct {
	client *post.Client
	to     *url.URL
	header http.Header
	log    *slog.Logger

	mu sync.Mutex
	// shown are the alerts that may be active on the peer, by id.
	shown map[string]alert
}

// show sends all open alerts, and the end of the others. An ended alert is sent until a call
// succeeds or its lifetime is over.
func (p *peer) show(ctx context.Context, open map[string]alert, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	active := make(map[string]alert, len(open))
	for id, a := range p.shown {
		if a.EndsAt.After(now) {
			active[id] = a
		}
	}
	over := ended(active, open, now)
	for id, a := range open {
		active[id] = a
	}
	p.shown = active
	if err := p.push(ctx, append(sorted(open), over...)); err != nil {
		return err
	}
	p.shown = open
	return nil
}
