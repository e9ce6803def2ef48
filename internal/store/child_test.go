package store

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

const (
	childJob = "DRIFTD_STORE_TEST_JOB"
	childDir = "DRIFTD_STORE_TEST_DIR"
	// saveForever saves and says so, until it is killed.
	saveForever = "save"
	// saveUntilFull saves until no file may grow any more.
	saveUntilFull = "full"
	// makeKeyOnce asks for the sealer and says what it makes of a word.
	makeKeyOnce = "key"
)

func child(tb testing.TB, job, dir string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childJob+"="+job, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func runChild(job, dir string) int {
	var err error
	switch job {
	case saveForever:
		err = saveOn(dir)
	case saveUntilFull:
		err = fill(dir)
	case makeKeyOnce:
		var sealer model.Sealer
		if sealer, err = Sealer(dir); err == nil {
			fmt.Println(sealer.Seal("word").Text())
		}
	}
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// saveOn goes on where the last process was killed.
func saveOn(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	next := 0
	if last, err := s.LastRun(); err == nil {
		if next, err = strconv.Atoi(strings.TrimPrefix(last.ID, "run-")); err != nil {
			return err
		}
	}
	for next++; ; next++ {
		if err := s.Save(numbered(next)); err != nil {
			return err
		}
		fmt.Println(next)
	}
}

// numberedSize is how many resources a numbered record has.
const numberedSize = 200

// numbered is the nth record of a series in which each scan finds a quarter of
// the resources changed.
func numbered(n int) Record {
	resources := make([]model.Resource, numberedSize)
	for i := range resources {
		resources[i] = resource(fmt.Sprintf("shop/%04d", i), numberedValue(i, n))
	}
	return scan(n, []model.Finding{finding("f1", n, func(f *model.Finding) { f.Reason = strconv.Itoa(n) })}, look(n, resources...))
}

// numberedValue is the value that resource i has in the nth record.
func numberedValue(i, n int) string {
	changed := max(n-(i+n)%4, 0)
	return fmt.Sprintf("%d changed in %d %s", i, changed, strings.Repeat("x", i))
}

// fill saves ever more until the disk is full, as far as a process can make
// itself believe so, and then shows that the store is still good.
func fill(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if err := s.Save(scan(n, nil, estate(500, n))); err != nil {
			fmt.Println("full", err)
			break
		}
		fmt.Println(n)
	}
	if _, err := s.LastRun(); err != nil {
		return err
	}
	return s.Close()
}
