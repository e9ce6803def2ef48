package manifests

import "sync"

// sameRefs are the refs that named the declaration's commit when it was last read. An old commit is not named by
// any of them now, and stands for those that named it.
type sameRefs struct {
	mu   sync.Mutex
	refs map[string]bool
	// foreign are the IDs of sources of Flux that another repository declared then.
	foreign map[string]bool
}

// clear forgets the refs of an earlier reading.
func (s *sameRefs) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs, s.foreign = nil, nil
}

// has reports whether a ref named the commit.
func (s *sameRefs) has(ref string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refs[ref]
}

// set records whether a ref names the commit, and returns it.
func (s *sameRefs) set(ref string, same bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs == nil {
		s.refs = map[string]bool{}
	}
	s.refs[ref] = same
	return same
}

// addForeign records a source that another repository declares.
func (s *sameRefs) addForeign(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign == nil {
		s.foreign = map[string]bool{}
	}
	s.foreign[id] = true
}

// isForeign reports whether another repository declared a source.
func (s *sameRefs) isForeign(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.foreign[id]
}
