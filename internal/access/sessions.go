package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of concurrent sessions, in total and per user. Beyond them the oldest session ends.
const (
	maxSessions = 10_000
	maxOfOne    = 100
)

// A digest is the hash of a session id. Only the hash is stored, so that a copy of the memory
// contains no valid session id.
type digest [sha256.Size]byte

func digestOf(id string) digest { return sha256.Sum256([]byte(id)) }

// A session is one login. It ends at a fixed time; use does not extend it.
type session struct {
	name string
	// groups are the user's groups that have a role.
	groups []string
	// hash is the hash of the user's password; "" for a login without a password.
	hash string
	ends time.Time
}

// identity returns the user who logged in: at the OpenID provider if there was no password.
func (s session) identity() Identity {
	if s.hash == "" {
		return Identity{OIDCName, s.name}
	}
	return Identity{LoginName, s.name}
}

// sessions holds the current sessions in memory. A restart ends them.
type sessions struct {
	mu  sync.Mutex
	all map[digest]session
}

// get returns the session with an id, if it has not expired.
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

// endUnless ends every session for which fits returns false.
func (s *sessions) endUnless(fits func(session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.all {
		if !fits(one) {
			delete(s.all, id)
		}
	}
}

// add adds a session. It removes expired sessions, and the oldest beyond the limits.
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

// older returns the id of the session that ends first. The first id may be unknown.
func (s *sessions) older(a, b digest) digest {
	if first, ok := s.all[a]; ok && first.ends.Before(s.all[b].ends) {
		return a
	}
	return b
}
