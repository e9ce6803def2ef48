// Package webhook posts messages as CloudEvents, signed according to Standard Webhooks.
// docs/webhook.md describes both formats.
package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

// Config configures a webhook receiver. Exactly one of URL and URLFile must be set.
type Config struct {
	// Address to which messages are posted.
	URL string `mapstructure:"url"`
	// File with the address, if the address is secret.
	URLFile string `mapstructure:"url_file" path:"true"`
	// File with the keys that sign messages, one per line. Each key adds a signature. If it is
	// not set, messages are not signed.
	SecretFile string `mapstructure:"secret_file" path:"true"`
	// File with additional HTTP headers, one "Name: value" per line.
	HeadersFile string `mapstructure:"headers_file" path:"true"`
	// File with the CA certificates to trust. If it is not set, the system's are trusted.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Maximum duration of a delivery.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Definition returns the definition of the receiver type "webhook".
func Definition() notify.Definition {
	return notify.Define("webhook", Config{Timeout: 10 * time.Second}, open)
}

func open(env notify.Env, config Config) (notify.Receiver, error) {
	client, err := post.New(post.Options{Server: "the webhook", Timeout: config.Timeout, CAFile: config.CAFile, Now: env.Now})
	if err != nil {
		return notify.Receiver{}, err
	}
	h := &hook{client: client, now: env.Now, source: "/driftd"}
	if env.URL != "" {
		h.source = env.URL
	}
	if h.to, err = config.address(); err != nil {
		return notify.Receiver{}, err
	}
	if h.signer, err = readSigner(config.SecretFile); err != nil {
		return notify.Receiver{}, err
	}
	if h.header, err = readHeaders(config.HeadersFile); err != nil {
		return notify.Receiver{}, err
	}
	h.header.Set("User-Agent", "driftd/"+env.Version)
	return notify.Receiver{Notifier: h}, nil
}

// address returns the address of the receiver. The error does not contain it.
func (c Config) address() (*url.URL, error) {
	if (c.URL == "") == (c.URLFile == "") {
		return nil, errors.New("set either url or url_file")
	}
	setting, text := "url", c.URL
	if c.URLFile != "" {
		var err error
		if text, err = credential.Read(c.URLFile); err != nil {
			return nil, fmt.Errorf("url_file: %w", err)
		}
		setting = "url_file"
	}
	to, err := post.Address(text)
	if err != nil {
		return nil, fmt.Errorf("%s: the address %w", setting, err)
	}
	return to, nil
}

// A hook posts events to one address.
type hook struct {
	client *post.Client
	to     *url.URL
	source string
	header http.Header
	signer signer
	now    func() time.Time
}

// An event is a message in the JSON format of CloudEvents 1.0.
type event struct {
	SpecVersion     string        `json:"specversion"`
	ID              string        `json:"id"`
	Source          string        `json:"source"`
	Type            string        `json:"type"`
	Subject         string        `json:"subject,omitempty"`
	Time            time.Time     `json:"time,omitzero"`
	DataContentType string        `json:"datacontenttype"`
	Data            model.Message `json:"data"`
}

// typePrefix is the prefix of an event's type. The kind of the message follows.
const typePrefix = "io.github.driftd.findings."

// Notify posts one message. A repeated delivery has the same id.
func (h *hook) Notify(ctx context.Context, entry model.OutboxEntry) (string, error) {
	m := entry.Message
	body, err := json.Marshal(event{SpecVersion: "1.0", ID: m.Key, Source: h.source, Type: typePrefix + string(m.Kind),
		Subject: m.Thread, Time: m.At.UTC(), DataContentType: "application/json", Data: m})
	if err != nil {
		return "", notify.Refused(fmt.Errorf("write message as JSON: %w", err))
	}
	header := h.header.Clone()
	header.Set("Content-Type", "application/cloudevents+json; charset=UTF-8")
	h.signer.sign(header, m.Key, h.now(), body)
	return "", h.client.Send(ctx, h.to, header, body)
}
