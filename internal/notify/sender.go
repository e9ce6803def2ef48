package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const (
	// callTimeout is the timeout of one call to a receiver.
	callTimeout = 30 * time.Second
	// gracePeriod is the time for which a delivery may continue after ctx has ended. An
	// interrupted message may have arrived, and not every receiver can be queried for it.
	gracePeriod = 3 * time.Second
)

// A sender delivers the messages of one receiver.
type sender struct {
	o    *Options
	name string
	to   Notifier
	// unrecorded is the outcome of the last message until it is written to the outbox.
	unrecorded *outcome
}

// An outcome is the result of a delivery: the message arrived or was refused.
type outcome struct {
	key, receipt string
	// refused is the error of a message that the receiver refused.
	refused error
}

// deliver is the task that delivers one message. If the outcome cannot be written to the
// outbox, deliver retries the write, and does not send the message again.
func (s *sender) deliver(ctx context.Context) (bool, error) {
	if s.unrecorded == nil {
		entry, ok, err := s.o.Outbox.NextOutboxEntry(s.name)
		switch {
		case err != nil:
			return false, fmt.Errorf("read outbox: %w", err)
		case !ok:
			return false, nil
		}
		if s.unrecorded, err = s.send(ctx, entry); err != nil {
			return false, err
		}
	}
	out := s.unrecorded
	if err := s.record(out); err != nil {
		return false, fmt.Errorf("write outbox: %w", err)
	}
	s.unrecorded = nil
	return true, out.refused
}

// send sends entry to the receiver.
func (s *sender) send(ctx context.Context, entry model.OutboxEntry) (*outcome, error) {
	key := entry.Message.Key
	if !entry.Begun {
		if err := s.o.Outbox.BeginDelivery(s.name, key); err != nil {
			return nil, fmt.Errorf("write outbox: %w", err)
		}
	}
	call, cancel := callContext(ctx)
	defer cancel()
	receipt, err := s.to.Notify(call, entry)
	if call.Err() == nil && IsFinal(err) {
		short := entry
		short.Message = reduced(&entry.Message)
		if other, again := s.to.Notify(call, short); again == nil {
			s.o.Log.Warn("receiver refused the contents of a message: sent it without", "receiver", s.name, "message", key, "err", shortError(err))
			receipt, err = other, nil
		}
	}
	switch {
	case errors.Is(err, ErrRefused):
		return &outcome{key: key, refused: fmt.Errorf("drop message %s: %w", key, err)}, nil
	case err != nil:
		return nil, err
	}
	return &outcome{key: key, receipt: receipt}, nil
}

// record writes an outcome to the outbox.
func (s *sender) record(out *outcome) error {
	if out.refused != nil {
		return s.o.Outbox.DropMessage(s.name, out.key)
	}
	return s.o.Outbox.EndDelivery(s.name, out.key, out.receipt)
}

// callContext returns the context of one call. It ends after callTimeout, or after the
// gracePeriod when ctx has ended.
func callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-call.Done():
		case <-time.After(gracePeriod):
			cancel()
		}
	})
	return call, func() { stop(); cancel() }
}
