// Package trigger starts scans at the request of other systems. It verifies the signature of each request,
// and combines a burst of requests into one scan. It uses only the name of the changed object in the body
// of a request, to read that object instead of a whole source.
package trigger

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// MaxBody is the maximum size of a request body, in bytes. GitHub and GitLab send no larger ones.
const MaxBody = 25 << 20

// The errors for refused requests.
var (
	ErrUnknown  = errors.New("unknown trigger")
	ErrUnsigned = errors.New("invalid signature")
	ErrReplayed = errors.New("request already accepted")
	ErrTooLarge = fmt.Errorf("body over %d MiB", MaxBody>>20)
	ErrBroken   = errors.New("read request body")
)

// A Trigger is a webhook endpoint that starts scans.
type Trigger struct {
	Name string
	// Type is one of Types.
	Type string
	// Secret returns the secret that signs requests. It is called for each request, so that a new secret
	// takes effect immediately.
	Secret func() (string, error)
	// Sources and Declarations are the names of those that a scan reads. If both are empty, it reads
	// everything.
	Sources, Declarations []string
	// MinInterval is the minimum time between the starts of two scans.
	MinInterval time.Duration
}

// Types returns the supported signature types, sorted.
func Types() []string { return slices.Sorted(maps.Keys(schemes())) }

// Verify reads the body of a request and verifies its signature. It returns the signature, which is equal
// for equal requests, or nil for a type whose requests contain the secret itself instead of a signature. If
// the request is the cause of an error, it wraps ErrUnsigned, ErrTooLarge or ErrBroken. Errors contain
// neither the secret nor any part of the request.
func (t *Trigger) Verify(header http.Header, body io.Reader, now time.Time) (signature []byte, err error) {
	scheme, ok := schemes()[t.Type]
	if !ok {
		return nil, fmt.Errorf("verify request: unknown type %q", t.Type)
	}
	secret, err := t.Secret()
	if err != nil {
		return nil, err
	}
	v, err := scheme(secret, header, now)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(v, io.LimitReader(body, MaxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	case n > MaxBody:
		return nil, ErrTooLarge
	}
	return v.signature()
}

// names reports whether the events of the trigger may name objects.
func (t *Trigger) names() bool { return t.Type == "netbox" && len(t.Sources) > 0 }

// A verifier computes the digest of a request whose body is written to it, and compares it
// with the digests that the headers contain.
type verifier struct {
	io.Writer
	// sum returns the digest of the bytes written so far; nil if nothing has to be compared.
	sum func() []byte
	// sent are the digests of the headers.
	sent [][]byte
}

// signature returns the digest if it equals one of those sent, else ErrUnsigned. It returns
// nil if there is nothing to compare.
func (v *verifier) signature() ([]byte, error) {
	if v.sum == nil {
		return nil, nil
	}
	sum := v.sum()
	for _, sent := range v.sent {
		if hmac.Equal(sent, sum) {
			return sum, nil
		}
	}
	return nil, fmt.Errorf("%w: the signature does not match the body", ErrUnsigned)
}
