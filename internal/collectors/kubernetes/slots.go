package kubernetes

// slots bound the concurrent requests. One API group gets at most half of them, so that an
// unresponsive aggregated server does not delay other groups.
type slots struct {
	all    chan struct{}
	groups map[string]chan struct{}
}

func newSlots(n int, apis []api) *slots {
	s := &slots{all: make(chan struct{}, n), groups: map[string]chan struct{}{}}
	for _, a := range apis {
		if s.groups[a.group] == nil {
			s.groups[a.group] = make(chan struct{}, max(1, n/2))
		}
	}
	return s
}

// run calls do when a slot is free for the group.
func (s *slots) run(group string, do func()) {
	of := s.groups[group]
	of <- struct{}{}
	s.all <- struct{}{}
	defer func() { <-s.all; <-of }()
	do()
}
