package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// NextOutboxEntry returns the oldest queued message for a receiver. If there is none, ok is false.
// The message remains the next one until EndDelivery or DropMessage removes it.
func (s *Store) NextOutboxEntry(receiver string) (entry model.OutboxEntry, ok bool, err error) {
	var p model.OutboxEntry
	err = s.view("read next message for "+receiver, func(t *txn) error {
		k, v := t.outbox.cursor().seek(prefixOf(receiver))
		if !bytes.HasPrefix(k, prefixOf(receiver)) {
			return nil
		}
		q, m, err := t.parseMessage(k, v)
		if err != nil {
			return err
		}
		p.Message, p.Begun, ok = m, q.begun, true
		if m.Parent != "" {
			if p.Parent, err = t.receipt(receiver, m.Parent); err != nil {
				return err
			}
		}
		p.Receipt, err = t.receipt(receiver, q.thread)
		return err
	})
	if err != nil {
		return model.OutboxEntry{}, false, err
	}
	return p, ok, nil
}

// BeginDelivery records that the delivery of a message has begun, so that after a crash the message
// counts as one that may have been delivered. It returns nil if the message is not queued.
func (s *Store) BeginDelivery(receiver, key string) error {
	return s.update("begin delivery of "+key, func(t *txn) error {
		k, q, err := t.waiting(receiver, func(q *queued) bool { return q.key == key })
		if err != nil || k == nil || q.begun {
			return err
		}
		q.begun = true
		return t.outbox.put(k, q.encode())
	})
}

// EndDelivery removes a delivered message from the queue. It stores the receipt for later messages
// of the thread if the thread is stored; if receipt is "", the stored receipt remains. It returns
// nil if the message is not queued.
func (s *Store) EndDelivery(receiver, key, receipt string) error {
	return s.update("end delivery of "+key, func(t *txn) error { return t.dequeue(receiver, key, receipt) })
}

// DropMessage removes a message from the queue without delivering it. It returns nil if the message
// is not queued.
func (s *Store) DropMessage(receiver, key string) error {
	return s.update("drop message "+key, func(t *txn) error { return t.dequeue(receiver, key, "") })
}

