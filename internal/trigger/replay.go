package trigger

import "time"

// Bounds of the replay cache.
const (
	maxSeen  = 4096
	keepSeen = 12 * time.Hour
)

// A replayCache holds the keys of recently accepted requests. A request that was evicted is
// accepted again, which causes one additional scan.
type replayCache struct {
	seen map[string]time.Time
	// order holds the keys of seen, the oldest first.
	order []string
}

// add adds a key and reports whether it is new. It evicts keys that are too old, and the
// oldest if there are too many.
func (m *replayCache) add(key string, now time.Time) bool {
	for len(m.order) > 0 && (len(m.order) >= maxSeen || now.Sub(m.seen[m.order[0]]) > keepSeen) {
		delete(m.seen, m.order[0])
		m.order = m.order[1:]
	}
	if _, known := m.seen[key]; known {
		return false
	}
	if m.seen == nil {
		m.seen = map[string]time.Time{}
	}
	m.seen[key] = now
	m.order = append(m.order, key)
	return true
}
