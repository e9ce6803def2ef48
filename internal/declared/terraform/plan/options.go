package plan

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/model"
)

// Options configure the plans of one root, or the pull of its state.
type Options struct {
	// Dir is the absolute path of the root. It is only read.
	Dir string
	// Shown replaces Dir in messages. "" means Dir itself.
	Shown string
	// Within is the top of the Git work tree of Dir. Modules are only read from below it. "" means
	// that there is none.
	Within string
	// Absent are files that are missing below Within, by their path from there, with the reason. A
	// plan that may read one of them fails.
	Absent map[string]error
	// Edits are files of the private copy whose content differs from that in Dir, by their names in
	// the root. A file that Dir does not have is added.
	Edits map[string][]byte
	// Received is called with the path of each file and folder that the private copy received,
	// without links in it. nil means that nothing is called.
	Received func(path string, isDir bool)
	// Binary is the path or name of the CLI. "" means the first of terraform and tofu on PATH, or
	// terragrunt if Dir is a Terragrunt root.
	Binary string
	// Workspace is the workspace to select. "" means the selected one of Dir, or "default".
	Workspace string
	// VarFiles are passed in order, followed by Vars, whose values may be of any JSON type.
	VarFiles []string
	Vars     map[string]any
	// BackendConfig and BackendFiles complete a partial backend configuration. Without them, the
	// settings of the last init in Dir are used.
	BackendConfig map[string]string
	BackendFiles  []string
	// EnvFiles set environment variables of the CLI and its providers (credential.ReadEnv). They
	// are read at each run. Later files take precedence over earlier ones, and all of them over
	// Env. Env sets further variables. PassEnv are the names of variables that are passed from
	// driftd's own environment; a name that ends with * is a prefix. No other variables are passed.
	EnvFiles []string
	Env      map[string]string
	PassEnv  []string
	// CLIConfig is the CLI configuration file. "" means the one in Home, or an empty one.
	CLIConfig string
	// Home is the home folder of the CLI, for credential files. "" means an empty folder.
	Home string
	// Parallelism is the -parallelism option of the CLI. 0 means its default.
	Parallelism int
	// Timeout bounds one run: copy, init, plan and show. 0 means 15 minutes. Grace is the
	// additional time for the CLI to stop by itself.
	Timeout, Grace time.Duration
	// Boxed runs the CLI in a box. It can then read only its own folders, the system's, and the
	// files in these options. ReadPaths are additional readable files and folders.
	Boxed     bool
	ReadPaths []string
	// WritePaths are additional files and folders that a boxed CLI may write to during an apply.
	WritePaths []string
	// MaxMemory bounds the memory of the CLI and all its child processes together, in bytes. 0
	// means no bound.
	MaxMemory int64
	// MemoryLimit is the GOMEMLIMIT of the CLI and of each provider ("1GiB"). "" means that it is
	// not set.
	MemoryLimit string
	// Compare makes two more plans, without a refresh, of files that were not planned before: values in which they differ are
	// Varying.
	Compare bool
	// Policy restricts the root.
	Policy policy.Policy
	// CacheDir is a folder for the private copies, providers and schemas of this root only. The
	// plan of another root must not write to it: it could replace the programs that this root runs.
	CacheDir string
	// Limiter is shared by all roots.
	Limiter *Limiter
	Sealer  model.Sealer
	// locks is set if the commands take the lock of the state.
	locks bool
}

const (
	defaultTimeout = 15 * time.Minute
	defaultGrace   = 3 * time.Second
)

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, defaultTimeout) }

func (o Options) grace() time.Duration { return cmp.Or(o.Grace, defaultGrace) }
