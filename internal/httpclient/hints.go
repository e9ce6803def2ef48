package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Words contains the parts of hints that differ between kinds of servers.
type Words struct {
	// Server is the name of the server, such as "the API server".
	Server string
	// Address is the setting that contains the address, such as "url".
	Address string
	// Authority, Expired and Host are the next steps if the authority of the certificate is
	// unknown, if the certificate has expired, and if the certificate is for another host.
	Authority, Expired, Host string
}

// Hint returns the next step after a failure of the connection or of its certificate; "" for any
// other error.
func (w Words) Hint(err error) string {
	if hint := w.certificate(err); hint != "" {
		return hint
	}
	return w.network(err)
}

func (w Words) certificate(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		return w.Authority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the server's certificate is valid from %s to %s: %s",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339), w.Expired)
	case errors.As(err, &invalid):
		return "the server needs another certificate"
	case errors.As(err, &host):
		return w.Host
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS: use http:// or the right port"
	case errors.As(err, &alert):
		return "the server refuses the TLS handshake: check the client certificate"
	}
	return ""
}

func (w Words) network(err error) string {
	var (
		slow *Timeout
		name *net.DNSError
		dial *net.OpError
	)
	switch {
	case errors.As(err, &slow):
		return "see that the address and the firewalls on the way let driftd through, or raise timeout"
	case errors.As(err, &name):
		return "the name does not resolve: check " + w.Address + " and this machine's DNS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: see that " + w.Server + " runs and the port is right"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "see that the network has a way to this address"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection broke off: see what lies between driftd and " + w.Server
	}
	return ""
}
