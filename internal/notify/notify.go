// Package notify plans the messages for each receiver and delivers them. Planning is a
// pure function. Each type of receiver has its own package. Package all lists them.
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
	// Notify delivers one message. If the entry is Begun, the message may have arrived
	// before: Notify checks that first if the receiver can be queried. The receipt of a
	// thread's first message is passed with the later messages of the thread. After an
	// error wrapped by Permanent, the receiver is stopped. After an error wrapped by
	// Refused, only this message is dropped.
	Notify(context.Context, model.OutboxEntry) (receipt string, err error)
}

// A Mirror is a receiver that gets all open findings at intervals, instead of news.
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

// A Handler carries out the requests of people. Errors are shown to the person.
type Handler interface {
	// Decide makes the decision that a Request asks for. The answer is shown to all.
	Decide(context.Context, Request) (answer string, err error)
	// Action returns the present state of an action.
	Action(id string) (model.ActionNotice, error)
	// AnswerAction approves or declines an action. An approved action is carried out before it
	// returns.
	AnswerAction(context.Context, ActionAnswer) error
}

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
	// Until is the end of the decision, in the format of decide.ParseUntil. "" is the
	// default of the kind.
	Until string
}

// An ActionAnswer is the answer of a person to an action.
type ActionAnswer struct {
	// Action is the ID of the action.
	Action string
	// Approve approves what Digest stands for. Otherwise the action is declined.
	Approve bool
	Digest  string
	// Receiver is the receiver at which the person answered.
	Receiver string
	// By is the name of the person. For an approval it is that of a person of the configuration.
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
	// Sources and Declarations are the names in the configuration that have the type of the receiver.
	Sources, Declarations []string
	// Person returns the person with a user ID in Slack, or "" if there is none. It may be nil.
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
	// Each is set if each finding has messages of its own, which a Notifier for records needs: a message of several findings
	// does not have all.
	Each bool
	// Concerns reports whether the Notifier has messages about a finding; nil means about all.
	Concerns func(*model.Finding) bool
}

// Define returns the Definition of type typ. open gets the defaults, overridden by the
// settings of the configuration.
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

// Partial returns err marked as ErrPartial.
func Partial(err error) error { return marked{err, ErrPartial} }

// Later is an error with the pause before the next attempt.
type Later struct {
	// After is the pause. Values below or equal to 0 are ignored.
	After time.Duration
	Err   error
}

// Error returns the text of Err.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns Err.
func (l *Later) Unwrap() error { return l.Err }
