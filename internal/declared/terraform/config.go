package terraform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// The engines: Plan runs Terraform or OpenTofu on a copy of the root, State
// reads what they recorded.
const (
	Plan  = "plan"
	State = "state"
)

// Config is the settings of a Terraform declaration.
type Config struct {
	// Engine is what reads it: plan runs Terraform or OpenTofu on a copy of the
	// root, state reads what they recorded: the locations in state, or what
	// `state pull` prints for the root. Without it, state where states are named.
	Engine string `mapstructure:"engine"`
	// Place is where the root lies, for a plan, or for a pull of its state.
	gitrepo.Place `mapstructure:",squash"`
	// Lookback bounds how much of the history is read.
	gitrepo.Lookback `mapstructure:",squash"`
	// DeployWindow is how long after a commit the apply of the version before it is
	// an ordinary deploy, and a new object may be absent.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge accepts what was applied from a branch or pull request that is
	// not merged: it is pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`

	// State are the locations of states: files, patterns of files, URLs.
	State []string `mapstructure:"state" path:"true" glob:"true"`
	// Backend says how they are fetched.
	Backend backend.Settings `mapstructure:"backend"`
	// PassphraseFiles open states that OpenTofu encrypted.
	PassphraseFiles []string `mapstructure:"passphrase_files" path:"true"`

	// Run says how a plan is made.
	Run Run `mapstructure:",squash"`

	// Providers names the source that a provider, or one of its configurations
	// ("proxmox.west"), manages; needed where several sources of one type are
	// governed.
	Providers map[string]string `mapstructure:"providers"`
	// Mappings are folders of mapping tables beside the built-in ones.
	Mappings []string `mapstructure:"mappings" path:"true"`
	// Unmanaged are the kinds of which everything live is expected to be
	// declared; without it, those of which something is declared.
	Unmanaged []string `mapstructure:"unmanaged"`
}

