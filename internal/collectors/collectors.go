// Package collectors defines the interfaces of the code that reads live systems. Each type of
// collector has a package in a subfolder; package all lists them.
package collectors

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/driftd/driftd/internal/model"
)

// A Collector reads the live state of one source. It never writes to the source.
type Collector interface {
	// Collect reads the whole source once. A scope that could not be read is not an error; the
	// coverage of the snapshot contains it with the reason. Collect returns an error only if
	// nothing could be read.
	Collect(context.Context) (model.Snapshot, error)
}

// A Watcher is a Collector that can follow its source.
type Watcher interface {
	// Watch calls changed with a complete new snapshot soon after a change in the source. If the
	// source becomes unreachable, Watch calls lost with the reason within 25 s, once per outage,
	// and changed when the source is reachable again. It never calls the two functions
	// concurrently. It reopens broken streams and returns when ctx ends.
	Watch(ctx context.Context, changed func(model.Snapshot), lost func(error)) error
}

// A Notifier is a Collector that is notified of changes in its source, but not of what changed.
type Notifier interface {
	// Notify calls changed soon after changes in the source, and never concurrently. It returns when
	// ctx ends. The function changed reads the source, and returns afterwards. Failures are logged by
	// Notify, which tries again.
	Notify(ctx context.Context, changed func()) error
}

// A Taker is a Collector that takes messages from a queue, which no other source may have.
type Taker interface {
	// Takes returns the setting and the name of the queue, such as "audit.queue
	// arn:aws:sqs:eu-central-1:123456789012:driftd"; "" if there is none.
	Takes() string
}

// An ObjectCollector is a Collector that can read single objects.
type ObjectCollector interface {
	// CollectObjects reads the named objects, and all objects that contain one of them or that one
	// of them contains, now or in last, which is the last snapshot of the source. In the result,
	// Reread lists all objects that were read, and Resources those that exist. The result has no
	// coverage and no kinds, and only positions that do not depend on the objects read.
	// Snapshot.With adds it to a snapshot, whose coverage decides whether an object that was not
	// found counts as absent.
	//
	// CollectObjects returns a *WholeError if the whole source must be read instead. The names come
	// from events, which can be forged, so they may be arbitrary texts.
	CollectObjects(ctx context.Context, names []model.ObjectName, last *model.Snapshot) (model.Snapshot, error)
}

// A Prober is a Collector that can test the access to its source without reading all of it.
type Prober interface {
	// Probe returns the version and the address of the source, the user, and the scopes that this
	// user can read. It returns an error if nothing can be read.
	Probe(context.Context) (Probe, error)
}

// A Canonicalizer converts declared resources to the form in which the source would store them. It
// does not change the source.
type Canonicalizer interface {
	// Canonicalize returns copies of the claims with their values as the source would store them. A
	// claim that the source rejects keeps its value.
	Canonicalize(context.Context, []model.Claim) ([]model.Claim, error)
}

// A Listener is a Collector that receives events from its source.
type Listener interface {
	// Hook returns the handler for the requests of the source, or nil if no requests are expected.
	// The handler authenticates the sender and is safe for concurrent use.
	Hook() http.Handler
}

// A Linker is a Collector whose source has web pages for its objects.
type Linker interface {
	// Link returns the address of the page of an object; "" if it has none. It sends no request.
	Link(model.Ref) string
}

// A Probe is the result of a Prober. Identity is the user of the credentials, and Coverage lists
// the scopes that this user can and cannot read.
type Probe struct {
	Version  string           `json:"version"`
	Identity string           `json:"identity"`
	Endpoint string           `json:"endpoint"`
	Coverage []model.Coverage `json:"coverage"`
}

// An Env contains the inputs of a collector other than its settings.
type Env struct {
	// Name is the name of the source.
	Name string
	// Sealer digests sensitive values as soon as they are read.
	Sealer model.Sealer
	// CacheDir is a folder that only this collector uses and that may be emptied at any time; "" if
	// there is none.
	CacheDir string
	Log      *slog.Logger
}

// A Decoder decodes the settings in the configuration file into a struct, to which into must point.
// It returns an error for an unknown key. It makes relative paths in fields with the tag
// `path:"true"` absolute.
type Decoder func(into any) error

// A Definition describes one type of collector. Open creates a collector with the settings that the
// Decoder decodes.
type Definition struct {
	Type string
	Open func(Env, Decoder) (Collector, error)
}

// Define returns the definition of the collector type typ. Settings that are missing from the
// configuration have the values in defaults. The function open must not use the network.
func Define[C any](typ string, defaults C, open func(Env, C) (Collector, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Collector, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
