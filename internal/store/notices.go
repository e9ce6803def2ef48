package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Notices returns the stored threads, sorted by ID, and the paces of the receivers.
func (s *Store) Notices() (model.Notices, error) {
	var n model.Notices
	err := s.view("read notices", func(t *txn) error {
		err := each(t.threads, nil, func(k, v []byte) error {
			thread, err := t.parseThread(k, v)
			n.Threads = append(n.Threads, thread)
			return err
		})
		if err != nil {
			return err
		}
		n.Paces, err = t.allPaces()
		return err
	})
	if err != nil {
		return model.Notices{}, err
	}
	return n, nil
}

func (t *txn) allPaces() (map[string]model.Pace, error) {
	paces := map[string]model.Pace{}
	err := each(t.paces, nil, func(k, v []byte) error {
		var pace model.Pace
		err := t.unpackJSON(v, &pace)
		paces[string(k)] = pace
		return err
	})
	return paces, err
}

// SaveNotices stores a change of the notices and queues its messages in one transaction. It does
// not queue a message whose key is already queued.
func (s *Store) SaveNotices(change model.NoticeChange) error {
	if change.Empty() {
		return nil
	}
	return s.update("save notices", func(t *txn) error { return t.saveNotices(&change) })
}

func (t *txn) saveNotices(change *model.NoticeChange) error {
	// The messages are queued first: a thread that is removed keeps its receipt as long as a
	// message of it is queued.
	if err := t.enqueue(change.Messages); err != nil {
		return err
	}
	for i := range change.Threads {
		if err := t.putThread(&change.Threads[i]); err != nil {
			return fmt.Errorf("thread %s: %w", change.Threads[i].ID, err)
		}
	}
	for _, id := range change.Gone {
		if err := t.replaceThread(id, nil); err != nil {
			return fmt.Errorf("thread %s: %w", id, err)
		}
	}
	for _, receiver := range slices.Sorted(maps.Keys(change.Paces)) {
		if err := t.putPace(receiver, change.Paces[receiver]); err != nil {
			return fmt.Errorf("pace of %s: %w", receiver, err)
		}
	}
	return nil
}

func (t *txn) putThread(thread *model.Thread) error {
	if strings.Contains(thread.Receiver, "\x00") {
		return fmt.Errorf("receiver %q: want no NUL byte", thread.Receiver)
	}
	packed, err := t.packJSON(thread)
	if err != nil {
		return err
	}
	return t.replaceThread(thread.ID, append(prefixOf(thread.Receiver), packed...))
}

// replaceThread writes a thread, or removes it if the value is nil.
func (t *txn) replaceThread(id string, value []byte) error {
	before, _, _ := bytes.Cut(t.threads.get([]byte(id)), []byte{0})
	receiver := string(before)
	var err error
	if value == nil {
		err = t.threads.remove([]byte(id))
	} else {
		err = t.threads.put([]byte(id), value)
	}
	if err != nil {
		return err
	}
	return t.release(receiver, id)
}

func (t *txn) parseThread(k, v []byte) (model.Thread, error) {
	var thread model.Thread
	receiver, packed, _ := bytes.Cut(v, []byte{0})
	if err := t.unpackJSON(packed, &thread); err != nil {
		return thread, fmt.Errorf("thread %q: %w", k, err)
	}
	if thread.ID != string(k) || thread.Receiver != string(receiver) {
		return thread, fmt.Errorf("%w: thread %q of %q is stored under %q", errCorrupt, thread.ID, thread.Receiver, k)
	}
	return thread, nil
}

// putPace writes the pace of a receiver, or removes it if it is empty.
func (t *txn) putPace(receiver string, pace model.Pace) error {
	if len(pace.Sent) == 0 && pace.Digest.IsZero() && pace.Held.IsZero() && pace.Untold == 0 {
		return t.paces.remove([]byte(receiver))
	}
	packed, err := t.packJSON(pace)
	if err != nil {
		return err
	}
	return t.paces.put([]byte(receiver), packed)
}
