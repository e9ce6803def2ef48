// Package collectors defines the interfaces of the code that reads live systems. Each
// collector has a folder of its own below this one; package all lists them.
package collectors

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/driftd/driftd/internal/model"
)

// A Collector reads the live state of one source. It never writes to it.
type Collector interface {
	// Collect reads the whole source once. The snapshot's coverage lists the scopes
	// that could not be read, with the reason. An error means that nothing could be
	// read at all.
	Collect(context.Context) (model.Snapshot, error)
}

// A Watcher is a Collector that can follow its source.
type Watcher interface {
	// Watch calls changed with a complete new snapshot soon after a change. It calls
	// lost with the reason within 25 s after the source became unreachable, once for
	// each outage, and changed when the source is reachable again. The two functions
	// never run at the same time. Watch reopens broken streams and returns when ctx
	// ends.
	Watch(ctx context.Context, changed func(model.Snapshot), lost func(error)) error
}

// An ObjectCollector is a Collector that can read single objects.
type ObjectCollector interface {
	// CollectObjects reads the named objects, and those that belong to one of them or to
	// which one of them belongs, now or in the last snapshot of the source. The result
	// has in Reread all objects that it read, and in Resources those of them that are
	// present; Snapshot.With adds it to a snapshot. Its positions are only those that do
	// not depend on what was read. It has neither coverage nor kinds: those of the
	// snapshot remain in force, so an object is absent only if the snapshot could prove
	// that now. An error of type *WholeError means that single objects do not suffice.
	// Names may be of anything: they come from events, which anyone may have forged.
	CollectObjects(ctx context.Context, names []model.ObjectName, last *model.Snapshot) (model.Snapshot, error)
}

// A Prober returns the identity of a source and the scopes that can be read.
type Prober interface {
	Probe(context.Context) (Probe, error)
}

// A Canonicalizer returns declared resources as the source would store them. It does
// not change the source.
type Canonicalizer interface {
	// Canonicalize returns the claims with their values as the source would
	// store them. A claim that the source refuses keeps its value.
	Canonicalize(context.Context, []model.Claim) ([]model.Claim, error)
}

// A Listener is a Collector that receives events from its source.
type Listener interface {
	// Hook returns the handler of the source's requests, or nil if none are expected.
	// The handler authenticates the sender. It is safe for concurrent use.
	Hook() http.Handler
}

// A Linker is a Collector whose source has web pages for its objects.
type Linker interface {
	// Link returns the address of an object's page; "" if it has none. It sends no request.
	Link(model.Ref) string
}

// A Probe is the result of a Prober: the user of the credentials and the scopes that
// the user can read.
type Probe struct {
	Version  string           `json:"version"`
	Identity string           `json:"identity"`
	Endpoint string           `json:"endpoint"`
	Coverage []model.Coverage `json:"coverage"`
}

// Env holds the inputs of a collector other than its settings.
type Env struct {
	// Name of the source.
	Name string
	// Sealer digests sensitive values as soon as they are read.
	Sealer model.Sealer
	// CacheDir is a folder that only this collector uses and that may be emptied at
	// any time; "" if there is none.
	CacheDir string
	Log      *slog.Logger
}

// A Decoder fills a settings struct from the configuration file. Unknown keys are
// errors. It makes relative paths in fields tagged `path:"true"` absolute.
type Decoder func(into any) error

// A Definition opens collectors of one type.
type Definition struct {
	Type string
	Open func(Env, Decoder) (Collector, error)
}

// Define returns the definition of a collector type. Settings that the configuration
// does not have are those of defaults. Open must not use the network.
func Define[C any](typ string, defaults C, open func(Env, C) (Collector, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Collector, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
