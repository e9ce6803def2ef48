// Package declared defines the loaders of declarations, the places of declared state. Each
// loader has a folder of its own below; package all lists them.
package declared

import (
	"context"
	"io/fs"
	"log/slog"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
)

// A Loader reads one declaration. It never writes to it.
type Loader interface {
	// Load reads the whole declaration once. A part that cannot be read is a Problem, or an
	// unchecked claim if its resource is known. An error means that nothing could be read at
	// all.
	Load(context.Context) (model.Declaration, error)
}

// A PlainLoader is a Loader that can also read its declaration with the data of Secrets, which Load replaces by digests.
type PlainLoader interface {
	// LoadPlain is Load without digests. The result must not be stored.
	LoadPlain(context.Context) (model.Declaration, error)
}

// A Historian is a Loader that can also read its declaration at earlier commits. It is called
// only for claims with a field that is live and recorded but not declared.
type Historian interface {
	// History returns the declared state of each claim before revision, the one that Load
	// returned with the claims. It requests the remote's head of the ref first. If that is no
	// longer revision, it returns the new Head and no Pasts, and the caller loads again. An
	// error means that the head is not known; any other failure is a Past's Gap.
	History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error)
}

// A Deriver derives a declaration from a snapshot of a source. It is pure: the same snapshot
// gives the same declaration.
type Deriver interface {
	// From is the name of the source.
	From() string
	// Derive returns the declaration in the snapshot. An error means that none could be
	// derived.
	Derive(model.Snapshot) (model.Declaration, error)
	// Object returns the object of the source that the address of a claim names. ok is false
	// for another address.
	Object(address string) (ref model.Ref, ok bool)
}

// Env is the environment of a loader, apart from its settings.
type Env struct {
	// Name of the declaration.
	Name string
	// Governs are the names of the sources that it governs.
	Governs []string
	// Types are the types of all sources of the estate ("proxmox"), by name; "" is an unknown
	// type.
	Types map[string]string
	// Sealer seals sensitive values as soon as they are read.
	Sealer model.Sealer
	// CacheDir is a folder for the loader only, and CloneDir is one for the clones of repositories, which it has in
	// common with the other members of a declaration with a pattern. They may be emptied between two loads.
	CacheDir, CloneDir string
	// Check is nil if no checks are configured.
	Check Check
	// MaxMemory is the maximum memory of a sandbox, and of the result of a reading, in bytes.
	MaxMemory int64
	// Boxes start the sandbox processes that expand foreign input.
	Boxes *box.Pool
	// Helm is the path of the program that renders Helm charts in a box; "" if it is not
	// installed.
	Helm string
	Log  *slog.Logger
}

// A Check checks the files of a declaration, and returns a function that adds the checks that failed to the declaration. The files
// need not be there any more when that is called.
type Check func(context.Context, Files) (add func(*model.Declaration), err error)

// Files are the files of a declaration that are checked.
type Files struct {
	FS fs.FS
	// Root is the path of the declared folder or file, and Repository the URL of the repository, or "".
	Root, Repository string
	// Pinned is the time of the commit that is read if the default branch of the repository is at another one; zero otherwise.
	Pinned time.Time
	// Address returns the address of a file in findings.
	Address func(name string) string
	// Authors returns who last changed each of the files. The actor is unknown, with the reason, if the history does not show it.
	Authors func(ctx context.Context, names []string) map[string]model.Actor
}

// A Decoder fills a settings struct from the configuration file. Unknown keys are errors.
// Relative paths in fields with the tag `path:"true"` become absolute.
type Decoder func(into any) error

// A Definition creates loaders of one type.
type Definition struct {
	Type string
	// Alone reports whether the declarations can have no governed sources, because their
	// loaders read the live side themselves.
	Alone bool
	// IsMember reports whether a folder is one declaration, for patterns in the settings dir and path; nil if a declaration of the type
	// takes no patterns. deep is whether the pattern finds folders at any depth.
	IsMember func(fsys fs.FS, dir string, deep bool) (bool, error)
	// ClaimsNothing reports whether the declarations have no claims on live resources.
	ClaimsNothing bool
	// Open creates a loader; nil if Derive creates a deriver instead.
	Open   func(Env, Decoder) (Loader, error)
	Derive func(Env, Decoder) (Deriver, error)
}

// LiveSource returns the source name of the live side that a declaration's own engine reads.
// No configured source can have this name.
func LiveSource(declaration string) string { return "plan:" + declaration }

// Define returns the definition of a loader type with default settings.
func Define[C any](typ string, defaults C, open func(Env, C) (Loader, error)) Definition {
	return Definition{Type: typ, Open: func(env Env, decode Decoder) (Loader, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}

// DefineDerived returns the definition of a type whose declarations are derived from a
// source, with default settings.
func DefineDerived[C any](typ string, defaults C, open func(Env, C) (Deriver, error)) Definition {
	return Definition{Type: typ, Derive: func(env Env, decode Decoder) (Deriver, error) {
		settings := defaults
		if err := decode(&settings); err != nil {
			return nil, err
		}
		return open(env, settings)
	}}
}
