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

// receive takes a list of events from the webhook backend. What is refused tells
// no more than it must; the log does. What came before a list broke off is kept:
// the API server sends it again, and it is known then.
func (l *Log) receive(w http.ResponseWriter, r *http.Request) {
	if code, err := l.admits(r); err != nil {
		l.warn(r.Context(), "audit events refused", slog.Any("err", err))
		answer(w, code, `{"error":"the request does not show the token of this source","hint":"the log of driftd says more"}`)
		return
	}
	broken, err := DecodeList(r.Body, l.note)
	if broken > 0 {
		l.warn(r.Context(), "events of the audit webhook left out", slog.Int("broken", broken))
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, errLong):
		l.warn(r.Context(), "audit events refused", slog.Any("err", err))
		answer(w, http.StatusRequestEntityTooLarge, `{"error":"too many events at once","hint":"let the policy log metadata alone, or lower --audit-webhook-batch-max-size"}`)
	case err != nil:
		l.warn(r.Context(), "audit events refused", slog.Any("err", err))
		answer(w, http.StatusBadRequest, `{"error":"the request is no EventList of audit.k8s.io","hint":"send it again"}`)
	default:
		answer(w, http.StatusOK, `{"accepted":true}`)
	}
}

// Why a request is not let in.
var (
	errNoToken    = errors.New("no token: set it in the kubeconfig of --audit-webhook-config-file; API servers show it over https only")
	errWrongToken = errors.New("wrong token: compare the kubeconfig of --audit-webhook-config-file with audit_webhook.token_file")
)

// admits checks the token of a request: a bearer's, or a password, where
// whatever stands before the hook asks for one.
func (l *Log) admits(r *http.Request) (code int, err error) {
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
	// Digests are compared, so that the time tells nothing of the length.
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return http.StatusUnauthorized, errWrongToken
	}
	return 0, nil
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // who does not wait for the answer needs none
}
