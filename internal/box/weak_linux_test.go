package box_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"

	"github.com/driftd/driftd/internal/box"
)

// weakVerb makes the test program a parent of boxes on a kernel that seals nothing.
const weakVerb = "weak"

// weaken forbids the calls that seal a process, as an old kernel or the filter of a
// container would. The filter passes to the boxes.
func weaken() error {
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{
				"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp",
			}},
			{Action: seccomp.ActionErrno | seccomp.Action(unix.EINVAL), NamesWithCondtions: []seccomp.NameWithConditions{
				{Name: "prctl", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: unix.PR_SET_SECCOMP}}},
			}},
		},
	}})
}

// runWeak prints what a box holds to and what a job in it returns.
func runWeak() error {
	if err := weaken(); err != nil {
		return err
	}
	p := box.NewPool()
	report, err := p.Probe()
	if err != nil {
		return err
	}
	b := p.Open(box.Limits{Memory: limit, File: 1 << 20})
	var got string
	if err := b.Do(context.Background(), fstest.MapFS{}, "echo", "works", &got); err != nil {
		return err
	}
	fmt.Println(report, got)
	return b.Close()
}

// TestWeakKernel tests that a kernel without the seals runs boxes, and that the report has
// the missing ones.
func TestWeakKernel(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), os.Args[0], weakVerb).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"weak: no landlock (", ", no seccomp (", "; has memory limit works\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("report %s, want %q", out, want)
		}
	}
}
