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

// Trust returns a TLS configuration that trusts only the certificate authorities in a PEM file, or
// those of the system if caFile is "". It reads the file once, and returns an error if the file
// cannot be read or contains no certificate.
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

// MaxHeader is the maximum size of a response header in bytes. The decoded fields occupy many times
// as much memory.
const MaxHeader = 256 << 10

// NewBase returns a transport that keeps as many idle connections to a server as requests may run
// concurrently.
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
