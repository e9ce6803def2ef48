// Package trigger lets other systems ask for a scan: it checks that a request is
// signed, and makes one scan of a burst of them. Of what a request says nothing
// is read: its signature is all that counts.
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

// MaxBody bounds the body of a request, in bytes. GitHub and GitLab send no
// more.
const MaxBody = 25 << 20

// Why a request is refused.
var (
	ErrUnknown  = errors.New("unknown trigger")
	ErrUnsigned = errors.New("not signed as it should be")
	ErrReplayed = errors.New("seen before")
	ErrTooLarge = fmt.Errorf("over %d MiB", MaxBody>>20)
	ErrBroken   = errors.New("broken off")
)

// A Trigger is one way to ask for a scan.
type Trigger struct {
	Name string
	// Type is one of Types.
	Type string
	// Secret returns what requests are signed with. It is called for each
	// request, so that a new secret counts at once.
	Secret func() (string, error)
	// Sources and Declarations are what is read then; without both, everything.
	Sources, Declarations []string
	// MinInterval is the least time between the beginnings of two scans.
	MinInterval time.Duration
}

// Types lists the ways to sign.
func Types() []string { return slices.Sorted(maps.Keys(schemes())) }

// Verify reads the body of a request and checks its signature. The signature
// comes back, the same for the same request; it is nil where requests only show
// the secret. An error wraps ErrUnsigned, ErrTooLarge or ErrBroken where the
// request is to blame. No error shows the secret or what was sent.
func (t *Trigger) Verify(header http.Header, body io.Reader, now time.Time) (signature []byte, err error) {
	scheme, ok := schemes()[t.Type]
	if !ok {
		return nil, fmt.Errorf("verify request: unknown type %q", t.Type)
	}
	secret, err := t.Secret()
	if err != nil {
		return nil, err
	}
	proof, err := scheme(secret, header, now)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(proof, io.LimitReader(body, MaxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	case n > MaxBody:
		return nil, ErrTooLarge
	}
	return proof.signature()
}

// A proof takes the body of a request, and tells whether one of the digests that
// came with it is right.
type proof struct {
	io.Writer
	// sum is that of what was written.
	sum  func() []byte
	sent [][]byte
}

func (p *proof) signature() ([]byte, error) {
	if p.sum == nil {
		return nil, nil
	}
	sum := p.sum()
	for _, sent := range p.sent {
		if hmac.Equal(sent, sum) {
			return sum, nil
		}
	}
	return nil, fmt.Errorf("%w: the signature does not fit the request", ErrUnsigned)
}
