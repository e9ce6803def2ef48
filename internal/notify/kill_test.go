package notify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// The environment variables of the test process: the folder of its store, the name of its
// receiver, and the step at whose nth repetition it kills itself.
const (
	killDir      = "DRIFTD_NOTIFY_TEST_DIR"
	killReceiver = "DRIFTD_NOTIFY_TEST_RECEIVER"
	killStep     = "DRIFTD_NOTIFY_TEST_STEP"
	killNth      = "DRIFTD_NOTIFY_TEST_NTH"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		if err := deliverUntilKilled(dir, os.Getenv(killReceiver), os.Getenv(killStep), os.Getenv(killNth)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A fileReceiver is a Notifier that appends messages to a file. Each line has the key of a
// message, and whether its entry was Begun.
type fileReceiver struct {
	path string
	// checksArrival is set if the receiver looks for a message with Begun set in the file.
	checksArrival bool
	// refusesEven is set if the receiver refuses messages with an even number.
	refusesEven bool
	// step is called after each step, with its name.
	step func(string)
}

// newFileReceiver returns a receiver with a file in dir. By its name, it checks whether a
// message has arrived ("checking"), does not check ("unchecking"), or checks and refuses
// some messages ("refusing").
func newFileReceiver(dir, name string) *fileReceiver {
	return &fileReceiver{path: filepath.Join(dir, "messages"), checksArrival: name != "unchecking", refusesEven: name == "refusing"}
}

func (m *fileReceiver) Notify(_ context.Context, p model.OutboxEntry) (string, error) {
	m.step("called")
	arrived, err := m.arrivals()
	switch {
	case err != nil:
		return "", err
	case m.refuses(p.Message.Key):
		m.step("refused")
		return "", Refused(errors.New("even number"))
	case m.checksArrival && p.Begun && slices.ContainsFunc(arrived, func(a arrival) bool { return a.key == p.Message.Key }):
		return "", nil
	}
	file, err := os.OpenFile(m.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, "%s %t\n", p.Message.Key, p.Begun)
	m.step("arrived")
	return "", errors.Join(err, file.Close())
}

func (m *fileReceiver) refuses(key string) bool {
	return m.refusesEven && strings.ContainsAny(key[len(key)-1:], "02468")
}

// An arrival is a line in the file of a fileReceiver.
type arrival struct {
	key   string
	begun bool
}

func (m *fileReceiver) arrivals() ([]arrival, error) {
	file, err := os.Open(m.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []arrival
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		key, begun, _ := strings.Cut(lines.Text(), " ")
		list = append(list, arrival{key, begun == "true"})
	}
	return list, errors.Join(lines.Err(), file.Close())
}

// A stepOutbox is an Outbox and a Notifier that calls step after each step that succeeded.
type stepOutbox struct {
	Outbox
	Notifier

	step func(string)
}

// done calls step with name if err is nil. It returns err.
func (s stepOutbox) done(name string, err error) error {
	if err == nil {
		s.step(name)
	}
	return err
}

func (s stepOutbox) NextOutboxEntry(receiver string) (p model.OutboxEntry, ok bool, err error) {
	p, ok, err = s.Outbox.NextOutboxEntry(receiver)
	if ok {
		s.step("next")
	}
	return p, ok, err
}

func (s stepOutbox) BeginDelivery(receiver, key string) error {
	return s.done("begun", s.Outbox.BeginDelivery(receiver, key))
}

func (s stepOutbox) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	receipt, err := s.Notifier.Notify(ctx, p)
	return receipt, s.done("sent", err)
}

func (s stepOutbox) EndDelivery(receiver, key, receipt string) error {
	return s.done("ended", s.Outbox.EndDelivery(receiver, key, receipt))
}

func (s stepOutbox) DropMessage(receiver, key string) error {
	return s.done("dropped", s.Outbox.DropMessage(receiver, key))
}

// deliverUntilKilled delivers all queued messages. It kills the process at the nth step
// with the name at.
func deliverUntilKilled(dir, receiver, at, nth string) error {
	left, err := strconv.Atoi(nth)
	if err != nil {
		return err
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	step := func(name string) {
		if name != at {
			return
		}
		if left--; left == 0 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				panic(err)
			}
			select {} // the signal is asynchronous
		}
	}
	notifier := newFileReceiver(dir, receiver)
	notifier.step = step
	steps := stepOutbox{Outbox: s, Notifier: notifier, step: step}
	o := Options{Outbox: steps, Receivers: []Opened{{Name: receiver, Receiver: Receiver{Notifier: steps}}}}
	if err := NewDispatcher(o).Flush(context.Background()); err != nil && !errors.Is(err, ErrRefused) {
		return err
	}
	return s.Close()
}

// TestKilledAtEachStep kills a delivering process repeatedly, at each step. It checks that
// all messages arrive in order, that they arrive once if the receiver checks for them, and
// that a repeated message has Begun set.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	const kills = 20
	common := []string{"next", "begun", "called", "arrived", "sent", "ended"}
	tests := map[string]struct {
		steps []string
		// repeated is the number of messages that arrive twice.
		repeated int
	}{
		"checking":   {steps: common},
		"unchecking": {steps: common, repeated: 2 * kills}, // at arrived and at sent
		"refusing":   {steps: append([]string{"refused", "dropped"}, common...)},
	}
	for receiver, test := range tests {
		t.Run(receiver, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			messages := 4 * kills * len(test.steps)
			fillOutbox(t, dir, receiver, messages)
			for i := range kills {
				for _, at := range test.steps {
					if nth := 1 + i%3; !runUntilKilled(t, dir, receiver, at, nth) {
						t.Fatalf("the process was not killed at step %q, %d", at, nth)
					}
				}
			}
			if runUntilKilled(t, dir, receiver, "none", 1) {
				t.Fatal("the process was killed without a step")
			}
			queues, err := openStore(t, dir).Queues()
			if err != nil || len(queues) > 0 {
				t.Errorf("queues %v, error %v; want none", queues, err)
			}
			checkArrivals(t, newFileReceiver(dir, receiver), messages, test.repeated)
		})
	}
}

// fillOutbox creates a store with queued messages for receiver.
func fillOutbox(t *testing.T, dir, receiver string, messages int) {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	change := model.NoticeChange{}
	for n := range messages {
		change.Messages = append(change.Messages, model.Message{Key: strconv.Itoa(n + 1), Receiver: receiver, Thread: "t"})
	}
	if err := errors.Join(s.SaveNotices(change), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// runUntilKilled runs a delivering process and reports whether it was killed.
func runUntilKilled(t *testing.T, dir, receiver, at string, nth int) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), killDir+"="+dir, killReceiver+"="+receiver, killStep+"="+at, killNth+"="+strconv.Itoa(nth))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v: %s", err, out)
	}
	return true
}

// checkArrivals checks that the messages from 1 on have arrived in order, as many of them
// twice as given.
func checkArrivals(t *testing.T, m *fileReceiver, messages, repeated int) {
	t.Helper()
	arrived, err := m.arrivals()
	if err != nil {
		t.Fatal(err)
	}
	var once []string
	for i, a := range arrived {
		switch {
		case i == 0 || a.key != arrived[i-1].key:
			once = append(once, a.key)
		case !a.begun:
			t.Errorf("message %s was repeated without Begun", a.key)
		}
	}
	assertEqual(t, "messages that arrived", once, slices.DeleteFunc(keyRange(1, messages), m.refuses))
	assertEqual(t, "repeated messages", len(arrived)-len(once), repeated)
}
