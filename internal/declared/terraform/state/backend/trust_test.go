package backend_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// systemFile is the environment variable with the file of the system's authorities. A process reads
// that file once, so the test runs itself as a child process.
const systemFile = "SSL_CERT_FILE"

// TestCAFileReplacesSystem checks that ca_file replaces the system's authorities: a certificate of
// a system authority is then refused.
func TestCAFileReplacesSystem(t *testing.T) {
	t.Parallel()
	if os.Getenv("TRUST_TEST") == "" {
		_, authority := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "TRUST_TEST=1", systemFile+"="+authority, "SSL_CERT_DIR=/nowhere")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	s, authority := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) })
	for name, tc := range map[string]struct{ reason, caFile, want string }{
		"System": {"no file: the system's authorities are trusted", "", ""},
		"Named":  {"the authority that signed", authority, ""},
		"Other":  {"another authority: the system's are not trusted", otherAuthority(t), "set ca_file to the authority that signed the certificate"},
	} {
		settings := settings()
		settings.HTTP.CAFile = tc.caFile
		_, err := all(t.Context(), open(t, s.URL, settings))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s (%s): got %v", name, tc.reason, err)
		}
	}
}

// otherAuthority returns the file of an authority that did not sign the certificate.
func otherAuthority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
}
