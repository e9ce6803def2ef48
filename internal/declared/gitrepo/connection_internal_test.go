package gitrepo

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestCAFileReplacesSystem proves that the authorities of ca_file replace those of the system.
func TestCAFileReplacesSystem(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	only := x509.NewCertPool()
	only.AddCert(server.Certificate())
	for caFile, want := range map[string]*x509.CertPool{"": nil, file: only} {
		r, err := New(Settings{URL: "https://git.example.org/shop.git", CAFile: caFile})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.connect(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.web.TLSClientConfig.RootCAs; !got.Equal(want) {
			t.Errorf("ca_file %q: wrong authorities", caFile)
		}
	}
	if r, err := New(Settings{URL: "https://git.example.org/shop.git", CAFile: filepath.Dir(file)}); err == nil {
		if _, err := r.connect(nil); err == nil {
			t.Error("a ca_file that cannot be read was accepted")
		}
	}
}
