package launch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/launch"
)

// TestReadable checks that a sealed program cannot read private keys of the system, even if driftd
// runs as root, and that it can read what it needs to verify a server.
func TestReadable(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"/etc/ssl/certs/ca-certificates.crt":                true,
		"/etc/pki/tls/certs/ca-bundle.crt":                  true,
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": true,
		"/etc/ssl/ca-bundle.pem":                            true,
		"/etc/ssl/openssl.cnf":                              true,
		"/etc/ssh/ssh_known_hosts":                          true,
		"/etc/ssh/ssh_config.d/site.conf":                   true,
		"/etc/resolv.conf":                                  true,
		"/etc/ssl/private/ssl-cert-snakeoil.key":            false,
		"/etc/pki/tls/private/localhost.key":                false,
		"/etc/pki/entitlement/1-key.pem":                    false,
		"/etc/ssh/ssh_host_ed25519_key":                     false,
		"/etc/shadow":                                       false,
		"/etc/driftd/token":                                 false,
	} {
		got := slices.ContainsFunc(launch.Readable(), func(path string) bool { return file == path || strings.HasPrefix(file, path+"/") })
		if got != want {
			t.Errorf("%s: readable %t, want %t", file, got, want)
		}
	}
}
