package kubernetes

// Slots bound how many requests run at once. One API group gets half of them
// at most, so that a group whose server hangs delays no other.
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

// run calls do when there is room for the group.
func (s *slots) run(group string, do func()) {
	of := s.groups[group]
	of <- struct{}{}
	s.all <- struct{}{}
	defer func() { <-s.all; <-of }()
	do()
}
