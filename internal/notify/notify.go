// Package notify tells people of findings: it plans what each receiver is to be
// told, which is pure, and delivers that. Each kind of receiver is a folder of
// its own below; package all lists them.
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
	// Notify delivers one message. Where the parcel says that a delivery was
	// begun before, the message may have arrived: a receiver that can be asked
	// is asked first. The receipt of a thread's first message comes back with
	// the thread's later ones. An error wrapped by Permanent is not retried,
	// and one wrapped by Refused gives up this message alone.
	Notify(context.Context, model.Parcel) (receipt string, err error)
}

// A Mirror is a receiver that is told again and again what is open, instead of
// what is new.
type Mirror interface {
	// Show tells what is open now. It is called after each change, and at least
	// once every Every.
	Show(ctx context.Context, open []model.Finding) error
	Every() time.Duration
}

// A Listener is a receiver through which people answer.
type Listener interface {
	// Listen takes answers until ctx ends. It recovers from broken connections
	// by itself.
	Listen(ctx context.Context, decide Decide) error
}

// Decide carries out what somebody asked for; the answer says what was done,
// in words for them. An error is for them too.
type Decide func(context.Context, Request) (answer string, err error)

// A Request is what somebody wants decided about all open findings of a thread.
type Request struct {
	Kind model.DecisionKind
	// Receiver, Thread and Sequence say which message showed the button: what
	// was told later is not meant.
	Receiver, Thread string
	Sequence         int
	Reason, Owner    string
	// By is who asks, in words that people know.
	By string
	// Until is when it ends, in words that decide.ParseUntil reads; "" stands for
	// the kind's default.
	Until string
}

// Env is what a receiver gets besides its settings.
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

// A Receiver is one place where people are told. Exactly one of Notifier and
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

// ErrPermanent marks what no repetition mends: a revoked token, a channel that
// is gone. Nothing more is sent to the receiver until somebody has looked.
var ErrPermanent = errors.New("permanent")

// ErrRefused marks a message that the receiver will never take, although it
// takes others.
var ErrRefused = errors.New("refused")

// ErrPartial marks what one of a mirror's places took, though not all of them.
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

// Later is an error of a receiver that says itself when to try again.
type Later struct {
	After time.Duration
	Err   error
}

// Error returns what went wrong.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns what went wrong.
func (l *Later) Unwrap() error { return l.Err }
