//go:build unix

package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock acquires a lock on file. It excludes other holders in this and other processes. unlock
// releases the lock.
func lock(ctx context.Context, file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock %s: still locked by another reader: %w", file, ctx.Err()), f.Close())
		}
	}
}
