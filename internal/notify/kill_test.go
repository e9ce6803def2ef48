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

// A process that is to die at the nth step of a kind finds both here, and the
// mailbox to which it delivers, and the folder in which it works.
const (
	killDir  = "DRIFTD_NOTIFY_TEST_DIR"
	killBox  = "DRIFTD_NOTIFY_TEST_BOX"
	killStep = "DRIFTD_NOTIFY_TEST_STEP"
	killNth  = "DRIFTD_NOTIFY_TEST_NTH"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		if err := deliverUntilKilled(dir, os.Getenv(killBox), os.Getenv(killStep), os.Getenv(killNth)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A mailbox is a receiver whose messages lie in a file, on which each line is
// the key of one that arrived and whether it came as one that was begun before.
type mailbox struct {
	path string
	// asks tells that it looks for a message that was begun before it takes it.
	asks bool
	// picky tells that it refuses every other message.
	picky bool
	step  func(string)
}

// mailboxIn is one that can be asked, "asked", or cannot, "unasked", or that
// refuses some messages, "picky".
func mailboxIn(dir, name string) *mailbox {
	return &mailbox{path: filepath.Join(dir, "mailbox"), asks: name != "unasked", picky: name == "picky"}
}

func (m *mailbox) Notify(_ context.Context, p model.OutboxEntry) (string, error) {
	m.step("called")
	arrived, err := m.arrivals()
	switch {
	case err != nil:
		return "", err
	case m.refuses(p.Message.Key):
		m.step("refused")
		return "", Refused(errors.New("i do not like it"))
	case m.asks && p.Begun && slices.ContainsFunc(arrived, func(a arrival) bool { return a.key == p.Message.Key }):
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

func (m *mailbox) refuses(key string) bool {
	return m.picky && strings.ContainsAny(key[len(key)-1:], "02468")
}

// An arrival is a line of a mailbox.
type arrival struct {
	key   string
	begun bool
}

func (m *mailbox) arrivals() ([]arrival, error) {
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

// A stepwise outbox, which is a receiver too, names each step once it is done.
type stepwise struct {
	Outbox
	Notifier

	step func(string)
}

// did names a step that was done.
func (s stepwise) did(step string, err error) error {
	if err == nil {
		s.step(step)
	}
	return err
}

func (s stepwise) NextOutboxEntry(receiver string) (p model.OutboxEntry, ok bool, err error) {
	p, ok, err = s.Outbox.NextOutboxEntry(receiver)
	if ok {
		s.step("next")
	}
	return p, ok, err
}

func (s stepwise) BeginDelivery(receiver, key string) error {
	return s.did("begun", s.Outbox.BeginDelivery(receiver, key))
}

func (s stepwise) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	receipt, err := s.Notifier.Notify(ctx, p)
	return receipt, s.did("sent", err)
}

func (s stepwise) EndDelivery(receiver, key, receipt string) error {
	return s.did("ended", s.Outbox.EndDelivery(receiver, key, receipt))
}

func (s stepwise) DropMessage(receiver, key string) error {
	return s.did("dropped", s.Outbox.DropMessage(receiver, key))
}

// deliverUntilKilled delivers what waits, unless it dies before.
func deliverUntilKilled(dir, box, at, nth string) error {
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
			select {} // it takes a moment to die
		}
	}
	mailbox := mailboxIn(dir, box)
	mailbox.step = step
	steps := stepwise{Outbox: s, Notifier: mailbox, step: step}
	o := Options{Outbox: steps, Receivers: []Opened{{Name: box, Receiver: Receiver{Notifier: steps}}}}
	if err := NewDispatcher(o).Flush(context.Background()); err != nil && !errors.Is(err, ErrRefused) {
		return err
	}
	return s.Close()
}

// TestKilledAtEachStep kills a process that delivers, at each step and again
// and again, and looks in the end at what arrived: everything, in order, once
// where the receiver can be asked, and a second time only as what may be there.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	const kills = 20
	common := []string{"next", "begun", "called", "arrived", "sent", "ended"}
	tests := map[string]struct {
		steps []string
		// again is how many arrive twice.
		again int
	}{
		"asked":   {steps: common},
		"unasked": {steps: common, again: 2 * kills}, // at arrived and at sent
		"picky":   {steps: append([]string{"refused", "dropped"}, common...)},
	}
	for box, test := range tests {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			messages := 4 * kills * len(test.steps)
			fill(t, dir, box, messages)
			for i := range kills {
				for _, at := range test.steps {
					if nth := 1 + i%3; !killedAt(t, dir, box, at, nth) {
						t.Fatalf("the process was not killed at step %q, %d", at, nth)
					}
				}
			}
			if killedAt(t, dir, box, "none", 1) {
				t.Fatal("the last process was killed")
			}
			queues, err := storeAt(t, dir).Queues()
			if err != nil || len(queues) > 0 {
				t.Errorf("still waiting: %v, %v", queues, err)
			}
			checkArrivals(t, mailboxIn(dir, box), messages, test.again)
		})
	}
}

// fill makes a store in which messages wait.
func fill(t *testing.T, dir, receiver string, messages int) {
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

// killedAt lets a process deliver and tells whether it was killed.
func killedAt(t *testing.T, dir, box, at string, nth int) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), killDir+"="+dir, killBox+"="+box, killStep+"="+at, killNth+"="+strconv.Itoa(nth))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v: %s", err, out)
	}
	return true
}

func checkArrivals(t *testing.T, m *mailbox, messages, again int) {
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
			t.Errorf("message %s came again as if it were new", a.key)
		}
	}
	same(t, "what arrived", once, slices.DeleteFunc(numbers(1, messages), m.refuses))
	same(t, "how many arrived again", len(arrived)-len(once), again)
}
