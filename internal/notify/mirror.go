package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// minEvery bounds the interval of a mirror.
const minEvery = time.Second

// A mirror shows the newest state to a Mirror.
type mirror struct {
	Mirror

	mu    sync.Mutex
	open  []model.Finding
	isSet bool
}

func (m *mirror) every() time.Duration { return max(m.Every(), minEvery) }

func (m *mirror) set(open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open, m.isSet = open, true
}

func (m *mirror) newest() (open []model.Finding, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open, m.isSet
}

// show is a turn.
func (m *mirror) show(ctx context.Context) (bool, error) {
	open, ok := m.newest()
	if !ok {
		return false, nil
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := m.Show(call, open)
	return err == nil || errors.Is(err, ErrRefused), err
}

// listenerRecovered is how long a Listener must listen after an error until it counts
// as working.
const listenerRecovered = time.Minute

// A listening runs the Listener of one receiver.
type listening struct {
	Listener
	decide Decide
	// works is called when it has listened for a while.
	works func()
}

// listen is a turn that is never done.
func (l *listening) listen(ctx context.Context) (bool, error) {
	timer := time.AfterFunc(listenerRecovered, l.works)
	defer timer.Stop()
	err := l.Listen(ctx, l.decide)
	if err == nil {
		err = errors.New("connection ended without an error")
	}
	return false, fmt.Errorf("listen for requests: %w", err)
}
