package pveapi

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

// maxGuestBody is the size limit of an answer that comes from a guest, in bytes.
const maxGuestBody = 4 << 20

// A Session sends requests as one account. It is safe for concurrent use.
//
// A library builds the requests. This package sends and limits them and decodes the responses,
// because the library decodes whole numbers as floats, makes three attempts without regard to the
// context, and panics on unexpected data.
type Session struct {
	access Access
	lib    *pve.Session
	http   *httpclient.Client
}

// Connect opens a session: it reads the token, or logs in with the password. The caller must close
// the session.
func Connect(ctx context.Context, access Access, limits httpclient.Limits) (*Session, error) {
	base, err := access.newBase(limits)
	if err != nil {
		return nil, err
	}
	client := httpclient.New(base, limits, httpclient.API{Describe: describe})
	lib, err := pve.NewSession(access.URL+Path, client.HTTP(), "", nil)
	if err != nil {
		return nil, err
	}
	s := &Session{access: access, lib: lib, http: client}
	if err := s.authenticate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// describe takes the reason from the message of an unsuccessful answer, or from the status
// line if it has no body. The errors of single parameters follow.
func describe(status *httpclient.Status, _ http.Header, body model.Value) {
	message := []string{strings.TrimSpace(body.At("message").Str())}
	for _, f := range body.At("errors").Fields() {
		message = append(message, f.Name+": "+strings.TrimSpace(f.Value.Text()))
	}
	status.Message = cmp.Or(printable.Text(strings.TrimSpace(strings.Join(message, " "))), status.Line)
}

// Close closes idle connections.
func (s *Session) Close() { s.http.Close() }

// authenticate reads the token, or logs in. It reads the secret from its file each time, so that a
// renewed secret takes effect.
func (s *Session) authenticate(ctx context.Context) error {
	if s.access.TokenID != "" {
		secret, err := credential.Read(s.access.TokenFile)
		if err == nil {
			s.lib.AuthToken = s.access.TokenID + "=" + strings.TrimSpace(secret)
		}
		return err
	}
	password, err := credential.Read(s.access.PasswordFile)
	if err != nil {
		return err
	}
	form := url.Values{"username": {s.access.Username}, "password": {password}}
	data, err := s.send(ctx, s.http, http.MethodPost, "/access/ticket", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	s.lib.AuthTicket, s.lib.CsrfToken = data.At("ticket").Str(), data.At("CSRFPreventionToken").Str()
	switch {
	case !data.At("NeedTFA").IsEmpty():
		return &httpclient.Unexpected{Reason: "the user requires a second factor: use an API token (token_id)"}
	case s.lib.AuthTicket == "":
		return &httpclient.Unexpected{Reason: "the answer to the login has no ticket"}
	}
	return nil
}

// Get returns the field data of the response for a path below /api2/json. The path may contain a
// query.
func (s *Session) Get(ctx context.Context, path string) (model.Value, error) {
	return s.send(ctx, s.http, http.MethodGet, path, nil)
}

// GetOnce returns data as Get does, but is for data that a guest sends. It makes only one attempt,
// which ends after limit once the request is sent, and accepts at most maxGuestBody bytes.
func (s *Session) GetOnce(ctx context.Context, path string, limit time.Duration) (model.Value, error) {
	brief := s.http.With(func(l *httpclient.Limits) {
		l.Attempts, l.Timeout, l.MaxBody = 1, min(limit, l.Timeout), min(maxGuestBody, l.MaxBody)
	})
	return s.send(ctx, brief, http.MethodGet, path, nil)
}

// Write sends a form once and returns the field data of the response. If the error is not an
// *httpclient.Status, the request may have taken effect.
func (s *Session) Write(ctx context.Context, method, path string, form url.Values) (model.Value, error) {
	once := s.http.With(func(l *httpclient.Limits) { l.Attempts = 1 })
	return s.send(ctx, once, method, path, strings.NewReader(form.Encode()))
}

// send sends a request and returns the field data of its response, which may contain other fields.
func (s *Session) send(ctx context.Context, client *httpclient.Client, method, path string, form io.Reader) (model.Value, error) {
	header := http.Header{"Accept": {"application/json"}}
	if form != nil {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r, err := s.lib.NewRequest(ctx, method, s.access.URL+Path+path, &header, form)
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
