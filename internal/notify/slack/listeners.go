package slack

import (
	"sync"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// listeners holds the listening channels. Slack sends each interaction to any of the app's
// connections, regardless of its channel.
type listeners struct {
	mu     sync.Mutex
	byName map[string]*listener
}

// A listener is a channel that listens, with the handler of its requests.
type listener struct {
	*channel
	handler notify.Handler
}

// add adds l. The returned function removes it.
func (ls *listeners) add(l *listener) (remove func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.byName == nil {
		ls.byName = map[string]*listener{}
	}
	ls.byName[l.env.Name] = l
	return func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if ls.byName[l.env.Name] == l {
			delete(ls.byName, l.env.Name)
		}
	}
}

// find returns the listener for an interaction that the channel through received. It returns nil if
// there is none for the same app and channel.
func (ls *listeners) find(it *interaction, through *channel) *listener {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.byName[it.receiver]
	if l == nil || l.appToken != through.appToken || l.config.Channel != it.channel {
		return nil
	}
	return l
}

// repeatWindow is the time for which a repeated interaction is ignored, such as a double click or a
// repeated event of Slack.
const repeatWindow = 30 * time.Second

// A deduplicator detects repeated interactions.
type deduplicator struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// isNew stores key and reports whether it is new.
func (o *deduplicator) isNew(key string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]time.Time{}
	}
	for k, at := range o.seen {
		if now.Sub(at).Abs() >= repeatWindow {
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
func (o *deduplicator) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, key)
}
