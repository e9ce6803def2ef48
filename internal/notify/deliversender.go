package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const (
	// callTimeout bounds one call to a receiver.
	callTimeout = 30 * time.Second
	// grace is how long a delivery may go on after the end was asked for: what
	// is broken off may have arrived, and not every receiver can be asked.
	grace = 3 * time.Second
)

// A sender takes the messages of one receiver to it.
type sender struct {
	o    *Options
	name string
	to   Notifier
	// over is what became of the last message, until the outbox knows.
	over *ending
}

// An ending is what became of a message: it arrived, or was refused.
type ending struct {
	key, receipt string
	refused      error
}

// deliver is a turn: it delivers one message. One whose end the outbox could
// not note is not sent again while the Deliverer lives.
func (s *sender) deliver(ctx context.Context) (bool, error) {
	if s.over == nil {
		parcel, ok, err := s.o.Outbox.NextParcel(s.name)
		switch {
		case err != nil:
			return false, fmt.Errorf("read outbox: %w", err)
		case !ok:
			return false, nil
		}
		if s.over, err = s.send(ctx, parcel); err != nil {
			return false, err
		}
	}
	over := s.over
	if err := s.conclude(over); err != nil {
		return false, fmt.Errorf("write outbox: %w", err)
	}
	s.over = nil
	return true, over.refused
}

func (s *sender) send(ctx context.Context, parcel model.Parcel) (*ending, error) {
	key := parcel.Message.Key
	if !parcel.Begun {
		if err := s.o.Outbox.BeginDelivery(s.name, key); err != nil {
			return nil, fmt.Errorf("write outbox: %w", err)
		}
	}
	call, cancel := graceful(ctx)
	defer cancel()
	receipt, err := s.to.Notify(call, parcel)
	switch {
	case errors.Is(err, ErrRefused):
		return &ending{key: key, refused: fmt.Errorf("drop message %s: %w", key, err)}, nil
	case err != nil:
		return nil, err
	}
	return &ending{key: key, receipt: receipt}, nil
}

// conclude notes in the outbox what became of a message.
func (s *sender) conclude(over *ending) error {
	if over.refused != nil {
		return s.o.Outbox.DropMessage(s.name, over.key)
	}
	return s.o.Outbox.EndDelivery(s.name, over.key, over.receipt)
}

// graceful returns the context of one call, which outlives ctx by a moment.
func graceful(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-call.Done():
		case <-time.After(grace):
			cancel()
		}
	})
	return call, func() { stop(); cancel() }
}
