// Package declared defines what reads declarations: the places where intent is
// written. Each loader is a folder of its own below; package all lists them.
package declared

import (
	"context"
	"log/slog"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
)

// A Loader reads what one declaration says. It never writes to it.
type Loader interface {
	// Load reads the whole declaration once. A part that cannot be read is a
	// Problem, or an unchecked claim where it is known what it speaks of. An
	// error means that nothing could be read at all.
	Load(context.Context) (model.Declaration, error)
}

// A Historian is a Loader that can also read what its declaration declared at
// earlier commits. It is asked only about claims with a field that is live and
// recorded but not declared.
type Historian interface {
	// History returns what was declared of each claim before revision, the one
	// that Load returned with the claims. It asks the remote for the ref's head
	// first. Where that is not revision any more, it returns the new Head and no
	// Pasts: the caller loads again. An error means that the head is not known;
	// what else cannot be read is a Past's Gap.
	History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error)
}

// A Deriver reads an inventory out of what a source holds. It is pure: the same
// look gives the same declaration.
type Deriver interface {
	// From is the name of the source.
	From() string
	// Derive returns what the look declares. An error means that nothing could
	// be told of it.
	Derive(model.Snapshot) (model.Declaration, error)
}

// Env is what a loader gets besides its settings.
type Env struct {
	// Name of the declaration.
	Name string
	// Governs are the names of the sources that it speaks of.
	Governs []string
	// Types are the types of all sources of the estate ("proxmox"), by name; "" is a
	// type that does not exist.
	Types map[string]string
	// Sealer digests sensitive values the moment that they are read.
	Sealer model.Sealer
	// CacheDir is a folder of the loader's own (clones); it may be emptied
	// between two loads.
	CacheDir string
	// Boxes start the processes in which foreign input is expanded.
	Boxes *box.Pool
	Log   *slog.Logger
}

// A Decoder fills a settings struct from the configuration file: unknown keys
// are errors. Relative paths in fields tagged `path:"true"` come out absolute.
type Decoder func(into any) error

// A Definition makes loaders of one type.
type Definition struct {
	Type string
	// Alone tells that its declarations may govern no source: their loaders
	// read the live side themselves.
	Alone bool
	// ClaimsNothing tells that they hold no claims: there is nothing live that
	// they speak of.
	ClaimsNothing bool
	// Open makes a loader; nil where Derive makes a deriver instead.
	Open   func(Env, Decoder) (Loader, error)
	Derive func(Env, Decoder) (Deriver, error)
}

// LiveSource is the name under which the live side appears that a declaration's
// own engine reads. No configured source can have it.
func LiveSource(declaration string) string { return "plan:" + declaration }

// Define returns the definition of a loader type whose settings begin as
// defaults.
func Define[C any](typ string, defaults C, open func(Env, C) (Loader, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Loader, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}

// DefineDerived returns the definition of a type whose declarations a source
// holds, and whose settings begin as defaults.
func DefineDerived[C any](typ string, defaults C, open func(Env, C) (Deriver, error)) Definition {
	return Definition{Type: typ, Derive: func(env Env, decode Decoder) (Deriver, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
