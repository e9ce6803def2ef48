package trigger

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A scheme is a way to sign: it returns what the body of a request must prove.
// What the headers alone get wrong is an error.
type scheme func(secret string, header http.Header, now time.Time) (*proof, error)

// schemes are by type. Where they are described:
//
//   - github: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
//   - gitlab: https://docs.gitlab.com/user/project/integrations/webhooks/
//   - gitea: https://docs.gitea.com/usage/webhooks, and services/webhook/deliver.go
//     of go-gitea/gitea
//   - forgejo: https://forgejo.org/docs/latest/user/webhooks
//   - netbox: https://netboxlabs.com/docs/netbox/integrations/webhooks/, and
//     netbox/extras/webhooks.py of netbox-community/netbox
//   - standard: https://github.com/standard-webhooks/standard-webhooks, spec
func schemes() map[string]scheme {
	return map[string]scheme{
		"github":   hexadecimal("X-Hub-Signature-256", "sha256=", sha256.New),
		"gitlab":   gitlab,
		"gitea":    hexadecimal("X-Gitea-Signature", "", sha256.New),
		"forgejo":  hexadecimal("X-Forgejo-Signature", "", sha256.New),
		"netbox":   hexadecimal("X-Hook-Signature", "", sha512.New),
		"standard": standard,
	}
}

// hexadecimal is an HMAC of the body, in one header.
func hexadecimal(name, prefix string, digest func() hash.Hash) scheme {
	return func(secret string, header http.Header, _ time.Time) (*proof, error) {
		text, ok := strings.CutPrefix(header.Get(name), prefix)
		sent, err := hex.DecodeString(text)
		if !ok || err != nil || len(sent) == 0 {
			return nil, fmt.Errorf("%w: no signature in %s", ErrUnsigned, name)
		}
		mac := hmac.New(digest, []byte(secret))
		return &proof{Writer: mac, sum: func() []byte { return mac.Sum(nil) }, sent: [][]byte{sent}}, nil
	}
}

// signingToken is what the secrets of Standard Webhooks begin with.
const signingToken = "whsec_"

// gitlab signs by Standard Webhooks where the secret is a signing token (from
// 19.0 on); a secret token it only shows.
func gitlab(secret string, header http.Header, now time.Time) (*proof, error) {
	if strings.HasPrefix(secret, signingToken) {
		return standard(secret, header, now)
	}
	// Digests are compared, so that the time tells nothing of the length.
	want, got := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(header.Get("X-Gitlab-Token")))
	if !hmac.Equal(want[:], got[:]) {
		return nil, fmt.Errorf("%w: wrong or no token in X-Gitlab-Token", ErrUnsigned)
	}
	return &proof{Writer: io.Discard}, nil
}

// tolerance is how far the clocks of both sides may be apart, with the time
// that a request is under way.
const tolerance = 5 * time.Minute

// standard is an HMAC of identity, time and body. There may be several, as while
// a secret is changed.
func standard(secret string, header http.Header, now time.Time) (*proof, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, signingToken))
	if err != nil || len(key) == 0 {
		return nil, errors.New("read secret: want whsec_ and base64 after it")
	}
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if id == "" || err != nil {
		return nil, fmt.Errorf("%w: no webhook-id or webhook-timestamp", ErrUnsigned)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, fmt.Errorf("%w: sent more than %v before or after now: compare the clocks", ErrUnsigned, tolerance)
	}
	mac := hmac.New(sha256.New, key)
	p := &proof{Writer: mac, sum: func() []byte { return mac.Sum(nil) }}
	for versioned := range strings.FieldsSeq(header.Get("webhook-signature")) {
		text, ok := strings.CutPrefix(versioned, "v1,")
		sent, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil {
			p.sent = append(p.sent, sent)
		}
	}
	if len(p.sent) == 0 {
		return nil, fmt.Errorf("%w: no signature in webhook-signature", ErrUnsigned)
	}
	_, err = io.WriteString(mac, id+"."+sentAt+".")
	return p, err
}
