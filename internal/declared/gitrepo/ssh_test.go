package gitrepo_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// newKey returns an ssh key and its file.
func newKey(t testing.TB) (signer ssh.Signer, file string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err = ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "id")
	writeAll(t, map[string]string{file: string(pem.EncodeToMemory(block))})
	return signer, file
}

// serveSSH serves o to clients with the key user, and returns its address.
func serveSSH(t testing.TB, o origin, host ssh.Signer, user ssh.PublicKey) string {
	t.Helper()
	return serveSessions(t, func(channel io.ReadWriter) error { return serveSession(o, channel) }, host, user)
}

// serveSessions serves uploads to clients with the key user, and returns its address.
func serveSessions(t testing.TB, session func(io.ReadWriter) error, host ssh.Signer, user ssh.PublicKey) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != "git" || string(key.Marshal()) != string(user.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serveConn(session, conn, config) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	})
	return listener.Addr().String()
}

func serveConn(session func(io.ReadWriter) error, conn net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			isExec := r.Type == "exec" && strings.Contains(string(r.Payload), "git-upload-pack '/shop.git'")
			_ = r.Reply(isExec, nil)
			if isExec {
				status := uint32(0)
				if err := session(channel); err != nil {
					status = 128
				}
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
				break
			}
		}
		_ = channel.Close()
	}
}

func serveSession(o origin, channel io.ReadWriter) error {
	session, err := server.NewServer(o).NewUploadPackSession(&transport.Endpoint{}, nil)
	if err != nil {
		return err
	}
	if err := advertise(session, channel, false); err != nil {
		return err
	}
	if err := upload(context.Background(), session, channel, channel); err != nil {
		return err
	}
	// The client may still be sending its last message.
	_, err = io.Copy(io.Discard, channel)
	return err
}

func TestSSH(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit(map[string]string{"a.yaml": "1"})
	host, _ := newKey(t)
	user, userFile := newKey(t)
	other, otherFile := newKey(t)
	address := serveSSH(t, o, host, user.PublicKey())
	known, wrong := filepath.Join(t.TempDir(), "known"), filepath.Join(t.TempDir(), "wrong")
	writeAll(t, map[string]string{
		known: knownhosts.Line([]string{address}, host.PublicKey()) + "\n",
		wrong: knownhosts.Line([]string{address}, other.PublicKey()) + "\n",
	})
	cases := map[string]struct {
		reason     string
		key, hosts string
		wantErr    string
	}{
		"Known":   {"a known host and the right key", userFile, known, ""},
		"Wrong":   {"a host with a changed key", userFile, wrong, "knownhosts: key mismatch"},
		"Key":     {"a key that the server rejects", otherFile, known, "unable to authenticate"},
		"NoKey":   {"a malformed key", known, known, "not a private key without passphrase"},
		"NoFile":  {"a missing key", userFile + "-gone", known, "no such file"},
		"Device":  {"a device without an end as known_hosts file", userFile, "/dev/zero", "not a regular file; set known_hosts_file"},
		"NoHosts": {"a missing known_hosts file", userFile, known + "-gone", "set known_hosts_file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := readFile(t, gitrepo.Settings{
				URL: "ssh://git:hunter2@" + address + "/shop.git", SSHKeyFile: tc.key, KnownHostsFile: tc.hosts,
				CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
			}, "", "a.yaml")
			if tc.wantErr == "" && (err != nil || got != "1") {
				t.Errorf("%s: got %q, %v", tc.reason, got, err)
			}
			if tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
			}
		})
	}
}

// TestServerDoesNotRespond proves that Read returns at its deadline if the server does not
// respond.
func TestServerDoesNotRespond(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	host, key := newKey(t)
	known := filepath.Join(t.TempDir(), "known")
	writeAll(t, map[string]string{known: knownhosts.Line([]string{listener.Addr().String()}, host.PublicKey()) + "\n"})
	for _, protocol := range []string{"https", "ssh"} {
		r, err := gitrepo.New(gitrepo.Settings{
			URL: protocol + "://git@" + listener.Addr().String() + "/shop.git", SSHKeyFile: key, KnownHostsFile: known,
			CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err = r.Read(ctx, "", func(gitrepo.Commit) error { return nil })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the deadline's error", protocol, err)
		}
	}
}
