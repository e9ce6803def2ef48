package slack

import (
	"sync"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// peers are the rooms that listen now. Slack hands each press to any one of an
// app's connections, whichever channel it was in.
type peers struct {
	mu    sync.Mutex
	rooms map[string]*ear
}

// An ear is a room that listens, and who carries out what it hears.
type ear struct {
	*room
	decide notify.Decide
}

// enter adds a room until leave is called.
func (p *peers) enter(e *ear) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rooms == nil {
		p.rooms = map[string]*ear{}
	}
	p.rooms[e.env.Name] = e
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.rooms[e.env.Name] == e {
			delete(p.rooms, e.env.Name)
		}
	}
}

// of returns the room of a press that came through another of the same app; nil
// where the press is none of theirs.
func (p *peers) of(heard *press, through *room) *ear {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.rooms[heard.receiver]
	if e == nil || e.appToken != through.appToken || e.config.Channel != heard.channel {
		return nil
	}
	return e
}

// sameAgain is how long the same press counts as one: of fingers that are too
// quick, and of Slack, which sends again what it takes for lost.
const sameAgain = 30 * time.Second

// once tells a press from its repetition.
type once struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// first tells whether the key was not there lately, and keeps it.
func (o *once) first(key string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]time.Time{}
	}
	for k, at := range o.seen {
		if now.Sub(at).Abs() >= sameAgain {
			delete(o.seen, k)
		}
	}
	if _, ok := o.seen[key]; ok {
		return false
	}
	o.seen[key] = now
	return true
}

// forget lets a key come again.
func (o *once) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, key)
}
