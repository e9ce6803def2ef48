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

// A scheme is a signature type. It returns a verifier for the body of a request, or an error
// if the headers alone are invalid.
type scheme func(secret string, header http.Header, now time.Time) (*verifier, error)

// schemes returns the schemes by type. Their specifications:
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

// hexadecimal returns a scheme that sends the HMAC of the body in the named header, as hex.
func hexadecimal(name, prefix string, digest func() hash.Hash) scheme {
	return func(secret string, header http.Header, _ time.Time) (*verifier, error) {
		text, ok := strings.CutPrefix(header.Get(name), prefix)
		sent, err := hex.DecodeString(text)
		if !ok || err != nil || len(sent) == 0 {
			return nil, fmt.Errorf("%w: no signature in %s", ErrUnsigned, name)
		}
		mac := hmac.New(digest, []byte(secret))
		return &verifier{Writer: mac, sum: func() []byte { return mac.Sum(nil) }, sent: [][]byte{sent}}, nil
	}
}

// signingToken is the prefix of Standard Webhooks secrets.
const signingToken = "whsec_"

// gitlab is the scheme of GitLab. If the secret is a signing token (GitLab 19.0 and later),
// requests are signed by Standard Webhooks. Otherwise the secret itself is sent in a header.
func gitlab(secret string, header http.Header, now time.Time) (*verifier, error) {
	if strings.HasPrefix(secret, signingToken) {
		return standard(secret, header, now)
	}
	// Comparing digests keeps the duration independent of the length of the secret.
	want, got := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(header.Get("X-Gitlab-Token")))
	if !hmac.Equal(want[:], got[:]) {
		return nil, fmt.Errorf("%w: wrong or no token in X-Gitlab-Token", ErrUnsigned)
	}
	return &verifier{Writer: io.Discard}, nil
}

// tolerance is the largest accepted age of a request, and the largest clock difference
// between the two sides.
const tolerance = 5 * time.Minute

// standard is the scheme of Standard Webhooks: an HMAC of id, time and body. A request may
// contain several signatures, for example during a rotation of the secret.
func standard(secret string, header http.Header, now time.Time) (*verifier, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, signingToken))
	if err != nil || len(key) == 0 {
		return nil, errors.New("read secret: want whsec_ followed by base64")
	}
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if id == "" || err != nil {
		return nil, fmt.Errorf("%w: no webhook-id or webhook-timestamp", ErrUnsigned)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, fmt.Errorf("%w: webhook-timestamp is more than %v off: synchronize the clocks", ErrUnsigned, tolerance)
	}
	mac := hmac.New(sha256.New, key)
	p := &verifier{Writer: mac, sum: func() []byte { return mac.Sum(nil) }}
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
