package slack

import (
	"sync"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// peers are the channels that listen now. Slack sends each interaction to any of the app's
// connections, regardless of its channel.
type peers struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

// A listener is a channel that listens, with the function that makes decisions.
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

// of returns the listener for an interaction that was received by a channel of the same app, or
// nil.
func (p *peers) of(heard *interaction, through *channel) *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.listeners[heard.receiver]
	if l == nil || l.appToken != through.appToken || l.config.Channel != heard.channel {
		return nil
	}
	return l
}

// sameAgain is how long a repeated interaction is ignored, such as a double click or a repeated
// event of Slack.
const sameAgain = 30 * time.Second

// once detects repeated interactions.
type once struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// first reports whether a key is new, and stores it.
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

// forget removes a key, so that the interaction can be repeated.
func (o *once) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, key)
}
