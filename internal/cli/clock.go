package cli

import "golang.org/x/sys/unix"

// monotonicMicroseconds returns the monotonic clock's time, which systemd requires together
// with RELOADING=1 (sd_notify(3)).
func monotonicMicroseconds() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano() / 1000
}
