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

// systemFile names, in a test that runs itself, the file of the system's authorities: a
// process reads that once.
const systemFile = "SSL_CERT_FILE"

// ca_file names the authorities to trust instead of the system's: a certificate of
// another one is refused, although the system trusts it.
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
	for name, tc := range map[string]struct{ reason, caFile, says string }{
		"System": {"no file: the system's authorities count", "", ""},
		"Named":  {"the authority that signed", authority, ""},
		"Other":  {"another authority: the system's do not count", otherAuthority(t), "name the authority that signed it in ca_file"},
	} {
		settings := settings()
		settings.HTTP.CAFile = tc.caFile
		_, err := all(t.Context(), open(t, s.URL, settings))
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s (%s): got %v", name, tc.reason, err)
		}
	}
}

// otherAuthority returns the file of an authority that signed nothing.
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
