// Package declared defines the loaders of declarations, which read declared state. Each loader has a
// package of its own below this one; package all lists them.
package declared

import (
	"context"
	"io/fs"
	"log/slog"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
)

// A Loader reads a declaration. It never modifies the declared state.
type Loader interface {
	// Load reads the declaration. A part that cannot be read becomes a Problem, or an unchecked claim if
	// its resource can be identified. If nothing can be read, Load returns an error.
	Load(context.Context) (model.Declaration, error)
}

// A PlainLoader is a Loader that can also return the data of Secrets in plain text. Load replaces this data
// by digests.
type PlainLoader interface {
	// LoadPlain is like Load, but does not replace the data of Secrets. The caller must not store the
	// result.
	LoadPlain(context.Context) (model.Declaration, error)
}

// A Historian is a Loader that can also read its declaration at earlier commits. Its History is called only
// for claims with a field that has a live and a recorded value but no declared one.
type Historian interface {
	// History returns the state that each claim declared before revision, the revision that Load returned
	// together with the claims. It first fetches the head of the ref from the remote. If the head differs
	// from revision, the result has the new Head and no Pasts, and the caller must load again. History
	// returns an error if the head cannot be determined; it reports any other failure in the Gap of a Past.
	History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error)
}

// A Deriver derives a declaration from a snapshot of a source. It is pure: the same snapshot
// gives the same declaration.
type Deriver interface {
	// From returns the name of the source.
	From() string
	// Derive returns the declaration that the snapshot contains. It returns an error if no declaration can
	// be derived.
	Derive(model.Snapshot) (model.Declaration, error)
	// Object returns the object of the source to which the address of a claim refers. ok is false if the
	// address does not refer to an object of the source.
	Object(address string) (ref model.Ref, ok bool)
}

// Env is the environment of a loader: everything that it needs apart from its settings.
type Env struct {
	// Name is the name of the declaration.
	Name string
	// Governs are the names of the sources that the declaration governs.
	Governs []string
	// Types maps the names of all configured sources to their types, such as "proxmox". The type is "" if
	// it is unknown.
	Types map[string]string
	// Sealer replaces sensitive values as soon as they are read.
	Sealer model.Sealer
	// CacheDir is a folder that only this loader uses. CloneDir is a folder for clones of repositories; the
	// members of a declaration with a pattern share it. Either may be emptied between two calls of Load.
	CacheDir, CloneDir string
	// Check checks the files of the declaration. It is nil if no checks are configured.
	Check Check
	// MaxMemory is the maximum size of the memory of a sandbox, and of the result of one Load, in bytes.
	MaxMemory int64
	// Boxes starts the sandbox processes that expand untrusted input.
	Boxes *box.Pool
	// Helm is the path of the program that renders Helm charts in a sandbox, or "" if it is not installed.
	Helm string
	Log  *slog.Logger
}

// A Check checks the files of a declaration. It returns a function that adds the failed checks to the
// declaration. The function may be called after the files have been removed.
type Check func(context.Context, Files) (add func(*model.Declaration), err error)

// Files are the files of a declaration for a Check.
type Files struct {
	FS fs.FS
	// Root is the path of the declared folder or file in FS. Repository is the URL of the repository, or ""
	// if there is none.
	Root, Repository string
	// Pinned is the time of the commit that is read if the head of the default branch is a different
	// commit. Otherwise it is zero.
	Pinned time.Time
	// Address returns the address of a file as it appears in findings.
	Address func(name string) string
	// Authors returns, by name, who last changed each file. If the history does not contain the change, the
	// actor is unknown and has the reason.
	Authors func(ctx context.Context, names []string) map[string]model.Actor
}

// A Decoder decodes the settings of a declaration into a struct. It returns an error for unknown keys. It
// makes relative paths in fields with the tag `path:"true"` absolute.
type Decoder func(into any) error

// A Definition defines a declaration type and creates its loaders. Exactly one of Open and Derive is set.
type Definition struct {
	Type string
	// Alone reports whether a declaration may govern no sources, because its loader reads the live state
	// itself.
	Alone bool
	// IsMember reports whether a folder is a declaration of its own, for patterns in the settings dir and
	// path. deep reports whether the pattern matches folders at any depth. IsMember is nil if declarations
	// of the type do not accept patterns.
	IsMember func(fsys fs.FS, dir string, deep bool) (bool, error)
	// ClaimsNothing reports whether declarations of the type make no claims about live resources.
	ClaimsNothing bool
	// Open creates a loader. It is nil if declarations of the type are derived, in which case Derive
	// creates a deriver.
	Open   func(Env, Decoder) (Loader, error)
	Derive func(Env, Decoder) (Deriver, error)
}

// Define returns the definition of a loader type. Its Open decodes the settings over defaults, and passes
// them to open.
func Define[C any](typ string, defaults C, open func(Env, C) (Loader, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Loader, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}

// DefineDerived returns the definition of a type whose declarations are derived from a source. Its Derive
// decodes the settings over defaults, and passes them to open.
func DefineDerived[C any](typ string, defaults C, open func(Env, C) (Deriver, error)) Definition {
	return Definition{Type: typ, Derive: func(env Env, decode Decoder) (Deriver, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
