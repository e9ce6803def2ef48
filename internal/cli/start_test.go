package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// initialized returns the bytes that each package allocates in its initialization, in a process of this program
// with the variables of env.
func initialized(t *testing.T, env ...string) map[string]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), append(env, "GODEBUG=inittrace=1")...)
	var trace bytes.Buffer
	cmd.Stderr = &trace
	_ = cmd.Run() // A guard without a program fails.
	allocated := map[string]int{}
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var size int
		if _, err := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes", &name, &at, &took, &size); err == nil {
			allocated[name] = size
		}
	}
	return allocated
}

// TestGuardStartsEarly checks that a guard is not delayed by packages that it does not need. This program links
// nearly all that driftd does.
func TestGuardStartsEarly(t *testing.T) {
	t.Parallel()
	late := []string{"regexp", "net/http", "k8s.io/apimachinery/pkg/apis/meta/v1"}
	driftd, guard := initialized(t), initialized(t, "DRIFTD_LAUNCH={}")
	for _, name := range late {
		if _, found := driftd[name]; !found {
			t.Errorf("driftd does not initialize %s: choose another package for this test", name)
		}
		if _, found := guard[name]; found {
			t.Errorf("a guard waits for %s: docs/decisions/0089-guards-start-early.md", name)
		}
	}
	if _, found := guard["os"]; !found {
		t.Errorf("the guard initialized %v, want os among them", guard)
	}
}

// TestStartAllocatesLittle checks that driftd's own packages leave their work for its first use. Each page that the
// initialization allocates delays every start.
func TestStartAllocatesLittle(t *testing.T) {
	t.Parallel()
	sum := 0
	for name, size := range initialized(t) {
		if strings.HasPrefix(name, "github.com/driftd/driftd/") {
			sum += size
		}
	}
	if sum == 0 || sum > 256<<10 {
		t.Errorf("driftd's packages allocate %d KiB before main, want at most 256", sum>>10)
	}
}
