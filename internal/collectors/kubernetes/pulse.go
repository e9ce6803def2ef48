package kubernetes

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// unfollowed is how long no stream must stand before that is told.
const unfollowed = 10 * time.Second

var errSilent = errors.New("the API server does not answer")

// A pulse tells the log, once, that a source is not followed, and once that it
// is again. Single streams come and go all the time: only when none stands is
// the source not followed.
type pulse struct {
	log    *slog.Logger
	now    func() time.Time
	server func() string

	mu       sync.Mutex
	standing int
	// since is when the last stream fell; zero while one stands.
	since time.Time
	// err is what a stream failed with last.
	err  error
	late *time.Timer
	told bool
}

// stands notes a stream that was opened.
func (p *pulse) stands() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.standing++
	if p.told {
		p.log.Info("source is followed again", "server", p.server(), "broken_since", p.since)
	}
	p.rest()
}

// ends notes that a stream which stood has ended.
func (p *pulse) ends(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.standing--
	p.falls(err)
}

// fails notes that a stream, or the look that it needs, could not begin.
func (p *pulse) fails(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.falls(err)
}

// falls is called with mu held.
func (p *pulse) falls(err error) {
	if p.standing > 0 {
		return
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		p.err = err
	}
	if p.since.IsZero() {
		p.since, p.late = p.now(), time.AfterFunc(unfollowed, p.tell)
	}
}

func (p *pulse) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return
	}
	err := p.err
	if err == nil {
		err = errSilent
	}
	p.told = true
	p.log.Warn("source is not followed", "server", p.server(), "since", p.since, "err", err)
}

// stop ends the telling.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
}

// rest is called with mu held.
func (p *pulse) rest() {
	if p.late != nil {
		p.late.Stop()
	}
	p.late, p.since, p.err, p.told = nil, time.Time{}, nil, false
}
