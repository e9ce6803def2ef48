package proxmox

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/reach"
)

// newTransport returns what carries the requests: TLS by the authority or the
// fingerprint that the settings name, and no more connections than requests.
func newTransport(config Config) (*http.Transport, error) {
	trust, err := config.trust()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: config.Timeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    config.Timeout,
		MaxConnsPerHost:        maxRequests,
		MaxIdleConnsPerHost:    maxRequests,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: reach.MaxHeader,
	}, nil
}

// trust returns by what the server's certificate is believed.
func (c Config) trust() (*tls.Config, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case c.Fingerprint != "":
		// The certificate is compared as a whole: who signed it and for which
		// name says nothing more.
		trust.InsecureSkipVerify = true
		trust.VerifyConnection = c.compareFingerprint
	case c.CAFile != "":
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read ca_file: %s holds no certificate in PEM form: copy the cluster's /etc/pve/pve-root-ca.pem", c.CAFile)
		}
	}
	return trust, nil
}

// A fingerprintError is a server with another certificate than the settings
// name.
type fingerprintError struct{ got string }

func (e *fingerprintError) Error() string {
	return "the server's certificate has the fingerprint " + e.got
}

func (c Config) compareFingerprint(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server shows no certificate")
	}
	sum := sha256.Sum256(state.PeerCertificates[0].Raw)
	if got := hex.EncodeToString(sum[:]); got != c.Fingerprint {
		return &fingerprintError{colons(sum[:])}
	}
	return nil
}

// colons writes a fingerprint as Proxmox does.
func colons(sum []byte) string {
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}
