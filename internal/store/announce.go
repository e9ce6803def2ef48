package store

import (
	"bytes"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An Announcer returns the messages about an action that is new or has changed. The finding is nil
// if it is not open. The threads are those of all receivers.
type Announcer func(a *reconcile.Action, f *model.Finding, threads []model.Thread) []model.Message

// An Announcing is a Store that queues messages about actions in the transaction that changes the
// action. It implements reconcile.Store.
type Announcing struct {
	*Store
	// messages may be nil: then no message is queued.
	messages Announcer
}

// Announcing returns the store with the Announcer. If messages is nil, no messages are queued.
func (s *Store) Announcing(messages Announcer) *Announcing { return &Announcing{s, messages} }

// announce queues the messages about an action, unless the action did not change.
func (t *txn) announce(messages Announcer, was, a *reconcile.Action, f *model.Finding) error {
	if messages == nil || was != nil && len(was.Steps) == len(a.Steps) && len(was.Approvals) == len(a.Approvals) {
		return nil
	}
	var threads []model.Thread
	err := each(t.threads, nil, func(k, v []byte) error {
		thread, err := t.parseThread(k, v)
		threads = append(threads, thread)
		return err
	})
	if err != nil {
		return err
	}
	return t.enqueue(messages(a, f, threads))
}

// releaseActions removes the receipts of the messages about actions that were removed.
func (p *pruner) releaseActions(actions []reconcile.Action) error {
	var gone [][]byte
	err := each(p.receipts, nil, func(k, _ []byte) error {
		_, thread, _ := bytes.Cut(k, []byte{0})
		if slices.ContainsFunc(actions, func(a reconcile.Action) bool { return string(thread) == model.ActionThread+a.ID }) {
			gone = append(gone, bytes.Clone(k))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return removeAll(p.receipts, gone)
}
