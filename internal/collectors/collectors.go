// Package collectors defines what reads live systems. Each collector is a
// folder of its own below; package all lists them.
package collectors

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/driftd/driftd/internal/model"
)

// A Collector reads the live state of one source. It never writes to it.
type Collector interface {
	// Collect looks at the whole source once. What could not be read narrows
	// the snapshot's coverage, with the reason. An error means that nothing
	// could be read at all.
	Collect(context.Context) (model.Snapshot, error)
}

// A Watcher is a Collector that can follow its source.
type Watcher interface {
	// Watch calls changed with a whole new snapshot soon after something changed,
	// and lost with the reason within 25 s after the source went out of reach,
	// once for each outage; when the source is back, changed follows. It never
	// calls them at the same time. It recovers from broken streams by itself and
	// returns when ctx ends.
	Watch(ctx context.Context, changed func(model.Snapshot), lost func(error)) error
}

// A Prober tells what a source is and what of it can be read.
type Prober interface {
	Probe(context.Context) (Probe, error)
}

// A Canonicalizer asks the source what it would make of declared resources,
// without changing it.
type Canonicalizer interface {
	// Canonicalize returns the claims with their values as the source would
	// store them. A claim that the source refuses keeps its value.
	Canonicalize(context.Context, []model.Claim) ([]model.Claim, error)
}

// A Listener is a Collector that its source tells of what happens there.
type Listener interface {
	// Hook returns what serves the requests of the source, which checks who
	// sends them; nil when none are expected. It is safe for concurrent use.
	Hook() http.Handler
}

// Probe is the answer to "who am I there, and what can I see".
type Probe struct {
	Version  string           `json:"version"`
	Identity string           `json:"identity"`
	Endpoint string           `json:"endpoint"`
	Coverage []model.Coverage `json:"coverage"`
}

// Env is what a collector gets besides its settings.
type Env struct {
	// Name of the source.
	Name string
	// Sealer digests sensitive values the moment that they are read.
	Sealer model.Sealer
	// CacheDir is a folder of the collector's own that may be emptied at any
	// time; "" when there is none.
	CacheDir string
	Log      *slog.Logger
}

// A Decoder fills a settings struct from the configuration file: unknown keys
// are errors. Relative paths in fields tagged `path:"true"` come out absolute.
type Decoder func(into any) error

// A Definition makes collectors of one type.
type Definition struct {
	Type string
	Open func(Env, Decoder) (Collector, error)
}

// Define returns the definition of a collector type whose settings begin as
// defaults. Opening reads no network.
func Define[C any](typ string, defaults C, open func(Env, C) (Collector, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Collector, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
