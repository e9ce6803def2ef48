// Package alertmanager shows open findings to Alertmanagers, as alerts of their
// API version 2.
package alertmanager

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
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

// Config is the settings of an alertmanager receiver.
type Config struct {
	// URLs are the Alertmanagers; each of them is shown everything. At least one
	// must be given.
	URLs []string `mapstructure:"urls"`
	// Username signs in, with the password.
	Username string `mapstructure:"username"`
	// PasswordFile holds the password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// TokenFile holds a bearer token, in place of user and password.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile holds the authorities that signed the servers' certificates; without
	// it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Every is how often all open findings are shown again. An alert that is
	// not ends after three times that.
	Every time.Duration `mapstructure:"every"`
	// Timeout bounds each request.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Definition makes alertmanager receivers.
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
		return notify.Receiver{}, errors.New("urls: name at least one Alertmanager")
	}
	for i, text := range config.URLs {
		to, err := post.Address(text)
		if err != nil {
			return notify.Receiver{}, fmt.Errorf("urls[%d]: the address %w", i, err)
		}
		m.peers = append(m.peers, &peer{client: client, to: to.JoinPath("api/v2/alerts"), header: header})
	}
	return notify.Receiver{Mirror: m}, nil
}

// header returns how driftd signs in.
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

// A mirror shows findings to all its peers.
type mirror struct {
	peers []*peer
	every time.Duration
	url   string
	now   func() time.Time
}

// lifetime is how many times Every an alert lives when driftd is silent: a
// restart does not resolve it, driftd's end does.
const lifetime = 3

// Every tells how often Show wants to be called.
func (m *mirror) Every() time.Duration { return m.every }

// Show makes an alert of each finding that people want to hear of, and ends
// those that were shown before and are none of them. All Alertmanagers are told
// at once, and what one misses it gets the next time.
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

// joined returns all errors as one, which is permanent only when no peer is
// left, and partial when some peer was told.
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

	mu sync.Mutex
	// shown are the alerts that it may believe to be open, by id.
	shown map[string]alert
}

// show sends what is open, and once what is over. What is over is forgotten
// when all has arrived, or when it has ended by itself.
func (p *peer) show(ctx context.Context, open map[string]alert, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	believed := make(map[string]alert, len(open))
	for id, a := range p.shown {
		if a.EndsAt.After(now) {
			believed[id] = a
		}
	}
	over := ended(believed, open, now)
	for id, a := range open {
		believed[id] = a
	}
	p.shown = believed
	if err := p.push(ctx, append(sorted(open), over...)); err != nil {
		return err
	}
	p.shown = open
	return nil
}
