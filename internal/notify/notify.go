// Package notify plans the messages for each receiver and delivers them. Planning is pure. Each type of
// receiver has a package of its own; package all lists them.
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
	// Notify delivers one message. If the entry is Begun, the message may already have been delivered;
	// Notify checks this first if the receiver can be queried. The receipt of the first message of a thread
	// is passed with the later messages of the thread. After an error from Permanent or Refused, the message
	// is sent again without names and values from live systems. If that fails, too, the receiver is stopped
	// after an error from Permanent, and only this message is dropped after one from Refused.
	Notify(context.Context, model.OutboxEntry) (receipt string, err error)
}

// A Mirror is a receiver that is sent all open findings at intervals, instead of news.
type Mirror interface {
	// Show replaces the findings at the receiver by open. It is called after each change,
	// and at least once in each interval of Every.
	Show(ctx context.Context, open []model.Finding) error
	// Every returns the interval. Intervals of less than a second count as a second.
	Every() time.Duration
}

// A Listener receives requests that people make at the receiver, such as clicks on
// buttons.
type Listener interface {
	// Listen passes requests to handler until ctx ends. It reconnects after errors.
	Listen(ctx context.Context, handler Handler) error
}

// A Handler handles the requests of people. Its errors are displayed to the person.
type Handler interface {
	// Decide makes the decision that a Request describes. The answer is visible to everyone in the channel.
	Decide(context.Context, Request) (answer string, err error)
	// Action returns the current state of an action.
	Action(id string) (model.ActionNotice, error)
	// AnswerAction approves or declines an action. It returns after an approved action has been carried
	// out.
	AnswerAction(context.Context, ActionAnswer) error
}

// A Request is a request for a decision about all open findings of a thread.
type Request struct {
	Kind model.DecisionKind
	// Receiver, Thread and Sequence identify the message with the button. Findings of
	// later messages are not included.
	Receiver, Thread string
	Sequence         int
	Reason, Owner    string
	// By is the name of the person.
	By string
	// Until is the end of the decision, in the format of decide.ParseUntil. "" means the default of the
	// kind.
	Until string
}

// An ActionAnswer is a person's answer to a proposed action.
type ActionAnswer struct {
	// Action is the ID of the action.
	Action string
	// Approve reports whether the person approves the plan with the digest Digest. Otherwise the person
	// declines the action.
	Approve bool
	Digest  string
	// Receiver is the receiver at which the person answered.
	Receiver string
	// By is the name of the person. For an approval, it must be in the table of people.
	By, Reason string
}

// Env is the environment of a receiver.
type Env struct {
	// Name is the name of the receiver.
	Name string
	// Version is the version of driftd.
	Version string
	// URL is the address of driftd's web pages, or "".
	URL string
	// Sources and Declarations are the names of the configured sources and declarations that have the same
	// type as the receiver.
	Sources, Declarations []string
	// Person returns the name of the person with a user ID in Slack, or "" if there is none. It may be nil.
	Person func(user string) string
	// Now is the clock.
	Now func() time.Time
	// Log is the logger of the receiver.
	Log *slog.Logger
}

// A Decoder sets the fields of a settings struct from the configuration file. An unknown
// key is an error. Relative paths in fields tagged `path:"true"` become absolute.
type Decoder func(into any) error

// A Definition describes a type of receiver.
type Definition struct {
	// Type is the name of the type in the configuration.
	Type string
	// Open returns a receiver with the settings that the Decoder reads.
	Open func(Env, Decoder) (Receiver, error)
}

// A Receiver is a destination of notifications. Exactly one of Notifier and Mirror is
// set. Listener is optional.
type Receiver struct {
	Notifier Notifier
	Mirror   Mirror
	Listener Listener
	// Each reports whether each finding has messages of its own. A Notifier that keeps records requires
	// this, because a message with several findings may omit some.
	Each bool
	// Concerns reports whether the Notifier sends messages about a finding. nil means that it does for all
	// findings.
	Concerns func(*model.Finding) bool
}

// Define returns the definition of a receiver type. Its Open decodes the settings over defaults, and passes
// them to open.
func Define[C any](typ string, defaults C, open func(Env, C) (Receiver, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Receiver, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return Receiver{}, err
		}
		return open(env, settings)
	}}
}

// ErrPermanent marks an error that a retry does not fix, such as a revoked token or a
// deleted channel. The receiver is stopped until driftd is reloaded.
var ErrPermanent = errors.New("permanent")

// ErrRefused marks an error of a single message: the receiver does not accept it, but may
// accept others.
var ErrRefused = errors.New("refused")

// ErrPartial marks an error of a mirror with several servers, of which at least one
// succeeded.
var ErrPartial = errors.New("partial")

// A marked error carries ErrPermanent, ErrRefused or ErrPartial.
type marked struct {
	error
	mark error
}

// Unwrap returns both the error and its mark.
func (m marked) Unwrap() []error { return []error{m.error, m.mark} }

// Permanent returns err marked as ErrPermanent.
func Permanent(err error) error { return marked{err, ErrPermanent} }

// Refused returns err marked as ErrRefused.
func Refused(err error) error { return marked{err, ErrRefused} }

// IsFinal reports whether a retry of the same message does not help: err is marked as ErrPermanent or ErrRefused.
func IsFinal(err error) bool { return errors.Is(err, ErrPermanent) || errors.Is(err, ErrRefused) }

// Partial returns err marked as ErrPartial.
func Partial(err error) error { return marked{err, ErrPartial} }

// Later is an error that requests a pause before the next attempt.
type Later struct {
	// After is the pause. Values below or equal to 0 are ignored.
	After time.Duration
	Err   error
}

// Error returns the text of Err.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns Err.
func (l *Later) Unwrap() error { return l.Err }
