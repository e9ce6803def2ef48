package slack

import (
	"sync"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// peers are the channels that listen now. Slack hands each interaction to any
// one of an app's connections, whichever channel it was in.
type peers struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

// A listener is a channel that listens, and who carries out what it hears.
type listener struct {
	*channel
	decide notify.Decide
}

// enter adds a listener until leave is called.
func (p *peers) enter(l *listener) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners == nil {
		p.listeners = map[string]*listener{}
	}
	p.listeners[l.env.Name] = l
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.listeners[l.env.Name] == l {
			delete(p.listeners, l.env.Name)
		}
	}
}

// of returns the listener of an interaction that came through another of the
// same app; nil where it is none of theirs.
func (p *peers) of(heard *interaction, through *channel) *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.listeners[heard.receiver]
	if l == nil || l.appToken != through.appToken || l.config.Channel != heard.channel {
		return nil
	}
	return l
}

// sameAgain is how long the same interaction counts as one: of fingers that are too
// quick, and of Slack, which sends again what it takes for lost.
const sameAgain = 30 * time.Second

// once tells an interaction from its repetition.
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
