package plan

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/model"
)

// Options say how plans of one root are made, or its state is pulled.
type Options struct {
	// Dir is the root, absolute. It is only read.
	Dir string
	// Shown is what stands for Dir in messages; "" for Dir itself.
	Shown string
	// Within is the top of the git work tree that Dir lies in: modules are
	// looked for up to there. "" for none.
	Within string
	// Absent are files that are missing below Within, by their path from there, each
	// with the reason. A plan that may read one of them fails.
	Absent map[string]error
	// Binary is the path or name of the CLI; "" stands for the first of
	// terraform and tofu on PATH, or terragrunt where Dir is a root of its.
	Binary string
	// Workspace is selected; "" stands for the one that Dir has selected, or
	// default.
	Workspace string
	// VarFiles are passed in order, then Vars, whose values may be of any type
	// that JSON has.
	VarFiles []string
	Vars     map[string]any
	// BackendConfig and BackendFiles complete a partial backend configuration;
	// without them, what init was told in Dir does.
	BackendConfig map[string]string
	BackendFiles  []string
	// EnvFiles set variables for the CLI and its providers (credential.ReadEnv). They
	// are read at each run; a later one replaces what an earlier one sets, and all
	// replace Env. Env is set for the CLI and its providers, too, and PassEnv names variables of
	// driftd's own environment, or with a * at the end all that begin so, that
	// are handed on. Nothing else is.
	EnvFiles []string
	Env      map[string]string
	PassEnv  []string
	// CLIConfig is the CLI's configuration file; "" stands for that in Home, or
	// an empty one.
	CLIConfig string
	// Home is HOME of the CLI, for credential files; "" stands for an empty
	// folder.
	Home string
	// Parallelism is the CLI's own; 0 leaves its default.
	Parallelism int
	// Timeout bounds one reading: copy, init, plan and show; 0 stands for 15
	// minutes. Grace is how long after it the CLI may take to stop by itself.
	Timeout, Grace time.Duration
	// Boxed seals the CLI: it reads its own folder, the system's, and the files that
	// these options name. ReadPaths are more files and folders that it may read.
	Boxed     bool
	ReadPaths []string
	// MaxMemory bounds what the CLI and all that it starts hold together, in bytes; 0
	// for no bound.
	MaxMemory int64
	// MemoryLimit is GOMEMLIMIT for the CLI and each provider ("1GiB"); ""
	// leaves it to them.
	MemoryLimit string
	// Policy is what the root may do.
	Policy policy.Policy
	// CacheDir is a folder of ours and of this root alone, for private copies,
	// providers and their schemas. No other root's plan may write to it: it would
	// choose what this one runs.
	CacheDir string
	// Limiter is shared by all roots.
	Limiter *Limiter
	Sealer  model.Sealer
}

const (
	defaultTimeout = 15 * time.Minute
	defaultGrace   = 3 * time.Second
)

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, defaultTimeout) }

func (o Options) grace() time.Duration { return cmp.Or(o.Grace, defaultGrace) }
