package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
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
