package kubernetes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// A pair is a certificate with its key, as PEM.
type pair struct{ cert, key []byte }

// certify returns a self-signed certificate for 127.0.0.1.
func certify(t *testing.T, from, to time.Time) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}
}

// serveTLS serves the handler with the certificate.
func serveTLS(t *testing.T, p pair, handler http.Handler) *httptest.Server {
	t.Helper()
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// writeKubeconfig writes a kubeconfig for one server with the YAML fields of its user, and
// returns its path.
func writeKubeconfig(t *testing.T, server string, ca []byte, user string) string {
	t.Helper()
	cluster := fmt.Sprintf("server: %q", server)
	if ca != nil {
		cluster += ", certificate-authority-data: " + base64.StdEncoding.EncodeToString(ca)
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: main
clusters: [{name: c, cluster: {%s}}]
users: [{name: u, user: {%s}}]
contexts: [{name: main, context: {cluster: c, user: u}}]
`, cluster, user)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func openCluster(t *testing.T, config Config) *cluster {
	t.Helper()
	c, err := open(testEnv(t), config)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*cluster)
}

const secretToken = "s3cr3t-t0k3n"

// unauthorized returns an API server that rejects all credentials.
func unauthorized() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, 401, "Unauthorized") })
}

func TestAccessErrors(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good := certify(t, now.Add(-time.Hour), now.Add(time.Hour))
	expired := certify(t, now.Add(-48*time.Hour), now.Add(-24*time.Hour))
	clientCert := fmt.Sprintf("client-certificate-data: %s, client-key-data: %s",
		base64.StdEncoding.EncodeToString(expired.cert), base64.StdEncoding.EncodeToString(expired.key))
	token := "token: " + secretToken
	closed := httptest.NewServer(nil)
	closed.Close()
	plain := httptest.NewServer(newFake())
	t.Cleanup(plain.Close)
	tests := map[string]struct {
		reason string
		config func(*testing.T) Config
		want   []string
	}{
		"token rejected": {
			reason: "the error does not contain the token",
			config: func(t *testing.T) Config {
				return Config{Kubeconfig: writeKubeconfig(t, serveTLS(t, good, unauthorized()).URL, good.cert, token)}
			},
			want: []string{"https://127.0.0.1:", "401 Unauthorized", "renew the token or certificate"},
		},
		"client certificate expired": {
			reason: "an API server answers it with 401 without details",
			config: func(t *testing.T) Config {
				return Config{Kubeconfig: writeKubeconfig(t, serveTLS(t, good, unauthorized()).URL, good.cert, clientCert)}
			},
			want: []string{"the client certificate expired on " + now.Add(-24*time.Hour).UTC().Format("2006-01-02")},
		},
		"server certificate expired": {
			reason: "the hint concerns the server's certificate",
			config: func(t *testing.T) Config {
				return Config{Kubeconfig: writeKubeconfig(t, serveTLS(t, expired, newFake()).URL, expired.cert, token)}
			},
			want: []string{"the server's certificate is valid from", "renew it, or set this machine's clock"},
		},
		"unknown authority": {
			reason: "ca_file is missing",
			config: func(t *testing.T) Config { return Config{Server: serveTLS(t, good, newFake()).URL} },
			want:   []string{"unknown authority", "ca_file"},
		},
		"connection refused": {
			reason: "no process listens on the port",
			config: func(*testing.T) Config { return Config{Server: closed.URL} },
			want:   []string{closed.URL, "connection refused", "nothing listens there"},
		},
		"http for https": {
			reason: "the server requires TLS",
			config: func(t *testing.T) Config {
				return Config{Server: strings.Replace(serveTLS(t, good, newFake()).URL, "https", "http", 1)}
			},
			want: []string{"400 Bad Request", "use https://"},
		},
		"https for http": {
			reason: "the server does not support TLS",
			config: func(*testing.T) Config { return Config{Server: strings.Replace(plain.URL, "http", "https", 1)} },
			want:   []string{"server gave HTTP response to HTTPS client", "use http://"},
		},
		"no kubeconfig": {
			reason: "the error has the path",
			config: func(*testing.T) Config { return Config{Kubeconfig: "/nonexistent/kubeconfig"} },
			want:   []string{"/nonexistent/kubeconfig", "correct the path"},
		},
		"no such context": {
			reason: "the error has the context",
			config: func(t *testing.T) Config {
				return Config{Kubeconfig: writeKubeconfig(t, plain.URL, nil, token), Context: "other"}
			},
			want: []string{"context other of ", "kubectl config get-contexts"},
		},
		"broken kubeconfig": {
			reason: "the error does not quote the file",
			config: func(t *testing.T) Config {
				file := filepath.Join(t.TempDir(), "kubeconfig")
				if err := os.WriteFile(file, []byte("users: [{name: u, user: {token: [s3cr3t-t0k3n]}}]\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return Config{Kubeconfig: file}
			},
			want: []string{"kubeconfig"},
		},
		"no credential plugin": {
			reason: "the error of client-go has several lines",
			config: func(t *testing.T) Config {
				plugin := `exec: {apiVersion: client.authentication.k8s.io/v1, command: driftd-no-such-plugin, installHint: "line 1\\nline 2", interactiveMode: Never}`
				return Config{Kubeconfig: writeKubeconfig(t, serveTLS(t, good, newFake()).URL, good.cert, plugin)}
			},
			want: []string{"driftd-no-such-plugin", "credential plugin failed"},
		},
		"not in a cluster": {
			reason: "in_cluster requires a pod",
			config: func(*testing.T) Config { return Config{InCluster: true} },
			want:   []string{"the cluster that driftd runs in", "driftd does not run in a pod"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Defaults()
			own := tt.config(t)
			config.Kubeconfig, config.Context, config.Server, config.InCluster = own.Kubeconfig, own.Context, own.Server, own.InCluster
			_, err := openCluster(t, config).Collect(t.Context())
			var access *httpclient.Error
			if !errors.As(err, &access) {
				t.Fatalf("%s: Collect() = %v", tt.reason, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q lacks %q", tt.reason, err, want)
				}
			}
			if strings.Contains(err.Error(), secretToken) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q contains a secret or a line feed", tt.reason, err)
			}
		})
	}
}

func TestConnectSendsCredentials(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := certify(t, now.Add(-time.Hour), now.Add(time.Hour))
	f := newFake()
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer "+secretToken && r.UserAgent() == "driftd" {
			return false
		}
		refuse(w, 401, "Unauthorized")
		return true
	}
	server := serveTLS(t, p, f)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca"), filepath.Join(dir, "token")
	if err := errors.Join(os.WriteFile(ca, p.cert, 0o600), os.WriteFile(token, []byte(secretToken+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		config Config
	}{
		"kubeconfig": {reason: "the kubeconfig has a token", config: Config{Kubeconfig: writeKubeconfig(t, server.URL, p.cert, "token: "+secretToken)}},
		"context":    {reason: "the settings select a context", config: Config{Kubeconfig: writeKubeconfig(t, server.URL, p.cert, "token: "+secretToken), Context: "main"}},
		"files":      {reason: "the settings have no kubeconfig", config: Config{Server: server.URL, CAFile: ca, TokenFile: token}},
		"prefix":     {reason: "the address has a path", config: Config{Server: server.URL + "/", CAFile: ca, TokenFile: token}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Defaults()
			config.Kubeconfig, config.Context = tt.config.Kubeconfig, tt.config.Context
			config.Server, config.CAFile, config.TokenFile = tt.config.Server, tt.config.CAFile, tt.config.TokenFile
			s, err := openCluster(t, config).Collect(t.Context())
			if err != nil || len(s.Resources) != 7 {
				t.Errorf("%s: Collect() = %v, %v", tt.reason, keys(s), err)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a request followed the redirect: %s", r.URL)
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	config := Defaults()
	config.Kubeconfig = writeKubeconfig(t, server.URL, nil, "token: "+secretToken)
	_, err := openCluster(t, config).Collect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the address redirects") {
		t.Errorf("Collect() = %v", err)
	}
}
