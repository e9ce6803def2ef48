//go:build e2e

package systemd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/test/process"
)

// Bounds of a wait, of a boot, and of one command in the machine.
const (
	patience    = 60 * time.Second
	bootTimeout = 90 * time.Second
	runTimeout  = 3 * time.Minute
	step        = 100 * time.Millisecond
)

// A machine is a Debian container that systemd has booted, with a network of its own without
// other hosts.
type machine struct {
	// t is the test that uses it now, owner the one at whose end it is stopped.
	t, owner *testing.T
	root     string
	nspawn   *process.Process
	// leader is the process with ID 1 in the container.
	leader int
}

// newMachine copies a Debian without booting it.
func newMachine(t *testing.T) *machine {
	t.Helper()
	debian := strings.TrimSpace(output(t, "", "sh", "../../tools/debian.sh"))
	m := &machine{t: t, owner: t, root: filepath.Join(t.TempDir(), "root")}
	output(t, "", "cp", "-a", "--reflink=auto", debian, m.root)
	return m
}

// boot starts the machine and waits until its services run.
func (m *machine) boot() {
	m.t.Helper()
	nspawn, err := process.Start(process.Options{
		Program: "systemd-nspawn",
		Args: []string{"--boot", "--directory", m.root, "--machine", "driftd-test", "--hostname", "driftd-test",
			"--register=no", "--keep-unit", "--private-network", "--resolv-conf=off", "--timezone=off", "--quiet",
			// A real machine has these system calls; systemd-nspawn forbids unknown ones.
			"--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self"},
		Env: append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1"),
		Log: filepath.Join(m.owner.TempDir(), "console"),
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.nspawn = nspawn
	m.owner.Cleanup(m.shutDown)
	m.await("a booted machine", bootTimeout, func() (string, bool) {
		if nspawn.Exited() {
			m.t.Fatalf("systemd-nspawn ended: %s", nspawn.Log())
		}
		if m.leader, err = m.findLeader(); err != nil {
			return err.Error(), false
		}
		// "degraded" is up, too: tests check failed units themselves.
		state, _ := m.try("systemctl", "is-system-running")
		return state, state == "running" || state == "degraded"
	})
}

// findLeader returns the only child of systemd-nspawn.
func (m *machine) findLeader() (int, error) {
	pid := m.nspawn.PID()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(children), " ")
	return strconv.Atoi(first)
}

// shutDown shuts the machine down, like its power button.
func (m *machine) shutDown() {
	if m.nspawn == nil {
		return
	}
	if m.owner.Failed() {
		journal, _ := m.try("journalctl", "--no-pager", "-n", "60", "-o", "short-precise")
		m.t.Logf("the end of the machine's journal:\n%s", journal)
	}
	if err := m.nspawn.Stop(); err != nil {
		m.t.Error(err)
	}
	m.nspawn = nil
}

// reboot turns the machine off and on again.
func (m *machine) reboot() {
	m.t.Helper()
	m.shutDown()
	m.boot()
}

// try runs a command in the machine, as root, and returns its output.
func (m *machine) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	args = append([]string{"--target", strconv.Itoa(m.leader), "--all", "env", "-i",
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"}, args...)
	out, err := exec.CommandContext(ctx, "nsenter", args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run is try for a command that must succeed.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("%s: %v:\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// fails is try for a command that must not succeed.
func (m *machine) fails(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err == nil {
		m.t.Fatalf("%s succeeded, and should not have:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// write creates a file in the machine, and its folders.
func (m *machine) write(path, text string, mode os.FileMode) {
	m.t.Helper()
	path = filepath.Join(m.root, path)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode))
	if err != nil {
		m.t.Fatal(err)
	}
}

// copyIn copies a file into the machine's root folder.
func (m *machine) copyIn(file string) string {
	m.t.Helper()
	output(m.t, "", "cp", file, filepath.Join(m.root, "root"))
	return "/root/" + filepath.Base(file)
}

// await calls a function until it returns true.
func (m *machine) await(what string, patience time.Duration, there func() (said string, ok bool)) {
	m.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		said, ok := there()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("waited %s for %s; last: %s", patience, what, said)
		}
		time.Sleep(step)
	}
}

// property returns a property of the service from systemd.
func (m *machine) property(name string) string {
	m.t.Helper()
	return m.run("systemctl", "show", "driftd.service", "--value", "--property", name)
}

// awaitState waits until the service has a state.
func (m *machine) awaitState(want string) {
	m.t.Helper()
	m.await("a service that is "+want, patience, func() (string, bool) {
		state, _ := m.try("systemctl", "is-active", "driftd.service")
		return state, state == want
	})
}

// awaitStatus waits until `driftd status` contains a text.
func (m *machine) awaitStatus(want string) {
	m.t.Helper()
	m.await("driftd status with "+strconv.Quote(want), patience, func() (string, bool) {
		said, err := m.try("driftd", "status")
		return said, err == nil && strings.Contains(said, want)
	})
}

// journal returns the output of the service since a cursor of mark.
func (m *machine) journal(since string) string {
	m.t.Helper()
	return m.run("journalctl", "--no-pager", "--unit", "driftd.service", "--after-cursor", since, "--output", "cat")
}

// mark returns the present cursor of the journal.
func (m *machine) mark() string {
	m.t.Helper()
	out := m.run("journalctl", "--no-pager", "--lines", "0", "--show-cursor")
	_, cursor, found := strings.Cut(out, "-- cursor: ")
	if !found {
		m.t.Fatalf("the journal has no cursor: %s", out)
	}
	return cursor
}

// awaitJournal waits until the service has written a text since a mark.
func (m *machine) awaitJournal(since, want string) {
	m.t.Helper()
	m.await("a journal with "+strconv.Quote(want), patience, func() (string, bool) {
		said := m.journal(since)
		return said, strings.Contains(said, want)
	})
}

// output runs a program on this host, in a folder, and returns its output.
func output(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v:\n%s%s", program, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}
