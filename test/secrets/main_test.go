//go:build e2e

package secrets

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// TestMain allows cores of any size to processes: driftd has to forbid them itself.
func TestMain(m *testing.M) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit)
	if err == nil {
		limit.Cur = limit.Max
		err = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "set the limit of cores:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
