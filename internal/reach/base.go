package reach

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Trust returns by whose word a server's certificate is believed: that of the
// authorities in a file of PEM, or the system's where it names none. It reads the
// file once.
func Trust(caFile string) (*tls.Config, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return trust, nil
	}
	pem, err := os.ReadFile(caFile)
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

// NewBase returns what carries requests by the trust that is given, with no more
// connections to a server than requests.
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
