package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Bounds of the sessions that go on at once. Only who has logged in makes one;
// the oldest go.
const (
	maxSessions = 10_000
	maxOfOne    = 100
)

// A digest is what is kept of a session's id: a copy of the memory opens
// nothing.
type digest [sha256.Size]byte

func digestOf(id string) digest { return sha256.Sum256([]byte(id)) }

// A session is one login. It ends at a fixed time, however much it is used.
type session struct {
	name string
	// groups are those that roles name.
	groups []string
	// hash is that of the password; "" where there was none.
	hash string
	ends time.Time
}

// sessions are the logins that hold, in memory: a restart ends them.
type sessions struct {
	mu  sync.Mutex
	all map[digest]session
}

// get returns a session that has not ended.
func (s *sessions) get(id digest, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.all[id]
	if ok && !now.Before(found.ends) {
		delete(s.all, id)
		return session{}, false
	}
	return found, ok
}

func (s *sessions) end(id digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// endUnless ends every session that does not fit.
func (s *sessions) endUnless(fits func(session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.all {
		if !fits(one) {
			delete(s.all, id)
		}
	}
}

// add makes room and takes a session in.
func (s *sessions) add(id digest, added session, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest, oldestOfOne digest
	ofOne := 0
	for other, one := range s.all {
		if !now.Before(one.ends) {
			delete(s.all, other)
			continue
		}
		oldest = s.older(oldest, other)
		if one.name == added.name {
			oldestOfOne = s.older(oldestOfOne, other)
			ofOne++
		}
	}
	if ofOne >= maxOfOne {
		delete(s.all, oldestOfOne)
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
	s.all[id] = added
}

// older returns which of two sessions ends first; the first may be none.
func (s *sessions) older(a, b digest) digest {
	if first, ok := s.all[a]; ok && first.ends.Before(s.all[b].ends) {
		return a
	}
	return b
}
