package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
)

// serve runs a server until the test ends, and returns its addresses.
func serve(t *testing.T, o Options) []net.Addr {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan []net.Addr, 1), make(chan error, 1)
	o.Ready = func(addrs []net.Addr) { ready <- addrs }
	go func() { done <- Serve(ctx, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve() = %v", err)
		}
	})
	select {
	case addrs := <-ready:
		return addrs
	case err := <-done:
		done <- nil
		t.Fatalf("Serve() = %v", err)
		return nil
	}
}

func options(t *testing.T) Options {
	t.Helper()
	o := Options{API: api(t), Pages: http.NotFoundHandler(), Socket: filepath.Join(t.TempDir(), "driftd.sock"), Log: quiet()}
	o.API.Gate = gate(t, access.Viewer)
	return o
}

func fetch(t *testing.T, c *http.Client, r *http.Request) (int, string) {
	t.Helper()
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, read(t, answer)
}

func request(t *testing.T, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSocket(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.API.Scanner = scanner(func(context.Context, []string) (model.Report, error) {
		return model.Report{Version: model.ReportVersion}, nil
	})
	if _, err := Dial(t.Context(), o.Socket); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("Dial() before = %v, want ErrNoDaemon", err)
	}
	t.Cleanup(func() { // runs after the server has stopped
		if _, err := os.Lstat(o.Socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	})
	serve(t, o)
	info, err := os.Stat(o.Socket)
	if err != nil || info.Mode() != os.ModeSocket|0o660 {
		t.Errorf("socket = %v, %v; want mode 0660", info.Mode(), err)
	}
	c, err := Dial(t.Context(), o.Socket)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := c.Report(t.Context(), Query{}); err != nil || len(report.Findings) != 2 {
		t.Errorf("Report() = %+v, %v", report, err)
	}
	if _, err := c.Scan(t.Context(), nil); err != nil {
		t.Errorf("Scan() = %v", err)
	}
	second := o
	if err := Serve(t.Context(), second); err == nil || !strings.Contains(err.Error(), "another driftd is listening") {
		t.Errorf("a second server = %v", err)
	}
	if _, err := c.Findings(t.Context(), Query{}); err != nil {
		t.Errorf("Status() after a second server tried = %v", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	o := options(t)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: o.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false) // as after kill -9
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), o.Socket); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("Dial() of a stale socket = %v, want ErrNoDaemon", err)
	}
	serve(t, o)
	if _, err := Dial(t.Context(), o.Socket); err != nil {
		t.Errorf("Dial() = %v", err)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := taken.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	file, web := filepath.Join(dir, "file"), filepath.Join(dir, "web.yml")
	for path, content := range map[string]string{file: "precious", web: "basic_auth_users: hunter2\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"no socket":  {reason: "what is no socket is not removed", options: Options{Socket: file}, want: "not a socket"},
		"long path":  {reason: "the kernel's own error says nothing", options: Options{Socket: filepath.Join(dir, strings.Repeat("x", 100))}, want: "choose a shorter state_dir"},
		"no folder":  {reason: "the folder comes first", options: Options{Socket: filepath.Join(dir, "absent", "s")}, want: "no such file"},
		"taken":      {reason: "the port belongs to another", options: Options{Listen: taken.Addr().String(), Socket: filepath.Join(dir, "s")}, want: "listen on " + taken.Addr().String() + ": bind: address already in use: free the address"},
		"web config": {reason: "its error shows no password", options: Options{Listen: "127.0.0.1:0", WebConfigFile: web}, want: "read web_config_file " + web},
		"no config":  {reason: "the file must be there", options: Options{Listen: "127.0.0.1:0", WebConfigFile: filepath.Join(dir, "absent.yml")}, want: "absent.yml"},
	}
	for name, tt := range tests {
		tt.options.Log = quiet()
		err := Serve(t.Context(), tt.options)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %s: Serve() = %v, want %q", name, tt.reason, err, tt.want)
		}
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "precious" {
		t.Errorf("the file is %q, %v", content, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "s")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind: %v", left, err)
	}
}

func TestTCP(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Listen = "127.0.0.1:0"
	addr := serve(t, o)[1].String()
	status, body := fetch(t, http.DefaultClient, request(t, http.MethodGet, "http://"+addr+"/api/v1/report"))
	if status != http.StatusOK || !strings.Contains(body, `"f00d01"`) {
		t.Errorf("report = %d %s", status, body)
	}
	if status, body := fetch(t, http.DefaultClient, request(t, http.MethodPost, "http://"+addr+"/api/v1/scan")); status != http.StatusForbidden {
		t.Errorf("scan = %d %s", status, body)
	}
	large := request(t, http.MethodGet, "http://"+addr+"/healthz")
	large.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
	if status, _ := fetch(t, http.DefaultClient, large); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a request of %d bytes = %d", 2*maxHeaderBytes, status)
	}
}

func TestListenOnAllAddresses(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(t)
	o.Listen, o.Log = ":0", slog.New(slog.NewTextHandler(&log, nil))
	addresses := serve(t, o)
	if !strings.Contains(log.String(), "no visitor can be authenticated at this address") {
		t.Errorf("log = %s", &log)
	}
	_, port, err := net.SplitHostPort(addresses[1].String())
	if err != nil {
		t.Fatal(err)
	}
	if status, body := fetch(t, http.DefaultClient, request(t, http.MethodGet, "http://127.0.0.1:"+port+"/api/v1/report")); status != http.StatusUnauthorized || strings.Contains(body, "f00d01") {
		t.Errorf("report at an address for everybody = %d %s", status, body)
	}
	if status, _ := fetch(t, http.DefaultClient, request(t, http.MethodGet, "http://127.0.0.1:"+port+"/healthz")); status != http.StatusOK {
		t.Errorf("health = %d", status)
	}
}

// hash is the bcrypt hash of "hunter2".
const hash = "$2a$04$u5W8vjpRpulqu4yJZCMVw.CWW/W4TjPxRMsexCD82No873k13qAgu"

func TestTLSAndPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := certificate(t, dir)
	config := filepath.Join(dir, "web.yml")
	text := "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {alice: " + hash + "}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{API: api(t), Pages: http.NotFoundHandler(), Listen: "127.0.0.1:0", WebConfigFile: config, Log: quiet()}
	var err error
	if o.API.Gate, err = access.New(access.Options{Vouched: Vouched(config), Now: now, Log: quiet()}); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, o)[0].String()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}

	r := request(t, http.MethodGet, "https://"+addr+"/api/v1/report")
	if status, body := fetch(t, c, r); status != http.StatusUnauthorized || strings.Contains(body, "f00d01") {
		t.Errorf("without a password = %d %s", status, body)
	}
	r.SetBasicAuth("alice", "wrong")
	if status, _ := fetch(t, c, r); status != http.StatusUnauthorized {
		t.Errorf("with a wrong password = %d", status)
	}
	r.SetBasicAuth("alice", "hunter2")
	if status, body := fetch(t, c, r); status != http.StatusOK || !strings.Contains(body, `"f00d01"`) {
		t.Errorf("with the password = %d %s", status, body)
	}
	if err := os.WriteFile(config, []byte(strings.Replace(text, "alice", "bob", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _ := fetch(t, c, r); status != http.StatusUnauthorized {
		t.Errorf("with the password of a user who was removed = %d", status)
	}
	if status, _ := fetch(t, http.DefaultClient, request(t, http.MethodGet, "http://"+addr+"/healthz")); status != http.StatusBadRequest {
		t.Errorf("without TLS = %d", status)
	}
}

// certificate writes a new certificate for 127.0.0.1 and its key into dir.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "driftd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool
}
