package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// minEvery bounds how often a mirror may want to be told what it knows.
const minEvery = time.Second

// A mirror is shown the newest state, and only that.
type mirror struct {
	Mirror

	mu    sync.Mutex
	open  []model.Finding
	known bool
}

func (m *mirror) every() time.Duration { return max(m.Every(), minEvery) }

func (m *mirror) set(open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open, m.known = open, true
}

func (m *mirror) newest() (open []model.Finding, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open, m.known
}

// show is a turn.
func (m *mirror) show(ctx context.Context) (bool, error) {
	open, known := m.newest()
	if !known {
		return false, nil
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := m.Show(call, open)
	return err == nil || errors.Is(err, ErrRefused), err
}

// listensWell is how long a Listener that ended by itself has to listen until
// it counts as mended.
const listensWell = time.Minute

// A listening is what one receiver hears.
type listening struct {
	Listener
	decide Decide
	// well is called when it has listened for a while.
	well func()
}

// listen is a turn, which is never done.
func (l *listening) listen(ctx context.Context) (bool, error) {
	well := time.AfterFunc(listensWell, l.well)
	defer well.Stop()
	err := l.Listen(ctx, l.decide)
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return false, fmt.Errorf("listen for answers: %w", err)
}
