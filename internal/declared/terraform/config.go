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

// The engines. Plan runs Terraform or OpenTofu on a copy of the root. State reads the states that
// they wrote.
const (
	Plan  = "plan"
	State = "state"
)

// Config configures a Terraform declaration.
type Config struct {
	// Engine is plan or state. The plan engine runs Terraform or OpenTofu on a copy of the root.
	// The state engine reads the states at the locations in state, or the output of `state pull` in
	// the root. The default is state if state is set, otherwise plan.
	Engine string `mapstructure:"engine"`
	// Place is the location of the root, for a plan or for a pull of its state.
	gitrepo.Place `mapstructure:",squash"`
	// Lookback bounds how far the history is read.
	gitrepo.Lookback `mapstructure:",squash"`
	// DeployWindow is the time after a commit in which live objects may still match the previous
	// version, and in which new objects may be missing.
	DeployWindow time.Duration `mapstructure:"deploy_window"`
	// ApplyBeforeMerge reports changes that were applied from an unmerged branch or pull request as
	// pending instead of bypassed.
	ApplyBeforeMerge bool `mapstructure:"apply_before_merge"`

	// State are the locations of states: paths, file patterns or URLs.
	State []string `mapstructure:"state" path:"true" glob:"true"`
	// Backend configures how the states are fetched.
	Backend backend.Settings `mapstructure:"backend"`
	// PassphraseFiles are files with the passphrases of states that OpenTofu encrypted.
	PassphraseFiles []string `mapstructure:"passphrase_files" path:"true"`

	// Run configures plans and pulls of states.
	Run Run `mapstructure:",squash"`

	// Providers maps a provider, or one of its configurations such as "proxmox.west", to the source
	// that it manages. It is required if several sources of one type are governed.
	Providers map[string]string `mapstructure:"providers"`
	// Mappings are folders of mapping tables, in addition to the built-in ones.
	Mappings []string `mapstructure:"mappings" path:"true"`
	// Unmanaged are the kinds of which all live resources must be declared. The default is every kind with
	// a declared resource.
	Unmanaged []string `mapstructure:"unmanaged"`
}

// Run configures plans and pulls of states.
type Run struct {
	// Binary is the name or path of the program. The default is the first of terragrunt, terraform and tofu
	// that is installed and suits the root: tofu comes before terraform if the root has .tofu files, or a lock file that
	// OpenTofu wrote.
	Binary string `mapstructure:"binary"`
	// Workspace is the workspace to plan in, or whose state is read. The default is the one that is selected in dir, or
	// "default". A selection in a repository does not count.
	Workspace string `mapstructure:"workspace"`
	// VarFiles are files that set variables. Their paths are inside the root, or absolute.
	VarFiles []string `mapstructure:"var_files"`
	// Vars sets variables by name.
	Vars map[string]string `mapstructure:"vars"`
	// BackendConfig completes a partial backend block. If backend_config and backend_config_files
	// are empty, the settings of the last `init` in the folder are used.
	BackendConfig map[string]string `mapstructure:"backend_config"`
	// BackendConfigFiles are files that complete a partial backend block. Their paths are inside
	// the root, or absolute.
	BackendConfigFiles []string `mapstructure:"backend_config_files"`
	// Env sets variables of the program's environment.
	Env map[string]string `mapstructure:"env"`
	// EnvFiles are files of NAME=VALUE lines that set variables of the program's environment. They
	// are read at each plan, and take precedence over env and pass_env.
	EnvFiles []string `mapstructure:"env_files" path:"true"`
	// PassEnv are the variables of driftd's own environment that are passed to the program, by name or
	// pattern ("AWS_*"). No other variables are passed.
	PassEnv []string `mapstructure:"pass_env"`
	// CLIConfigFile is the program's CLI configuration file. The default is the file in home, or an
	// empty one.
	CLIConfigFile string `mapstructure:"cli_config_file" path:"true"`
	// Home is the program's home folder, for credential files. The default is an empty folder.
	Home string `mapstructure:"home" path:"true"`
	// Box restricts the program to the files of the root, the system and the settings, if the
	// kernel supports Landlock.
	Box bool `mapstructure:"box"`
	// ReadPaths are additional files and folders that the program may read if box is set.
	ReadPaths []string `mapstructure:"read_paths" path:"true"`
	// MaxMemory is the maximum memory of the program and all its child processes together, in bytes. A plan
	// that exceeds it is stopped. 0 means no limit.
	MaxMemory int64 `mapstructure:"max_plan_memory"`
	// MemoryLimit is the soft memory limit of the program and of each provider ("1GiB"). By default, there
	// is none.
	MemoryLimit string `mapstructure:"memory_limit"`
	// Allow restricts the providers and modules of the plan, for roots to which many people can push.
	Allow Allow `mapstructure:"allow"`
	// Refuse are blocks that the root must not contain: names of dangers ("external"), or patterns
	// ("provider.aws.endpoints").
	Refuse []string `mapstructure:"refuse"`
	// ComparePlans makes two more plans, without a refresh, of files that were not planned before, and
	// reports the values that differ between them as nondeterministic.
	ComparePlans bool `mapstructure:"compare_plans"`
	// Parallelism is the parallelism of one plan. 0 means the program's default.
	Parallelism int `mapstructure:"parallelism"`
	// Timeout is the maximum duration of one plan or one pull of a state, including init.
	Timeout time.Duration `mapstructure:"timeout"`
}

