package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestForbidCores has a process of its own forbid cores to itself, and to what it
// starts, for good.
func TestForbidCores(t *testing.T) {
	t.Parallel()
	if os.Getenv("DRIFTD_TEST_CORES") != "" {
		if err := forbidCores(); err != nil {
			t.Fatal(err)
		}
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil || limit != (syscall.Rlimit{}) {
			t.Fatalf("limit %+v, error %v", limit, err)
		}
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "ulimit -Hc").Output()
		if err != nil || strings.TrimSpace(string(out)) != "0" {
			t.Fatalf("a child may leave a core of %q blocks, error %v", out, err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestForbidCores$", "-test.v")
	cmd.Env = append(os.Environ(), "DRIFTD_TEST_CORES=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestForbidCores") {
		t.Errorf("%v: %s", err, out)
	}
}
