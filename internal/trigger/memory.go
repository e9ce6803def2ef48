package trigger

import "time"

// Bounds of what is remembered of requests.
const (
	maxSeen  = 4096
	keepSeen = 12 * time.Hour
)

// A memory knows the requests that were accepted lately. What it forgot may come
// again: all that it does is one more scan.
type memory struct {
	seen map[string]time.Time
	// order are the keys of seen, the oldest first.
	order []string
}

// note remembers a request, and tells whether it is new.
func (m *memory) note(key string, now time.Time) bool {
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
