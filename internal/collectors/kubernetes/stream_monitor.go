package kubernetes

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// warnAfter is how long all streams must be closed before a warning is logged.
const warnAfter = 10 * time.Second

var errNoAnswer = errors.New("the API server does not answer")

// A streamMonitor logs once that the watches of a source are interrupted, and once that they
// are restored. Single streams are closed regularly: a source is interrupted only if no
// stream is open.
type streamMonitor struct {
	log    *slog.Logger
	now    func() time.Time
	server func() string

	mu   sync.Mutex
	open int
	// since is when the last stream was closed; zero if one is open.
	since time.Time
	// err is the last error of a stream.
	err    error
	timer  *time.Timer
	warned bool
}

// opened records that a stream was opened.
func (m *streamMonitor) opened() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open++
	if m.warned {
		m.log.Info("watch is restored", "server", m.server(), "broken_since", m.since)
	}
	m.reset()
}

// closed records that an open stream was closed.
func (m *streamMonitor) closed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
	m.interrupted(err)
}

// failed records that a stream could not be opened, or that the scan before it failed.
func (m *streamMonitor) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.interrupted(err)
}

// interrupted starts the timer of the warning if no stream is open. It is called with mu
// held.
func (m *streamMonitor) interrupted(err error) {
	if m.open > 0 {
		return
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		m.err = err
	}
	if m.since.IsZero() {
		m.since, m.timer = m.now(), time.AfterFunc(warnAfter, m.warn)
	}
}

func (m *streamMonitor) warn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		return
	}
	err := m.err
	if err == nil {
		err = errNoAnswer
	}
	m.warned = true
	m.log.Warn("watch is interrupted", "server", m.server(), "since", m.since, "err", err)
}

// stop stops the timer.
func (m *streamMonitor) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset()
}

// reset is called with mu held.
func (m *streamMonitor) reset() {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.timer, m.since, m.err, m.warned = nil, time.Time{}, nil, false
}
