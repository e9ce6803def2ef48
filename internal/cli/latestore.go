package cli

import (
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A lateStore opens the store on first use, which is after the sources were read, so that a
// scan of a slow source does not block other processes.
type lateStore struct {
	open  func() (*store.Store, error)
	once  sync.Once
	store *store.Store
	err   error
}

func (l *lateStore) get() (*store.Store, error) {
	l.once.Do(func() { l.store, l.err = l.open() })
	return l.store, l.err
}

// late calls ask with the open store.
func late[T any](l *lateStore, ask func(*store.Store) (T, error)) (T, error) {
	s, err := l.get()
	if err != nil {
		var none T
		return none, err
	}
	return ask(s)
}

func (l *lateStore) OpenFindings() ([]model.Finding, error) {
	return late(l, (*store.Store).OpenFindings)
}

func (l *lateStore) Observations(keys []model.Key) ([][]model.Observation, error) {
	return late(l, func(s *store.Store) ([][]model.Observation, error) { return s.Observations(keys) })
}

func (l *lateStore) Recent(since time.Time) ([]model.Finding, error) {
	return late(l, func(s *store.Store) ([]model.Finding, error) { return s.Recent(since) })
}

func (l *lateStore) Runs(limit int) ([]model.Run, error) {
	return late(l, func(s *store.Store) ([]model.Run, error) { return s.Runs(limit) })
}

func (l *lateStore) FirstReads() ([]model.FirstRead, error) {
	return late(l, (*store.Store).FirstReads)
}

func (l *lateStore) LastRead(source string) (model.SourceRun, error) {
	return late(l, func(s *store.Store) (model.SourceRun, error) { return s.LastRead(source) })
}

func (l *lateStore) LastStates(declaration string) ([]model.StateRead, error) {
	return late(l, func(s *store.Store) ([]model.StateRead, error) { return s.LastStates(declaration) })
}

func (l *lateStore) Save(record store.Record) error {
	_, err := late(l, func(s *store.Store) (any, error) { return nil, s.Save(record) })
	return err
}

func (l *lateStore) Finding(id string) (f model.Finding, versions []store.FindingVersion, err error) {
	s, err := l.get()
	if err != nil {
		return f, nil, err
	}
	return s.Finding(id)
}

func (l *lateStore) Decisions() ([]model.Decision, error) { return late(l, (*store.Store).Decisions) }

func (l *lateStore) Decide(list []model.Decision, now time.Time) error {
	_, err := late(l, func(s *store.Store) (any, error) { return nil, s.Decide(list, now) })
	return err
}

func (l *lateStore) Revoke(id, by string, now time.Time) (model.Decision, error) {
	return late(l, func(s *store.Store) (model.Decision, error) { return s.Revoke(id, by, now) })
}

func (l *lateStore) Settle(now time.Time) (changed int, err error) {
	return late(l, func(s *store.Store) (int, error) { return s.Settle(now) })
}

func (l *lateStore) Notices() (model.Notices, error) { return late(l, (*store.Store).Notices) }

func (l *lateStore) SaveNotices(change model.NoticeChange) error {
	_, err := late(l, func(s *store.Store) (any, error) { return nil, s.SaveNotices(change) })
	return err
}

func (l *lateStore) Queues() (map[string]model.Queue, error) {
	return late(l, (*store.Store).Queues)
}

func (l *lateStore) close() error {
	if l.store == nil {
		return nil
	}
	return l.store.Close()
}
