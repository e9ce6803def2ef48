// Package notify plans the messages for each receiver, which is pure, and delivers
// them. Each type of receiver has its own folder; package all lists them.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Notifier delivers messages to one receiver, one at a time and in order.
type Notifier interface {
	// Notify delivers one message. Where a delivery of the entry was begun before, the
	// message may have arrived: a receiver with a query for that is queried first. The receipt of a thread's first message comes back with
	// the thread's later ones. An error wrapped by Permanent is not retried,
	// and one wrapped by Refused gives up this message alone.
	Notify(context.Context, model.OutboxEntry) (receipt string, err error)
}

// A Mirror is a receiver that gets all open findings at intervals, instead of news.
type Mirror interface {
	// Show shows the open findings. It is called after each change, and at least once in
	// each interval of Every.
	Show(ctx context.Context, open []model.Finding) error
	Every() time.Duration
}

// A Listener is a receiver that takes requests of people, as from buttons.
type Listener interface {
	// Listen handles requests until ctx ends. It reconnects after errors.
	Listen(ctx context.Context, decide Decide) error
}

// Decide makes a decision. The answer, or the error, is shown to the person who asked.
type Decide func(context.Context, Request) (answer string, err error)

// A Request asks for a decision about all open findings of a thread.
type Request struct {
	Kind model.DecisionKind
	// Receiver, Thread and Sequence identify the message with the button. Findings of
	// later messages are not included.
	Receiver, Thread string
	Sequence         int
	Reason, Owner    string
	// By is the name of the person.
	By string
	// Until is when the decision ends, in the format of decide.ParseUntil; "" is the
	// default of the kind.
	Until string
}

// Env is the environment of a receiver.
type Env struct {
	// Name of the receiver.
	Name string
	// Version of driftd.
	Version string
	// URL is where driftd's pages begin, or "".
	URL string
	Now func() time.Time
	Log *slog.Logger
}

// A Decoder fills a settings struct from the configuration file: unknown keys
// are errors. Relative paths in fields tagged `path:"true"` come out absolute.
type Decoder func(into any) error

// A Definition makes receivers of one type: Notifiers, or Mirrors.
type Definition struct {
	Type string
	Open func(Env, Decoder) (Receiver, error)
}

// A Receiver is a destination of notifications. Exactly one of Notifier and
// Mirror is set; Listener may be.
type Receiver struct {
	Notifier Notifier
	Mirror   Mirror
	Listener Listener
}

// Define returns the definition of a receiver type whose settings begin as
// defaults.
func Define[C any](typ string, defaults C, open func(Env, C) (Receiver, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Receiver, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return Receiver{}, err
		}
		return open(env, settings)
	}}
}

// ErrPermanent marks an error that a retry does not fix: a revoked token, a deleted
// channel. The receiver is stopped until driftd is reloaded.
var ErrPermanent = errors.New("permanent")

// ErrRefused marks a message that the receiver does not accept, although it accepts
// others.
var ErrRefused = errors.New("refused")

// ErrPartial marks an error of some servers of a mirror, but not of all.
var ErrPartial = errors.New("partial")

// A marked error is one of the above.
type marked struct {
	error
	mark error
}

// Unwrap returns both the error and its mark.
func (m marked) Unwrap() []error { return []error{m.error, m.mark} }

// Permanent marks an error as ErrPermanent.
func Permanent(err error) error { return marked{err, ErrPermanent} }

// Refused marks an error as ErrRefused.
func Refused(err error) error { return marked{err, ErrRefused} }

// Partial marks an error as ErrPartial.
func Partial(err error) error { return marked{err, ErrPartial} }

// Later is an error with a time for the next attempt.
type Later struct {
	After time.Duration
	Err   error
}

// Error returns what went wrong.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns what went wrong.
func (l *Later) Unwrap() error { return l.Err }
