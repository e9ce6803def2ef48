package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

const (
	childJob = "DRIFTD_STORE_TEST_JOB"
	childDir = "DRIFTD_STORE_TEST_DIR"
	// saveForever saves and prints the number of each save, until it is killed.
	saveForever = "save"
	// deliverForever saves and delivers the queued messages, until it is killed.
	deliverForever = "deliver"
	// saveUntilFull saves until files cannot grow further.
	saveUntilFull = "full"
	// makeKeyOnce calls Sealer and prints the digest of a word.
	makeKeyOnce = "key"
	// migrateOnce opens the store; migrateWhenFull does so while no file may be larger than
	// migrateLimit.
	migrateOnce, migrateWhenFull = "migrate", "migrate-full"
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
		err = resumeSaving(dir)
	case deliverForever:
		err = resumeDelivering(dir)
	case saveUntilFull:
		err = fill(dir)
	case migrateOnce:
		err = openOnce(dir)
	case migrateWhenFull:
		if err = limitFiles(migrateLimit); err == nil {
			err = openOnce(dir)
		}
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

// resumeSaving continues from the last record that the killed process saved.
func resumeSaving(dir string) error {
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

// numberedSize is the number of resources in a numbered record.
const numberedSize = 200

// numbered returns the nth record of a series in which each scan changes a quarter of the
// resources.
func numbered(n int) Record {
	resources := make([]model.Resource, numberedSize)
	for i := range resources {
		resources[i] = resource(fmt.Sprintf("shop/%04d", i), numberedValue(i, n))
	}
	return scan(n, []model.Finding{finding("f1", n, func(f *model.Finding) { f.Reason = strconv.Itoa(n) })}, snapshotAt(n, resources...))
}

// numberedValue returns the value of resource i in the nth record.
func numberedValue(i, n int) string {
	changed := max(n-(i+n)%4, 0)
	return fmt.Sprintf("%d changed in %d %s", i, changed, strings.Repeat("x", i))
}

// steps is the number of transactions for one record: one save, and the begin and the end of two
// deliveries.
const steps = 5

// resumeDelivering continues from the last step that the killed process completed.
func resumeDelivering(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	step, err := stepOf(s)
	if err != nil {
		return err
	}
	for step++; ; step++ {
		if err := doStep(s, step/steps, step%steps); err != nil {
			return err
		}
		fmt.Println(step)
	}
}

func doStep(s *Store, n, step int) error {
	switch key := fmt.Sprintf("t.%d.%d", n, (step+1)/2); step {
	case 0:
		return s.Save(noticed(n))
	case 1, 3:
		return s.BeginDelivery("slack", key)
	case 2:
		return s.EndDelivery("slack", key, receiptIn(n))
	default:
		return s.EndDelivery("slack", key, "")
	}
}

func receiptIn(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("receipt %d", n)
}

// noticed returns the nth numbered record with two messages and a decision.
func noticed(n int) Record {
	rec := numbered(n)
	rec.Notices = model.NoticeChange{Threads: []model.Thread{thread("slack", "t", n, 20)}, Paces: map[string]model.Pace{"slack": {Sent: []time.Time{minute(n)}}},
		Messages: []model.Message{message("slack", "t", fmt.Sprintf("t.%d.1", n)), message("slack", "t", fmt.Sprintf("t.%d.2", n))}}
	rec.Decisions = map[string][]model.Decision{"git": {decision("d", "f1", func(d *model.Decision) { d.From, d.Reason = "git", strconv.Itoa(n) })}}
	return rec
}

// stepOf returns the last completed step. It returns an error if a step was stored partly.
func stepOf(s *Store) (int, error) {
	run, err := s.LastRun()
	if errors.Is(err, ErrNotFound) {
		return steps - 1, nil
	} else if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(run.ID, "run-"))
	if err != nil {
		return 0, err
	}
	want := noticed(n)
	notices, err := s.Notices()
	if err != nil {
		return 0, err
	}
	decided, err := s.Decisions()
	if diff := cmp.Diff(want.Notices.Threads, notices.Threads) + cmp.Diff(want.Notices.Paces, notices.Paces) + cmp.Diff(want.Decisions["git"], decided); diff != "" || err != nil {
		return 0, fmt.Errorf("run %d: %w: %s", n, err, diff)
	}
	for step := range steps {
		if same, err := queuedAt(s, n, step); same || err != nil {
			return n*steps + step, err
		}
	}
	return 0, fmt.Errorf("run %d: what waits is that of no step", n)
}

// queuedAt reports whether the queue is as expected after a step of record n.
func queuedAt(s *Store, n, step int) (bool, error) {
	queues, err := s.Queues()
	ended := step / 2
	if err != nil || queues["slack"].Length != 2-ended {
		return false, err
	}
	if ended == 2 {
		return true, nil
	}
	p, ok, err := s.NextOutboxEntry("slack")
	if err != nil || !ok {
		return false, err
	}
	want := model.OutboxEntry{Message: noticed(n).Notices.Messages[ended], Begun: step%2 == 1, Receipt: receiptIn(n - 1 + ended)}
	return cmp.Equal(want, p), nil
}

// fill saves growing records until a limit on the file size, which stands for a full disk, and then
// verifies that the store is intact.
func fill(dir string) error {
	if err := limitFiles(1 << 20); err != nil {
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

// limitFiles limits the size of the files of this process.
func limitFiles(size uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
}

// openOnce opens and closes the store.
func openOnce(dir string) error {
	fmt.Println("open")
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	return s.Close()
}
