package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/bounded"
)

// maxAuthorities bounds a file of certificate authorities, in bytes. That of the web's has 250 KiB.
const maxAuthorities = 8 << 20

// Trust returns a TLS configuration. The authorities in a PEM file replace those of the
// system; without a file, those of the system count. The file is read once.
func Trust(caFile string) (*tls.Config, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return trust, nil
	}
	pem, err := bounded.ReadRegular(caFile, maxAuthorities)
	if err != nil {
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	trust.RootCAs = x509.NewCertPool()
	if !trust.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read ca_file: %s holds no certificate in PEM form: copy that of the authority", caFile)
	}
	return trust, nil
}

// MaxHeader bounds the header of an answer, in bytes: its fields take many times that.
const MaxHeader = 256 << 10

// NewBase returns a transport with as many connections to a server as requests may run at
// once.
func NewBase(trust *tls.Config, l Limits) *http.Transport {
	dialer := &net.Dialer{Timeout: l.Timeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    l.Timeout,
		MaxConnsPerHost:        l.Concurrency,
		MaxIdleConnsPerHost:    l.Concurrency,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: MaxHeader,
	}
}
