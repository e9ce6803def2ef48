package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestShortCommand has a process of its own run a short command. It ends without a garbage
// collection, and with one if the environment asks for it.
func TestShortCommand(t *testing.T) {
	t.Parallel()
	if os.Getenv("DRIFTD_TEST_MAIN") != "" {
		os.Args = []string{"driftd", "version"}
		main()
	}
	for gogc, want := range map[string]bool{"": false, "10": true} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShortCommand$")
		cmd.Env = append(os.Environ(), "DRIFTD_TEST_MAIN=1", "GODEBUG=gctrace=1", "GOGC="+gogc)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "\ndriftd ") && !strings.HasPrefix(string(out), "driftd ") {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.Contains(string(out), "gc 1 @"); got != want {
			t.Errorf("GOGC=%s: collected: %v, want %v: %s", gogc, got, want, out)
		}
	}
}
