package plan

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/secret"
)

// reserved reports whether a variable is set by driftd itself, or changes the CLI in a way that
// driftd cannot detect.
func reserved(name string) bool {
	switch name {
	case "TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_INPUT", "TF_IN_AUTOMATION", "TF_WORKSPACE",
		"TF_CLI_ARGS", "TF_LOG", "TF_LOG_PATH", "CHECKPOINT_DISABLE", "TMPDIR",
		// Providers that run elsewhere are neither installed nor in the box, and allow.providers
		// does not apply to them.
		"TF_REATTACH_PROVIDERS",
		// A cached provider would be used without a check of the lock file.
		"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE":
		return true
	}
	return strings.HasPrefix(name, "TF_CLI_ARGS_") || strings.HasPrefix(name, "TF_LOG_")
}

// Check returns an error for invalid options.
func (o Options) Check() error {
	for _, env := range []map[string]string{o.Env, o.Writer.Env} {
		if err := checkEnv(env); err != nil {
			return err
		}
	}
	// Patterns do not pass reserved variables.
	if i := slices.IndexFunc(o.PassEnv, reserved); i >= 0 {
		return fmt.Errorf("pass_env: %w", &reservedError{o.PassEnv[i]})
	}
	return o.Policy.Check()
}

func checkEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if reserved(name) {
			return fmt.Errorf("env: %w", &reservedError{name})
		}
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is not a valid name of a variable", name)
		}
	}
	return nil
}

// A reservedError is the error for a variable that env, env_files and pass_env must not contain.
type reservedError struct{ name string }

// Error implements error.
func (e *reservedError) Error() string {
	switch {
	case e.name == "TF_REATTACH_PROVIDERS":
		return e.name + " is not allowed: a plan must not use a provider that runs outside of it; remove the variable, and set your own build " +
			"under dev_overrides in cli_config_file"
	case e.name == "TF_WORKSPACE":
		return e.name + " is reserved for driftd; remove it, and set workspace"
	case e.name == "TF_CLI_CONFIG_FILE":
		return e.name + " is reserved for driftd; remove it, and set cli_config_file"
	case strings.HasPrefix(e.name, "TF_CLI_ARGS"):
		return e.name + " is reserved for driftd; remove it, and use settings such as parallelism, vars and backend_config instead of arguments"
	}
	return e.name + " is reserved for driftd; remove it"
}

// ReadEnvFile returns the variables in a file in the format of Options.EnvFiles. Its errors do not contain
// values.
func ReadEnvFile(file string) (map[string]string, error) {
	env, err := credential.ReadEnv(file)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if reserved(name) {
			return nil, fmt.Errorf("%s: %w", file, &reservedError{name})
		}
	}
	return env, nil
}

// readEnvFiles reads the variables that the configuration sets. It is called once per plan, so that the
// next plan uses rotated credentials.
func (w *work) readEnvFiles() error {
	var err error
	if w.set, err = (Account{w.Env, w.EnvFiles}).read(); err != nil {
		return err
	}
	writer, err := w.Writer.read()
	if w.locks {
		maps.Copy(w.set, writer)
	}
	w.ofWriter = map[string]bool{}
	for name := range writer {
		if variable, ok := strings.CutPrefix(name, "TF_VAR_"); ok {
			w.ofWriter[variable] = true
		}
	}
	return err
}

// read returns the variables of an account.
func (a Account) read() (map[string]string, error) {
	set := map[string]string{}
	maps.Copy(set, a.Env)
	for _, file := range a.EnvFiles {
		env, err := ReadEnvFile(file)
		if err != nil {
			return nil, fmt.Errorf("env_files: %w", err)
		}
		maps.Copy(set, env)
	}
	return set, nil
}

// given returns the variables that the configuration sets or passes.
func (w *work) given(environ []string) map[string]string {
	given := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !reserved(name) && slices.ContainsFunc(w.PassEnv, func(pattern string) bool { return matches(pattern, name) }) {
			given[name] = value
		}
	}
	maps.Copy(given, w.set)
	return given
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// environment returns the whole environment of the CLI, sorted.
func (w *work) environment(cli string, environ []string) []string {
	env := map[string]string{"PATH": os.Getenv("PATH"), "LANG": "C.UTF-8", "NO_COLOR": "1", "HOME": w.home()}
	if w.MemoryLimit != "" {
		env["GOMEMLIMIT"] = w.MemoryLimit
	}
	maps.Copy(env, w.given(environ))
	for name, value := range map[string]string{
		"TMPDIR":              w.tmp,
		"TF_DATA_DIR":         w.data,
		"TF_PLUGIN_CACHE_DIR": w.plugins(),
		"TF_CLI_CONFIG_FILE":  w.cliConfig(cli),
		"TF_INPUT":            "0",
		"TF_IN_AUTOMATION":    "1",
		"CHECKPOINT_DISABLE":  "1",
		// The remote backend would run the plan on its server; it is only used for the state.
		"TF_FORCE_LOCAL_BACKEND": "1",
		// Terragrunt must not change the output of the CLI.
		"TG_TF_FORWARD_STDOUT":         "true",
		"TERRAGRUNT_FORWARD_TF_STDOUT": "true",
		"TG_NON_INTERACTIVE":           "true",
		"TERRAGRUNT_NON_INTERACTIVE":   "true",
		"TG_DOWNLOAD_DIR":              filepath.Join(w.tmp, "terragrunt"),
		"TERRAGRUNT_DOWNLOAD":          filepath.Join(w.tmp, "terragrunt"),
	} {
		env[name] = value
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// minMaskedLine is the minimum length of a line of a secret that is masked by itself in messages.
const minMaskedLine = 8

// secrets returns the values of the CLI's environment and settings that may be secret. Addresses
// and paths are not masked, because most errors are about them.
func (w *work) secrets(environ []string) []string {
	var found []string
	add := unlessPlace(func(value string) { found = append(found, value) })
	for name, value := range w.given(environ) {
		if isPlace(value) && (!secret.Name(name) || exists(value)) {
			continue
		}
		found = append(found, value)
		// A message may contain a single line of the value.
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minMaskedLine {
				found = append(found, line)
			}
		}
	}
	for _, value := range w.Vars {
		texts(valueOf(value), add)
	}
	for name, value := range w.backend {
		if isSecretSetting(name) {
			texts(valueOf(value), func(text string) { found = append(found, text) })
		}
	}
	return append(found, w.backendSecrets()...)
}

// backendSecrets returns the strings in the backend block, and in the files that complete it, that
// may be secret.
func (w *work) backendSecrets() (found []string) {
	written := []map[string]string{w.block}
	for _, path := range w.BackendFiles {
		written = append(written, workcopy.Constants(w.inCopy(path)))
	}
	for _, settings := range written {
		for name, text := range settings {
			if secret.Name(name) || isSecretSetting(name) && !isPlace(text) {
				found = append(found, text)
			}
		}
	}
	return found
}

// isSecretSetting reports whether a backend setting may contain a secret.
func isSecretSetting(name string) bool {
	return name == "conn_str" || name == "address" || secret.Name(name)
}

// unlessPlace wraps found to skip addresses and paths.
func unlessPlace(found func(string)) func(string) {
	return func(value string) {
		if !isPlace(value) {
			found(value)
		}
	}
}

// exists reports whether a path exists. A variable such as GCP_CREDENTIALS may have the path of a
// secret file, or a secret that begins with a slash.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isPlace reports whether a value is a path, or a URL without a user.
func isPlace(value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	return strings.HasPrefix(value, "/") || isURL && !strings.Contains(rest, "@")
}
