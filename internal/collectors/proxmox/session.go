package proxmox

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	pve "github.com/Telmate/proxmox-api-go/proxmox"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// An api reads the API of Proxmox VE.
type api interface {
	// Get returns the data at a path below /api2/json, which may have a query. It is safe for
	// concurrent use.
	Get(ctx context.Context, path string) (model.Value, error)
	// GetOnce is Get for data that the guest itself sends. It makes one attempt, which takes no
	// longer than limit once it is sent, and accepts no more than maxGuestBody bytes.
	GetOnce(ctx context.Context, path string, limit time.Duration) (model.Value, error)
}

// maxGuestBody is the size limit of an answer that comes from a guest, in bytes.
const maxGuestBody = 4 << 20

const apiPath = "/api2/json"

// maxRequests is the largest number of simultaneous requests, for any number of nodes: one
// node's pveproxy serves all of them.
const maxRequests = 32

// A session sends the requests of one scan.
//
// The library builds the requests. This package sends them, limits them and decodes the
// answers, because the library decodes whole numbers as floats, makes three attempts without
// regard to the context, and panics on unexpected data.
type session struct {
	config Config
	lib    *pve.Session
	http   *httpclient.Client
}

// connect opens a session. The caller closes it.
func connect(ctx context.Context, config Config, backoff time.Duration) (*session, error) {
	limits := config.limits(backoff)
	base, err := newBase(config, limits)
	if err != nil {
		return nil, err
	}
	client := httpclient.New(base, limits, httpclient.API{Describe: describe})
	lib, err := pve.NewSession(config.URL+apiPath, client.HTTP(), "", nil)
	if err != nil {
		return nil, err
	}
	s := &session{config: config, lib: lib, http: client}
	if err := s.authenticate(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// describe takes the reason from the message of an unsuccessful answer, or from the status
// line if it has no body.
func describe(status *httpclient.Status, _ http.Header, body model.Value) {
	status.Message = cmp.Or(printable.Text(body.At("message").Str()), status.Line)
}

// close closes the connections.
func (s *session) close() { s.http.Close() }

// authenticate reads the token, or logs in. It reads the secret from its file each time, so
// that a renewed secret takes effect.
func (s *session) authenticate(ctx context.Context) error {
	if s.config.TokenID != "" {
		secret, err := credential.Read(s.config.TokenFile)
		if err == nil {
			s.lib.AuthToken = s.config.TokenID + "=" + strings.TrimSpace(secret)
		}
		return err
	}
	password, err := credential.Read(s.config.PasswordFile)
	if err != nil {
		return err
	}
	form := url.Values{"username": {s.config.Username}, "password": {password}}
	data, err := s.read(ctx, s.http, http.MethodPost, "/access/ticket", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	s.lib.AuthTicket = data.At("ticket").Str()
	switch {
	case !data.At("NeedTFA").IsEmpty():
		return &httpclient.Unexpected{Reason: "the user requires a second factor: use an API token (token_id)"}
	case s.lib.AuthTicket == "":
		return &httpclient.Unexpected{Reason: "the answer to the login has no ticket"}
	}
	return nil
}

// Get implements api.
func (s *session) Get(ctx context.Context, path string) (model.Value, error) {
	return s.read(ctx, s.http, http.MethodGet, path, nil)
}

// Ask implements api.
func (s *session) GetOnce(ctx context.Context, path string, limit time.Duration) (model.Value, error) {
	brief := s.http.With(func(l *httpclient.Limits) {
		l.Attempts, l.Timeout, l.MaxBody = 1, min(limit, l.Timeout), min(maxGuestBody, l.MaxBody)
	})
	return s.read(ctx, brief, http.MethodGet, path, nil)
}

// read sends a request and returns the data of its answer, which is {"data": …} and may also
// have totals and changes.
func (s *session) read(ctx context.Context, client *httpclient.Client, method, path string, form io.Reader) (model.Value, error) {
	header := http.Header{"Accept": {"application/json"}}
	if form != nil {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r, err := s.lib.NewRequest(ctx, method, s.config.URL+apiPath+path, &header, form)
	if err != nil {
		return model.Value{}, err
	}
	answer, _, err := client.JSON(r)
	if err != nil {
		return model.Value{}, err
	}
	data, ok := answer.Get("data")
	if !ok {
		return model.Value{}, &httpclient.Unexpected{Reason: "the answer has no data"}
	}
	return data, nil
}
