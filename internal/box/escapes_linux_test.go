package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/driftd/driftd/internal/box"
)

// started returns the process IDs of the box and of a program that it starts.
func started() ([]int, error) {
	cmd := exec.Command("sleep", "1000")
	err := cmd.Start()
	if err != nil {
		return nil, err
	}
	return []int{os.Getpid(), cmd.Process.Pid}, nil
}

// TestProgramsEnd holds that what a box with a network started ends with it: the kernel
// sends it SIGTERM when its parent is gone.
func TestProgramsEnd(t *testing.T) {
	t.Parallel()
	b := opened(t, box.Limits{Network: true})
	var pids []int
	if err := b.Do(t.Context(), fstest.MapFS{}, "start", "", &pids); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pids[0], syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[1]))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it still runs: %s", state)
		}
	}
}

// TestSealed proves that every way out of a box fails. Other kernels seal nothing.
func TestSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := opened(t, box.Limits{})
	var found map[string]string
	if err := b.Do(t.Context(), fstest.MapFS{}, "escape", dir, &found); err != nil {
		t.Fatal(err)
	}
	for way, err := range found {
		if err == "" {
			t.Errorf("%s: no error", way)
		}
	}
	if _, err := os.Stat(dir + "/written"); err == nil {
		t.Error("a file was written")
	}
	if len(found) < 17 {
		t.Errorf("tried only %v", found)
	}
}

// escapesOfSystem tries the ways out that only this system has.
func escapesOfSystem(try func(way string, err error)) {
	try("trace the parent", syscall.PtraceAttach(os.Getppid()))
	_, err := unix.FcntlInt(0, syscall.F_SETOWN, os.Getppid())
	try("have a signal sent to the parent", err)
}
