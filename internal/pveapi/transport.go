package pveapi

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
)

// newBase returns the transport of the requests.
func (a Access) newBase(limits httpclient.Limits) (*http.Transport, error) {
	// ca_file and fingerprint exclude each other. Without ca_file, the system's authorities are
	// trusted.
	trust, err := httpclient.Trust(a.CAFile)
	if err != nil {
		return nil, err
	}
	if a.Fingerprint != "" {
		// The fingerprint identifies the certificate: its issuer and names need no check.
		trust.InsecureSkipVerify = true
		trust.VerifyConnection = a.compareFingerprint
	}
	return httpclient.NewBase(trust, limits), nil
}

// A fingerprintError is a server certificate with another fingerprint than the configured one.
type fingerprintError struct{ got string }

func (e *fingerprintError) Error() string {
	return "the server's certificate has the fingerprint " + e.got
}

func (a Access) compareFingerprint(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server sent no certificate")
	}
	sum := sha256.Sum256(state.PeerCertificates[0].Raw)
	if got := hex.EncodeToString(sum[:]); got != a.Fingerprint {
		return &fingerprintError{colons(sum[:])}
	}
	return nil
}

// colons returns a fingerprint in the notation of Proxmox VE.
func colons(sum []byte) string {
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}
