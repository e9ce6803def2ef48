package cli

import (
	"sync"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A lateStore opens the store when it is first asked, which is after the look
// at the sources: a scan that waits for a slow source keeps nobody else out.
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

func (l *lateStore) OpenFindings() ([]model.Finding, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.OpenFindings()
}

func (l *lateStore) Runs(limit int) ([]model.Run, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Runs(limit)
}

func (l *lateStore) Save(record store.Record) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Save(record)
}

func (l *lateStore) close() error {
	if l.store == nil {
		return nil
	}
	return l.store.Close()
}
