package httpclient_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

func TestHint(t *testing.T) {
	t.Parallel()
	w := httpclient.Words{Server: "the thing", Address: "url", Authority: "set ca_file", Expired: "renew it", Host: "use its name"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"authority": {x509.UnknownAuthorityError{}, "set ca_file"},
		"expired":   {x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{NotAfter: time.Unix(0, 0)}}, "1970-01-01T00:00:00Z: renew it"},
		"host":      {x509.HostnameError{}, "use its name"},
		"slow":      {&httpclient.Timeout{After: time.Second}, "raise timeout"},
		"name":      {&net.DNSError{}, "check url"},
		"refused":   {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "see that the thing runs"},
		"no way":    {&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, "a way to this address"},
		"broken":    {io.ErrUnexpectedEOF, "between driftd and the thing"},
		"another":   {errors.New("else"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := w.Hint(fmt.Errorf("get: %w", test.err))
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("hint %q, want one with %q", got, test.want)
			}
		})
	}
}

func TestErrorSaysWhereWhatAndNext(t *testing.T) {
	t.Parallel()
	err := &httpclient.Error{Server: "https://example.org", Err: io.EOF, Hint: "try again"}
	if err.Error() != "read https://example.org: EOF; try again" || !errors.Is(err, io.EOF) {
		t.Errorf("error %q", err)
	}
}
