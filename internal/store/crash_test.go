package store

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledWhileSaving repeatedly kills a process that saves in a loop, and verifies each time
// that every acknowledged save is complete.
func TestKilledWhileSaving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(2, 30))
	acknowledged := 0
	for range 30 {
		acknowledged = max(acknowledged, killOnce(t, saveForever, dir, random))
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("after a kill: %v", err)
		}
		checkNumbered(t, s, acknowledged)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		checkFile(t, Path(dir))
	}
	if acknowledged == 0 {
		t.Error("no save was ever acknowledged; the test tests nothing")
	}
}

// TestKilledWhileDelivering repeatedly kills a process that saves and delivers. It verifies each
// time that every acknowledged step is stored, and the following one completely or not at all.
func TestKilledWhileDelivering(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 4))
	done := 0
	seen := map[int]bool{}
	for range 40 {
		done = max(done, killOnce(t, deliverForever, dir, random))
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("after a kill: %v", err)
		}
		step, err := stepOf(s)
		if err != nil {
			t.Fatal(err)
		}
		if step < done || done > 0 && step > done+1 {
			t.Fatalf("done up to %d, the store is at %d", done, step)
		}
		done = step
		seen[step%steps] = true
		checkNumbered(t, s, done/steps)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		checkFile(t, Path(dir))
	}
	if done < 2*steps || len(seen) < 2 {
		t.Errorf("the kills hit too little: %d steps, %v", done, seen)
	}
}

// killOnce starts a process that saves, kills it after a random time, and returns the last number
// that it printed.
func killOnce(t *testing.T, job, dir string, random *rand.Rand) int {
	t.Helper()
	cmd := child(t, job, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last, patience := 0, random.IntN(4)
	// A timer instead of a sleep: the kill has to interrupt a save at a random point. Without a pause it comes between
	// the short steps after a save, also where saves are slow.
	pause := time.Duration(random.IntN(12_000)*random.IntN(2)) * time.Microsecond
	for patience > 0 && lines.Scan() {
		last = number(t, lines.Text())
		patience--
	}
	<-time.After(pause)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		last = number(t, lines.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the process ended by itself")
	}
	return last
}

func number(t *testing.T, line string) int {
	t.Helper()
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("the child printed %q", line)
	}
	return n
}

// checkNumbered verifies that the last record is complete and not older than the last acknowledged
// one.
func checkNumbered(t *testing.T, s *Store, acknowledged int) {
	t.Helper()
	run, err := s.LastRun()
	if err != nil {
		if acknowledged > 0 {
			t.Fatalf("run %d is lost: %v", acknowledged, err)
		}
		return
	}
	n := number(t, strings.TrimPrefix(run.ID, "run-"))
	if n < acknowledged {
		t.Errorf("run %d is lost, the last is %d", acknowledged, n)
	}
	open, err := s.OpenFindings()
	if err != nil || len(open) != 1 || open[0].Reason != strconv.Itoa(n) || !open[0].LastSeen.Equal(minute(n)) {
		t.Errorf("run %d: findings %v, %v", n, open, err)
	}
	changes, err := s.Changes("prod", minute(0), minute(n))
	if err != nil || len(changes) != numberedSize {
		t.Fatalf("run %d: got %d resources, %v", n, len(changes), err)
	}
	for i, c := range changes {
		if got, want := c.After.At("data").Str(), numberedValue(i, n); got != want {
			t.Fatalf("run %d, resource %d: got %q, want %q", n, i, got, want)
		}
	}
}

// TestFullDisk runs a process into a limit on the file size, which needs neither a small disk nor
// privileges.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := child(t, saveUntilFull, dir).Output()
	if err != nil {
		t.Fatalf("child: %v: %s", err, out)
	}
	saves := 0
	message := ""
	for line := range strings.Lines(string(bytes.TrimSpace(out))) {
		if full, ok := strings.CutPrefix(line, "full "); ok {
			message = full
			continue
		}
		saves = number(t, strings.TrimSpace(line))
	}
	if saves == 0 {
		t.Fatalf("nothing was saved before the disk was full: %s", out)
	}
	wantTexts(t, fmt.Errorf("%s", message), fmt.Sprintf("save run run-%d", saves+1), "too large", "nothing was saved", dir, "free disk space")
	s := openAt(t, dir, Options{})
	run, err := s.LastRun()
	if err != nil || run.ID != fmt.Sprintf("run-%d", saves) {
		t.Errorf("last run: got %q, %v; want run-%d", run.ID, err, saves)
	}
	save(t, s, scan(saves+1, nil, estate(500, saves+1)))
	if _, err := os.Stat(Path(dir)); err != nil {
		t.Error(err)
	}
}