// Allow lists the providers and modules that a plan may use.
type Allow struct {
	// Providers are the allowed providers, by address or pattern ("hashicorp/*"). The default is
	// all.
	Providers []string `mapstructure:"providers"`
	// Modules are the allowed sources of fetched modules, or patterns
	// ("git::https://git.example.org/*"). The default is all. Modules in the repository are always
	// allowed.
	Modules []string `mapstructure:"modules"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Place: gitrepo.DefaultPlace(), Lookback: gitrepo.Lookback{Commits: gitrepo.DefaultLookback}, DeployWindow: time.Hour,
		Backend: backend.Defaults(), Run: Run{Timeout: 10 * time.Minute, Box: true, ComparePlans: true}}
}

// engine returns the configured engine, or the default one.
func (c Config) engine() string {
	if c.Engine == "" && len(c.State) > 0 {
		return State
	}
	if c.Engine == "" {
		return Plan
	}
	return c.Engine
}

// Plans reports whether the declaration is a root that driftd plans.
func (c Config) Plans() bool { return c.engine() == Plan }

func (c Config) check(env declared.Env) error {
	for configuration, source := range c.Providers {
		if !slices.Contains(env.Governs, source) {
			return fmt.Errorf("providers: %s: source %q is not governed: add it to governs", configuration, source)
		}
	}
	for _, kind := range c.Unmanaged {
		if !slices.ContainsFunc(env.Governs, func(source string) bool { return strings.HasPrefix(kind, env.Types[source]+"/") }) {
			return fmt.Errorf("unmanaged: %q is not a kind of a governed source: want a kind such as proxmox/qemu", kind)
		}
	}
	switch {
	case c.DeployWindow < 0:
		return fmt.Errorf("deploy_window %s: want 0 or more", c.DeployWindow)
	case c.ApplyBeforeMerge && c.Git == "":
		return errors.New("apply_before_merge requires git: a folder has no branches")
	}
	switch engine := c.engine(); {
	case engine == Plan && len(c.State) > 0:
		return errors.New("state is set, but engine is plan: remove state, or set engine: state")
	case engine == Plan:
		return c.checkRoot()
	case engine == State:
		return c.checkState(env)
	}
	return fmt.Errorf("engine %q: want plan or state", c.Engine)
}

// checkRoot checks the settings that a root requires.
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
		return errors.New("engine state needs locations, such as state: [./terraform.tfstate], or dir or git of the root whose backend has the state")
	case len(c.State) > 0 && hasRoot:
		return errors.New("state cannot be combined with dir or git: set the locations of the states, or the root whose backend has the state")
	case len(env.Governs) == 0:
		return errors.New("engine state needs the live sources to compare with: set governs, such as governs: [pve]")
	case slices.ContainsFunc(c.State, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return errors.New("state: a location is empty")
	case hasRoot && len(c.Backend.Workspaces) > 0:
		return errors.New("backend.workspaces cannot be combined with dir or git: set workspace")
	case hasRoot:
		return c.checkRoot()
	}
	return nil
}

// RefuseUnreviewed returns the setting refuse for the root of an unreviewed commit. It adds data sources
// that are built into the CLI, to which allow.providers does not apply. They can send variables to any
// address, and read any state that driftd can read.
func (c Config) RefuseUnreviewed() []string {
	if slices.Contains(c.Run.Refuse, "remote-state") {
		return c.Run.Refuse
	}
	return append(slices.Clone(c.Run.Refuse), "remote-state")
}

// CheckUnreviewed returns an error if the settings do not restrict the programs that the root of an
// unreviewed commit can run.
func (c Config) CheckUnreviewed() error {
	if c.engine() != Plan {
		return errors.New("engine state does not read the configuration, which the ref would change: use engine: plan")
	}
	if !c.Run.Box {
		return errors.New("a plan of an unreviewed commit reads files that its author chooses: remove box: false")
	}
	for _, danger := range []string{"external", "exec"} {
		if c.Run.Allow.Providers == nil || !slices.Contains(c.Run.Refuse, danger) {
			return errors.New("a plan of an unreviewed commit runs programs that its author chooses: set allow.providers and refuse: [external, exec]")
		}
	}
	return nil
}