// Queues returns the queue of each receiver that has queued messages or findings whose
// notifications are held back, by the name of the receiver.
func (s *Store) Queues() (map[string]model.Queue, error) {
	queues := map[string]model.Queue{}
	err := s.view("read queues", func(t *txn) error {
		paces, err := t.allPaces()
		if err != nil {
			return err
		}
		for receiver, pace := range paces {
			if pace.Untold > 0 {
				queues[receiver] = model.Queue{Untold: pace.Untold}
			}
		}
		return each(t.outbox, nil, func(k, v []byte) error {
			receiver, err := receiverOf(k)
			if err != nil {
				return err
			}
			queue := queues[receiver]
			if queue.Length == 0 {
				q, err := parseQueued(v)
				if err != nil {
					return err
				}
				queue.Oldest = q.at.time()
			}
			queue.Length++
			queues[receiver] = queue
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return queues, nil
}

// A queued message is an entry of the outbox. The fields that are needed without the message itself
// precede the compressed message.
type queued struct {
	begun       bool
	at          moment
	key, thread string
	packed      []byte
}

func (q *queued) encode() []byte {
	b := make([]byte, 1, 1+8+len(q.key)+len(q.thread)+2+len(q.packed))
	if q.begun {
		b[0] = 1
	}
	b = append(append(q.at.append(b), q.key...), 0)
	b = append(append(b, q.thread...), 0)
	return append(b, q.packed...)
}

func parseQueued(v []byte) (queued, error) {
	if len(v) < 9 || v[0] > 1 {
		return queued{}, fmt.Errorf("%w: message of %d bytes", errCorrupt, len(v))
	}
	part := bytes.SplitN(v[9:], []byte{0}, 3)
	if len(part) != 3 {
		return queued{}, fmt.Errorf("%w: message without key and thread", errCorrupt)
	}
	return queued{begun: v[0] == 1, at: momentAt(v[1:]), key: string(part[0]), thread: string(part[1]), packed: part[2]}, nil
}

// queueKey returns the key of a message for a receiver.
func queueKey(receiver string, num uint64) []byte {
	return binary.BigEndian.AppendUint64(prefixOf(receiver), num)
}

// receiverOf decodes the receiver from a queueKey.
func receiverOf(k []byte) (string, error) {
	if n := len(k) - 9; n >= 0 && k[n] == 0 {
		return string(k[:n]), nil
	}
	return "", fmt.Errorf("%w: outbox key %q", errCorrupt, k)
}

func receiptKey(receiver, thread string) []byte { return append(prefixOf(receiver), thread...) }

func (t *txn) parseMessage(k, v []byte) (queued, model.Message, error) {
	var m model.Message
	q, err := parseQueued(v)
	if err != nil {
		return q, m, err
	}
	receiver, err := receiverOf(k)
	if err != nil {
		return q, m, err
	}
	if err := t.unpackJSON(q.packed, &m); err != nil {
		return q, m, fmt.Errorf("message %q: %w", q.key, err)
	}
	if m.Receiver != receiver || m.Key != q.key || m.Thread != q.thread || momentOf(m.At) != q.at {
		return q, m, fmt.Errorf("%w: message %q for %q is stored under %q for %q", errCorrupt, m.Key, m.Receiver, q.key, receiver)
	}
	return q, m, nil
}

// enqueue appends messages to the queues of their receivers, except those that are already queued.
func (t *txn) enqueue(messages []model.Message) error {
	known := map[string]map[string]bool{}
	for i := range messages {
		m := &messages[i]
		if m.Receiver == "" || m.Key == "" || strings.Contains(m.Receiver+m.Key+m.Thread, "\x00") {
			return fmt.Errorf("message %q for receiver %q: want a receiver and a key, and no NUL byte in them or in the thread", m.Key, m.Receiver)
		}
		if known[m.Receiver] == nil {
			keys, err := t.queuedKeys(m.Receiver)
			if err != nil {
				return err
			}
			known[m.Receiver] = keys
		}
		if known[m.Receiver][m.Key] {
			continue
		}
		known[m.Receiver][m.Key] = true
		if err := t.append(m); err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	return nil
}

func (t *txn) append(m *model.Message) error {
	packed, err := t.packJSON(m)
	if err != nil {
		return err
	}
	num, err := t.outbox.next()
	if err != nil {
		return err
	}
	q := queued{at: momentOf(m.At), key: m.Key, thread: m.Thread, packed: packed}
	return t.outbox.put(queueKey(m.Receiver, num), q.encode())
}

func (t *txn) queuedKeys(receiver string) (map[string]bool, error) {
	keys := map[string]bool{}
	_, _, err := t.waiting(receiver, func(q *queued) bool {
		keys[q.key] = true
		return false
	})
	return keys, err
}

// waiting returns the first queued message for a receiver for which wanted returns true; the key is
// nil if there is none.
func (t *txn) waiting(receiver string, wanted func(*queued) bool) (key []byte, q queued, err error) {
	c := t.outbox.cursor()
	for k, v := c.seek(prefixOf(receiver)); bytes.HasPrefix(k, prefixOf(receiver)); k, v = c.next() {
		q, err := parseQueued(v)
		if err != nil {
			return nil, q, err
		}
		if wanted(&q) {
			return bytes.Clone(k), q, nil
		}
	}
	return nil, queued{}, nil
}

// dequeue removes a message and stores the receipt of its thread.
func (t *txn) dequeue(receiver, key, receipt string) error {
	k, q, err := t.waiting(receiver, func(q *queued) bool { return q.key == key })
	if err != nil || k == nil {
		return err
	}
	if receipt != "" {
		packed, err := t.packJSON(receipt)
		if err != nil {
			return err
		}
		if err := t.receipts.put(receiptKey(receiver, q.thread), packed); err != nil {
			return fmt.Errorf("write receipt: %w", err)
		}
	}
	if err := t.outbox.remove(k); err != nil {
		return err
	}
	return t.release(receiver, q.thread)
}

// receipt returns the receipt of a thread; "" if there is none.
func (t *txn) receipt(receiver, thread string) (receipt string, err error) {
	if packed := t.receipts.get(receiptKey(receiver, thread)); packed != nil {
		err = t.unpackJSON(packed, &receipt)
	}
	return receipt, err
}

// release removes the receipt of a thread that is not stored, unless a message of it is queued. The
// thread of an action is stored as long as the action.
func (t *txn) release(receiver, thread string) error {
	key := receiptKey(receiver, thread)
	if t.receipts.get(key) == nil || bytes.HasPrefix(t.threads.get([]byte(thread)), prefixOf(receiver)) {
		return nil
	}
	if id, ok := strings.CutPrefix(thread, model.ActionThread); ok && t.actions.get([]byte(actionPrefix+id)) != nil {
		return nil
	}
	k, _, err := t.waiting(receiver, func(q *queued) bool { return q.thread == thread })
	if err != nil || k != nil {
		return err
	}
	return t.receipts.remove(key)
}
