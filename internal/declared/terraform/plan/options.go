package plan

import (
	"cmp"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/model"
)

// Options configure the plans of one root, or the pull of its state.
type Options struct {
	// Dir is the absolute path of the root. It is not modified.
	Dir string
	// Shown replaces Dir in messages. "" means Dir.
	Shown string
	// Within is the top of the git work tree that contains Dir. Modules outside of it are not read. ""
	// means that Dir is in no work tree.
	Within string
	// Absent maps missing files to the reasons, by their path below Within. A plan that may read one of
	// them fails.
	Absent map[string]error
	// Edits maps the names of files in the root to content that replaces theirs in the private copy. Files
	// that do not exist in Dir are added.
	Edits map[string][]byte
	// Received, if not nil, is called with the path of each file and folder that was copied to the private
	// copy. The path contains no symbolic links.
	Received func(path string, isDir bool)
	// Binary is the path or name of the CLI. "" means the first of terraform and tofu on PATH, or
	// terragrunt if Dir is a Terragrunt root.
	Binary string
	// Workspace is the name of the workspace. "" means the one that is selected in Dir, or "default".
	Workspace string
	// VarFiles are passed in order, followed by Vars, whose values may be of any JSON type.
	VarFiles []string
	Vars     map[string]any
	// BackendConfig and BackendFiles complete a partial backend configuration. If both are empty, the
	// settings of the last init in Dir are used.
	BackendConfig map[string]string
	BackendFiles  []string
	// EnvFiles set environment variables of the CLI and its providers, in the format of credential.ReadEnv.
	// They are read at each run. Later files take precedence over earlier ones, and all of them over Env,
	// which sets further variables. PassEnv are the names of variables that are passed from driftd's own
	// environment; a name that ends with * is a prefix. No other variables are passed.
	EnvFiles []string
	Env      map[string]string
	PassEnv  []string
	// Writer is the account of an apply. Only Apply uses its variables. They take precedence over all others. The values
	// of the input variables of the root that it sets (TF_VAR_name) are no part of Effect.Content.
	Writer Account
	// CLIConfig is the CLI configuration file. "" means the one in Home, or an empty one.
	CLIConfig string
	// Home is the home folder of the CLI, for credential files. "" means an empty folder.
	Home string
	// Parallelism is the value of the -parallelism option of the CLI. 0 means the default of the CLI.
	Parallelism int
	// Timeout is the maximum duration of one run: copy, init, plan and show. 0 means 15 minutes. Grace is
	// the additional time that the CLI has to stop after an interrupt.
	Timeout, Grace time.Duration
	// Boxed runs the CLI in a sandbox, in which it can read only its own folders, those of the system, and
	// the files in these options. ReadPaths are additional readable files and folders.
	Boxed     bool
	ReadPaths []string
	// WritePaths are additional files and folders that a boxed CLI may write to during an apply.
	WritePaths []string
	// MaxMemory is the maximum memory of the CLI and all its child processes together, in bytes. 0 means no
	// limit.
	MaxMemory int64
	// MemoryLimit is the value of GOMEMLIMIT for the CLI and each provider ("1GiB"). "" means that it is
	// not set.
	MemoryLimit string
	// Compare makes two more plans, without a refresh, of files that were not planned before. Values that
	// differ between the plans are reported in Result.Varying.
	Compare bool
	// Policy restricts the root.
	Policy policy.Policy
	// CacheDir is a folder for the private copies, providers and schemas of this root. Roots must not share
	// it: the plan of another root could replace the programs that this root runs.
	CacheDir string
	// Limiter limits the number of concurrent plans. All roots share it.
	Limiter *Limiter
	Sealer  model.Sealer
	// locks is set by Apply: the commands take the lock of the state, and have the variables of Writer.
	locks bool
}

// An Account consists of variables of the CLI's environment.
type Account struct {
	Env map[string]string
	// EnvFiles are files as those of Options. They take precedence over Env.
	EnvFiles []string
}

const (
	defaultTimeout = 15 * time.Minute
	defaultGrace   = 3 * time.Second
)

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, defaultTimeout) }

func (o Options) grace() time.Duration { return cmp.Or(o.Grace, defaultGrace) }
