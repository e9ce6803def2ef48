package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// maxSocketPath is the maximum length of a unix socket's path (unix(7)).
const maxSocketPath = 107

// listenUnix listens on a unix socket to which root, the daemon's user and its group may connect.
// It replaces a socket that a killed daemon left behind, and returns an error if another process
// listens on it.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: the path of a socket has at most %d bytes: choose a shorter state_dir", path, maxSocketPath)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on the socket: %w", err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(fmt.Errorf("restrict the socket: %w", err), listener.Close())
	}
	return listener, nil
}

// removeStale removes a socket without a listener.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check for an old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen on %s: the existing file is not a socket: move it away", path)
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("listen on %s: another driftd is listening: stop it, or choose another state_dir", path), conn.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connect to an old socket: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove an old socket: %w", err)
	}
	return nil
}

// peerKey is the context key of the *peer of a request's connection.
type peerKey struct{}

// A peer is the process at the other end of the socket.
type peer struct {
	uid, gid uint32
	groups   []uint32
	// started is set for a program that the daemon started, such as a provider of a Terraform plan,
	// and for one whose parents cannot be read.
	started bool
	// err is the error of reading the credentials.
	err error
}

// withPeer stores the peer of a connection in the context of its requests.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, peerOf(conn))
}

// onlyPeers rejects requests of users who may not use the socket.
func onlyPeers(next http.Handler, a API, self peer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(*peer)
		switch {
		case ok && p.err != nil:
			a.reply(w, r, nil, p.err)
		case !ok || !p.mayUse(self):
			a.reply(w, r, nil, &Error{Status: http.StatusForbidden, Message: "this user may not use the socket",
				Hint: "run this as root, as the daemon's user, or as a member of its group that can access the folder"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// mayUse reports whether a peer is root, the daemon's user or in its group, and was not started by
// the daemon itself. A plan runs as the daemon's user and must not decide on its findings.
func (p *peer) mayUse(self peer) bool {
	if p.started && p.uid == self.uid {
		return false
	}
	if p.uid == 0 || p.uid == self.uid || p.gid == self.gid {
		return true
	}
	for _, group := range p.groups {
		if group == self.gid {
			return true
		}
	}
	return false
}

// name returns the name of the peer's user.
func (p *peer) name() string {
	uid := strconv.FormatUint(uint64(p.uid), 10)
	if u, err := user.LookupId(uid); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + uid
}
