package webhook

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The scheme's own example:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
func TestSignatureOfTheScheme(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := readSigner(path)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	s.sign(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got, want := header.Get("Webhook-Signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}
