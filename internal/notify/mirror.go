package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// minEvery bounds the interval of a mirror.
const minEvery = time.Second

// A mirror keeps the newest open findings for a Mirror.
type mirror struct {
	Mirror

	mu    sync.Mutex
	open  []model.Finding
	isSet bool
}

// every returns the interval of the Mirror, at least minEvery.
func (m *mirror) every() time.Duration { return max(m.Every(), minEvery) }

func (m *mirror) set(open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open, m.isSet = open, true
}

// newest returns the newest findings. ok reports whether set was called.
func (m *mirror) newest() (open []model.Finding, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open, m.isSet
}

// show is the task that shows the newest findings.
func (m *mirror) show(ctx context.Context) (bool, error) {
	open, ok := m.newest()
	if !ok {
		return false, nil
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := m.Show(call, open)
	return err == nil || errors.Is(err, ErrRefused), err
}

// listenerRecovered is the time that a Listener must run after an error until it counts
// as recovered.
const listenerRecovered = time.Minute

// A listenTask runs the Listener of one receiver.
type listenTask struct {
	Listener
	handler Handler
	// onWorking is called when the Listener has run for listenerRecovered.
	onWorking func()
}

// listen is a task that is never done.
func (l *listenTask) listen(ctx context.Context) (bool, error) {
	timer := time.AfterFunc(listenerRecovered, l.onWorking)
	defer timer.Stop()
	err := l.Listen(ctx, l.handler)
	if err == nil {
		err = errors.New("connection ended without an error")
	}
	return false, fmt.Errorf("listen for requests: %w", err)
}
