package trigger_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/trigger"
)

// The examples that GitHub and Standard Webhooks publish.
const (
	hubSecret    = "It's a Secret to Everybody"
	hubBody      = "Hello, World!"
	hubSignature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

	standardSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	standardID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	standardAt        = "1614265330"
	standardBody      = `{"test": 2432232314}`
	standardSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

// Signatures computed with openssl.
const (
	pushBody      = `{"ref":"refs/heads/main"}`
	pushSignature = "d8f89f0618acd61fe621aa4e64078c0e2bca15d0b578b7f3eb734f55883c5320"
	hookBody      = `{"event":"updated"}`
	hookSignature = "15c3613bb66a9c0fb90204d665997331a73110060deba61bffd5327fab2b8dd556010518ad169ee218cdf63cee4334446df0a57f7e4bed308c2b7c365f745d7a"
)

func sentAt() time.Time { return time.Unix(1614265330, 0) }

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func standardHeader(id, at, signature string) http.Header {
	return header("Webhook-Id", id, "Webhook-Timestamp", at, "Webhook-Signature", signature)
}

func secret(text string) func() (string, error) {
	return func() (string, error) { return text, nil }
}

func TestVerify(t *testing.T) {
	t.Parallel()
	good := standardHeader(standardID, standardAt, standardSignature)
	tests := map[string]struct {
		reason      string
		typ, secret string
		header      http.Header
		body        string
		now         time.Time
		want        error
	}{
		"github":                 {"the published example", "github", hubSecret, header("X-Hub-Signature-256", hubSignature), hubBody, sentAt(), nil},
		"github, upper case":     {"hex is case-insensitive", "github", hubSecret, header("X-Hub-Signature-256", "sha256="+strings.ToUpper(hubSignature[7:])), hubBody, sentAt(), nil},
		"github, other body":     {"the body is signed", "github", hubSecret, header("X-Hub-Signature-256", hubSignature), hubBody + " ", sentAt(), trigger.ErrUnsigned},
		"github, other secret":   {"the secret is the key", "github", hubSecret + " ", header("X-Hub-Signature-256", hubSignature), hubBody, sentAt(), trigger.ErrUnsigned},
		"github, truncated":      {"a prefix of the signature is not accepted", "github", hubSecret, header("X-Hub-Signature-256", hubSignature[:9]), hubBody, sentAt(), trigger.ErrUnsigned},
		"github, empty":          {"an empty value is not accepted", "github", hubSecret, header("X-Hub-Signature-256", "sha256="), hubBody, sentAt(), trigger.ErrUnsigned},
		"github, without prefix": {"the prefix is required", "github", hubSecret, header("X-Hub-Signature-256", hubSignature[7:]), hubBody, sentAt(), trigger.ErrUnsigned},
		"github, SHA-1":          {"the SHA-1 header is ignored", "github", hubSecret, header("X-Hub-Signature", "sha1=0e2b5a2bb4b2bd2a2ef1d3e4bd94f5b6b2a3a8ab"), hubBody, sentAt(), trigger.ErrUnsigned},
		"github, no header":      {"an unsigned request", "github", hubSecret, nil, hubBody, sentAt(), trigger.ErrUnsigned},
		"github, two headers":    {"only the first header is read", "github", hubSecret, header("X-Hub-Signature-256", "sha256=00", "X-Hub-Signature-256", hubSignature), hubBody, sentAt(), trigger.ErrUnsigned},

		"gitea":                {"the header has no prefix", "gitea", "secret", header("X-Gitea-Signature", pushSignature), pushBody, sentAt(), nil},
		"gitea, wrong":         {"the signature must match", "gitea", "secret", header("X-Gitea-Signature", strings.Repeat("0", 64)), pushBody, sentAt(), trigger.ErrUnsigned},
		"gitea without secret": {"Gitea sends an empty header if it has no secret", "gitea", "secret", header("X-Gitea-Signature", ""), pushBody, sentAt(), trigger.ErrUnsigned},
		"forgejo":              {"the header of Forgejo", "forgejo", "secret", header("X-Forgejo-Signature", pushSignature), pushBody, sentAt(), nil},
		"forgejo, wrong":       {"the header of Gitea is ignored", "forgejo", "secret", header("X-Forgejo-Signature", strings.Repeat("0", 64), "X-Gitea-Signature", pushSignature), pushBody, sentAt(), trigger.ErrUnsigned},
		"netbox":               {"SHA-512", "netbox", "secret", header("X-Hook-Signature", hookSignature), hookBody, sentAt(), nil},
		"netbox, SHA-256":      {"a SHA-256 digest is not accepted", "netbox", "secret", header("X-Hook-Signature", pushSignature), pushBody, sentAt(), trigger.ErrUnsigned},

		"gitlab":                    {"the header contains the secret token", "gitlab", "secret", header("X-Gitlab-Token", "secret"), pushBody, sentAt(), nil},
		"gitlab, wrong":             {"another token is not accepted", "gitlab", "secret", header("X-Gitlab-Token", "secreT"), pushBody, sentAt(), trigger.ErrUnsigned},
		"gitlab, none":              {"an empty value is not accepted", "gitlab", "secret", nil, pushBody, sentAt(), trigger.ErrUnsigned},
		"gitlab, signing token":     {"from 19.0 on", "gitlab", standardSecret, good, standardBody, sentAt(), nil},
		"gitlab, signing token out": {"a signing token is never sent itself", "gitlab", standardSecret, header("X-Gitlab-Token", standardSecret), standardBody, sentAt(), trigger.ErrUnsigned},

		"standard":                 {"the published example", "standard", standardSecret, good, standardBody, sentAt(), nil},
		"standard, bare secret":    {"whsec_ is optional", "standard", standardSecret[6:], good, standardBody, sentAt(), nil},
		"standard, two signatures": {"a rotation of the secret", "standard", standardSecret, standardHeader(standardID, standardAt, "v1,AAAA v1a,xyz "+standardSignature), standardBody, sentAt(), nil},
		"standard, other version":  {"only v1 is supported", "standard", standardSecret, standardHeader(standardID, standardAt, "v2"+standardSignature[2:]), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, other id":       {"the id is signed", "standard", standardSecret, standardHeader("msg", standardAt, standardSignature), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, other time":     {"the time is signed", "standard", standardSecret, standardHeader(standardID, "1614265331", standardSignature), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, other body":     {"the body is part of the HMAC", "standard", standardSecret, good, "{}", sentAt(), trigger.ErrUnsigned},
		"standard, just in time":   {"five minutes old", "standard", standardSecret, good, standardBody, sentAt().Add(5 * time.Minute), nil},
		"standard, late":           {"a second over five minutes old", "standard", standardSecret, good, standardBody, sentAt().Add(5*time.Minute + time.Second), trigger.ErrUnsigned},
		"standard, early":          {"more than five minutes in the future", "standard", standardSecret, good, standardBody, sentAt().Add(-5*time.Minute - time.Second), trigger.ErrUnsigned},
		"standard, far off":        {"the smallest int64", "standard", standardSecret, standardHeader(standardID, "-9223372036854775808", standardSignature), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, no number":      {"the time must be a number of seconds", "standard", standardSecret, standardHeader(standardID, "now", standardSignature), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, no id":          {"the id is required", "standard", standardSecret, standardHeader("", standardAt, standardSignature), standardBody, sentAt(), trigger.ErrUnsigned},
		"standard, no signature":   {"an unsigned request", "standard", standardSecret, standardHeader(standardID, standardAt, ""), standardBody, sentAt(), trigger.ErrUnsigned},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := trigger.Trigger{Name: "push", Type: tt.typ, Secret: secret(tt.secret)}
			signature, err := tr.Verify(tt.header, iotest.OneByteReader(strings.NewReader(tt.body)), tt.now)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("%s: Verify() = %v, want %v", tt.reason, err, tt.want)
			}
			if err != nil && (signature != nil || strings.Contains(err.Error(), tt.secret)) {
				t.Errorf("%s: Verify() = %x, %v", tt.reason, signature, err)
			}
		})
	}
}

func TestSignatureIdentifiesTheRequest(t *testing.T) {
	t.Parallel()
	tr := trigger.Trigger{Type: "standard", Secret: secret(standardSecret)}
	verify := func(signature string) []byte {
		t.Helper()
		got, err := tr.Verify(standardHeader(standardID, standardAt, signature), strings.NewReader(standardBody), sentAt())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	once, again := verify(standardSignature), verify("v1,AAAA "+standardSignature)
	if len(once) != 32 || !bytes.Equal(once, again) {
		t.Errorf("signatures %x and %x of the same request differ", once, again)
	}
	shown := trigger.Trigger{Type: "gitlab", Secret: secret("token")}
	if got, err := shown.Verify(header("X-Gitlab-Token", "token"), strings.NewReader("{}"), sentAt()); got != nil || err != nil {
		t.Errorf("Verify() = %x, %v; want no signature for a secret token", got, err)
	}
}

// zeros is an endless body. Its value is the number of bytes read.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	*z += zeros(len(p))
	return len(p), nil
}

func TestVerifyIsBounded(t *testing.T) {
	t.Parallel()
	signed := header("X-Hub-Signature-256", hubSignature, "X-Gitlab-Token", hubSecret)
	for _, typ := range []string{"github", "gitlab"} {
		var body zeros
		tr := trigger.Trigger{Type: typ, Secret: secret(hubSecret)}
		if _, err := tr.Verify(signed, &body, sentAt()); !errors.Is(err, trigger.ErrTooLarge) || body > trigger.MaxBody+1<<20 {
			t.Errorf("%s: Verify() = %v after %d bytes", typ, err, body)
		}
		body = 0
		if _, err := tr.Verify(nil, &body, sentAt()); !errors.Is(err, trigger.ErrUnsigned) || body != 0 {
			t.Errorf("%s: Verify() of an unsigned request = %v after %d bytes", typ, err, body)
		}
	}
}

func TestVerifyFails(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	signed := header("X-Hub-Signature-256", hubSignature)
	tests := map[string]struct {
		reason  string
		trigger trigger.Trigger
		header  http.Header
		body    io.Reader
		want    string
	}{
		"no secret":   {"the secret cannot be read", trigger.Trigger{Type: "github", Secret: func() (string, error) { return "", away }}, signed, strings.NewReader(""), "away"},
		"broken body": {"the connection ends", trigger.Trigger{Type: "github", Secret: secret(hubSecret)}, signed, iotest.ErrReader(away), "read request body: away"},
		"type":        {"an unknown type", trigger.Trigger{Type: "svn", Secret: secret("x")}, signed, strings.NewReader(""), `verify request: unknown type "svn"`},
		"no base64": {"the secret is not base64", trigger.Trigger{Type: "standard", Secret: secret("hunter2!")},
			standardHeader(standardID, standardAt, standardSignature), strings.NewReader(""), "read secret: want whsec_ followed by base64"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.trigger.Verify(tt.header, tt.body, sentAt())
			if err == nil || err.Error() != tt.want || errors.Is(err, trigger.ErrUnsigned) {
				t.Errorf("%s: Verify() = %v, want %s", tt.reason, err, tt.want)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	want := []string{"forgejo", "gitea", "github", "gitlab", "netbox", "standard"}
	if diff := cmp.Diff(want, trigger.Types()); diff != "" {
		t.Errorf("Types() (-want +got):\n%s", diff)
	}
}

// FuzzVerify checks that only the request that was signed is accepted.
func FuzzVerify(f *testing.F) {
	f.Add(hubSignature, standardID, standardAt, standardSignature, hubBody)
	f.Add("sha256=", "", "1e3", "v1, v1 v1,====", "")
	f.Fuzz(func(t *testing.T, signature, id, at, versioned, body string) {
		h := standardHeader(id, at, versioned)
		for _, name := range []string{"X-Hub-Signature-256", "X-Gitea-Signature", "X-Forgejo-Signature", "X-Hook-Signature", "X-Gitlab-Token"} {
			h.Set(name, signature)
		}
		for _, typ := range trigger.Types() {
			tr := trigger.Trigger{Type: typ, Secret: secret(standardSecret)}
			if _, err := tr.Verify(h, strings.NewReader(body), sentAt()); err == nil && (id != standardID || body != standardBody) {
				t.Errorf("%s takes a forged request", typ)
			}
		}
	})
}