// Run configures plans and pulls of states.
type Run struct {
	// Binary is the program, by name or path; without it terragrunt, terraform or
	// tofu, whichever fits the root and is found.
	Binary string `mapstructure:"binary"`
	// Workspace is the workspace to plan in, or to read the state of; without it, the
	// default one.
	Workspace string `mapstructure:"workspace"`
	// VarFiles set variables; they lie inside the root, or are absolute.
	VarFiles []string `mapstructure:"var_files"`
	// Vars set variables by name.
	Vars map[string]string `mapstructure:"vars"`
	// BackendConfig completes a partial backend block. Without it and its files:
	// what init was told in the folder.
	BackendConfig map[string]string `mapstructure:"backend_config"`
	// BackendConfigFiles do the same; they lie inside the root, or are absolute.
	BackendConfigFiles []string `mapstructure:"backend_config_files"`
	// Env sets variables of the program's environment.
	Env map[string]string `mapstructure:"env"`
	// EnvFiles are files of NAME=VALUE lines that set variables of the program's
	// environment. They are read at each plan, and count before env and pass_env.
	EnvFiles []string `mapstructure:"env_files" path:"true"`
	// PassEnv lets variables of driftd's own environment through, by name or
	// pattern ("AWS_*"). Nothing else of it is seen.
	PassEnv []string `mapstructure:"pass_env"`
	// CLIConfigFile is the program's own configuration file; without it, that in
	// its home, or an empty one.
	CLIConfigFile string `mapstructure:"cli_config_file" path:"true"`
	// Home is the program's home folder, for credential files; without it, an
	// empty one.
	Home string `mapstructure:"home" path:"true"`
	// Box keeps the program from all files but those of the root, the system and the
	// settings, where the kernel has landlock.
	Box bool `mapstructure:"box"`
	// ReadPaths are more files and folders that the program may read in the box.
	ReadPaths []string `mapstructure:"read_paths" path:"true"`
	// MaxMemory bounds what the program and all that it starts hold together, in
	// bytes; more ends the plan. 0 is no bound.
	MaxMemory int64 `mapstructure:"max_plan_memory"`
	// MemoryLimit is what the program and each provider try to stay within
	// ("1GiB"); without it, that is left to them.
	MemoryLimit string `mapstructure:"memory_limit"`
	// Allow is what the plan may use, where many may push to the root.
	Allow Allow `mapstructure:"allow"`
	// Refuse are blocks that the root must not have, by name of a danger
	// ("external") or by pattern ("provider.aws.endpoints").
	Refuse []string `mapstructure:"refuse"`
	// Parallelism is that of one plan; 0 is the program's default.
	Parallelism int `mapstructure:"parallelism"`
	// Timeout bounds one plan, or one pull of a state, with all that it needs.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Allow lists what a plan may use.
type Allow struct {
	// Providers are the providers, by address or pattern ("hashicorp/*"); without
	// it, all.
	Providers []string `mapstructure:"providers"`
	// Modules are the sources of modules that are fetched, or patterns
	// ("git::https://git.example.org/*"); without it, all. Modules in the
	// repository are always allowed.
	Modules []string `mapstructure:"modules"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Config {
	return Config{Place: gitrepo.DefaultPlace(), Lookback: gitrepo.Lookback{Commits: gitrepo.DefaultLookback}, DeployWindow: time.Hour,
		Backend: backend.Defaults(), Run: Run{Timeout: 10 * time.Minute, Box: true}}
}

// engine returns the engine that the settings mean.
func (c Config) engine() string {
	if c.Engine == "" && len(c.State) > 0 {
		return State
	}
	if c.Engine == "" {
		return Plan
	}
	return c.Engine
}

func (c Config) check(env declared.Env) error {
	for configuration, source := range c.Providers {
		if !slices.Contains(env.Governs, source) {
			return fmt.Errorf("providers: %s: source %q is not governed: name it under governs", configuration, source)
		}
	}
	for _, kind := range c.Unmanaged {
		if !slices.ContainsFunc(env.Governs, func(source string) bool { return strings.HasPrefix(kind, env.Types[source]+"/") }) {
			return fmt.Errorf("unmanaged: %q is no kind of a governed source: want one like proxmox/qemu", kind)
		}
	}
	switch {
	case c.DeployWindow < 0:
		return fmt.Errorf("deploy_window %s: want 0 or more", c.DeployWindow)
	case c.ApplyBeforeMerge && c.Git == "":
		return errors.New("apply_before_merge belongs to git, and none is set: only a repository has branches")
	}
	switch engine := c.engine(); {
	case engine == Plan && len(c.State) > 0:
		return errors.New("state belongs to engine: state, and engine is plan")
	case engine == Plan:
		return c.checkRoot()
	case engine == State:
		return c.checkState(env)
	}
	return fmt.Errorf("engine %q: want plan or state", c.Engine)
}

// checkRoot checks the settings of what the CLI runs on.
func (c Config) checkRoot() error {
	if c.Run.Timeout <= 0 {
		return fmt.Errorf("timeout %s: want more than 0", c.Run.Timeout)
	}
	if c.Run.MaxMemory < 0 {
		return fmt.Errorf("max_plan_memory %d: want 0 or more", c.Run.MaxMemory)
	}
	return cmp.Or(c.Place.Check("Terraform root"), c.Lookback.Check())
}

func (c Config) checkState(env declared.Env) error {
	hasRoot := c.Dir+c.Git != ""
	switch {
	case len(c.State) == 0 && !hasRoot:
		return errors.New("engine state reads records: name them, as in state: [./terraform.tfstate], or the root whose backend holds them, by dir or git")
	case len(c.State) > 0 && hasRoot:
		return errors.New("state and dir or git: name the states, or the root whose backend holds them")
	case len(env.Governs) == 0:
		return errors.New("a state is compared with live sources: name them, as in governs: [pve]")
	case slices.ContainsFunc(c.State, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return errors.New("state: an empty location")
	case hasRoot && len(c.Backend.Workspaces) > 0:
		return errors.New("backend.workspaces belongs to state; name one workspace of a root by workspace")
	case hasRoot:
		return c.checkRoot()
	}
	return nil
}
