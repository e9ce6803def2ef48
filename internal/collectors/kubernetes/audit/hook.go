package audit

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// receive records the events of an EventList from the webhook backend. It logs the reason of a
// rejection; the response contains no details for unauthenticated senders. It keeps the events
// before the end of a truncated list, since the API server sends them again and the index ignores
// repeated events.
func (l *Log) receive(w http.ResponseWriter, r *http.Request) {
	if code, err := l.authenticate(r); err != nil {
		if code == http.StatusInternalServerError {
			l.gapInHook()
		}
		l.warn(r.Context(), "audit events rejected", slog.Any("err", err))
		answer(w, code, `{"error":"the request does not have the token of this source","hint":"see the reason in the log of driftd"}`)
		return
	}
	broken, err := DecodeList(r.Body, l.recordSent)
	if truncated := errors.Is(err, io.ErrUnexpectedEOF); broken > 0 || err != nil && !truncated {
		l.gapInHook()
	}
	if broken > 0 {
		l.warn(r.Context(), "events of the audit webhook skipped", slog.Int("broken", broken))
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, errLong):
		l.warn(r.Context(), "audit events rejected", slog.Any("err", err))
		answer(w, http.StatusRequestEntityTooLarge, `{"error":"the request is too large","hint":"set the audit policy to level Metadata, or lower --audit-webhook-batch-max-size"}`)
	case err != nil:
		l.warn(r.Context(), "audit events rejected", slog.Any("err", err))
		answer(w, http.StatusBadRequest, `{"error":"the request is not an EventList of audit.k8s.io","hint":"send it again"}`)
	default:
		answer(w, http.StatusOK, `{"accepted":true}`)
	}
}

// Errors of authenticate.
var (
	errNoToken    = errors.New("no token: set it in the kubeconfig of --audit-webhook-config-file; API servers send it over https only")
	errWrongToken = errors.New("wrong token: compare the kubeconfig of --audit-webhook-config-file with audit_webhook.token_file")
)

// authenticate checks the token of a request, which is a bearer token, or the password of basic
// authentication, since a reverse proxy in front of driftd may require that. It returns the status
// code and the reason of a rejection.
func (l *Log) authenticate(r *http.Request) (code int, err error) {
	want, err := l.Token()
	if err != nil {
		return http.StatusInternalServerError, err
	}
	_, got, ok := r.BasicAuth()
	if !ok {
		got, ok = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if !ok {
		return http.StatusUnauthorized, errNoToken
	}
	// Digests are compared, so that the duration does not depend on the length.
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return http.StatusUnauthorized, errWrongToken
	}
	return 0, nil
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the client may have closed the connection
}
