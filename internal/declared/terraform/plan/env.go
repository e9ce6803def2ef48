package plan

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/declared/terraform/plan/rootdir"
	"github.com/driftd/driftd/internal/secret"
)

// reserved reports whether driftd sets a variable itself, or whether it would change what
// the CLI does in a way that driftd does not see.
func reserved(name string) bool {
	switch name {
	case "TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_INPUT", "TF_IN_AUTOMATION", "TF_WORKSPACE",
		"TF_CLI_ARGS", "TF_LOG", "TF_LOG_PATH", "CHECKPOINT_DISABLE", "TMPDIR",
		// Providers that were started elsewhere: they are neither installed nor in the box, so
		// allow.providers does not see them.
		"TF_REATTACH_PROVIDERS",
		// A cached provider would be taken without a look at the lock file.
		"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE":
		return true
	}
	return strings.HasPrefix(name, "TF_CLI_ARGS_") || strings.HasPrefix(name, "TF_LOG_")
}

// Check finds what is wrong with the options before anything runs.
func (o Options) Check() error {
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		if reserved(name) {
			return fmt.Errorf("env: %w", &reservedError{name})
		}
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is no name of a variable", name)
		}
	}
	// Patterns leave out reserved variables.
	if i := slices.IndexFunc(o.PassEnv, reserved); i >= 0 {
		return fmt.Errorf("pass_env: %w", &reservedError{o.PassEnv[i]})
	}
	return o.Policy.Check()
}

// A reservedError is a variable that env, env_files and pass_env must not name.
type reservedError struct{ name string }

// Error implements error.
func (e *reservedError) Error() string {
	switch {
	case e.name == "TF_REATTACH_PROVIDERS":
		return e.name + " is not passed on: a plan must not use a provider that runs outside of it; remove the variable, and name a build " +
			"of one's own under dev_overrides in cli_config_file"
	case e.name == "TF_WORKSPACE":
		return e.name + " is driftd's to set; remove it, and set workspace"
	case e.name == "TF_CLI_CONFIG_FILE":
		return e.name + " is driftd's to set; remove it, and set cli_config_file"
	case strings.HasPrefix(e.name, "TF_CLI_ARGS"):
		return e.name + " is driftd's to set; remove it: settings like parallelism, vars and backend_config stand for arguments"
	}
	return e.name + " is driftd's to set; remove it"
}

// ReadEnvFile returns the variables of one of Options.EnvFiles. An error shows no value.
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

// readEnvFiles reads EnvFiles. The work folder's owner calls it once for each plan, so
// that a credential that was rotated counts from the next plan on.
func (w *work) readEnvFiles() error {
	w.fromFiles = map[string]string{}
	for _, file := range w.EnvFiles {
		env, err := ReadEnvFile(file)
		if err != nil {
			return fmt.Errorf("env_files: %w", err)
		}
		maps.Copy(w.fromFiles, env)
	}
	return nil
}

// given returns the variables that the configuration names.
func (w *work) given(environ []string) map[string]string {
	given := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !reserved(name) && slices.ContainsFunc(w.PassEnv, func(pattern string) bool { return matches(pattern, name) }) {
			given[name] = value
		}
	}
	maps.Copy(given, w.Env)
	maps.Copy(given, w.fromFiles)
	return given
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// environment returns all of the CLI's environment, sorted.
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
		// A remote backend keeps the state; the plan is made here, so that no
		// run appears there.
		"TF_FORCE_LOCAL_BACKEND": "1",
		// Terragrunt: what the CLI prints comes out as it is.
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

// minMaskedLine is the length from which one line of a secret is looked for in messages.
const minMaskedLine = 8

// secrets returns the values that the CLI was given and that may be secret.
// Addresses and paths are left readable: most errors are about them.
func (w *work) secrets(environ []string) []string {
	var found []string
	add := unlessPlace(func(value string) { found = append(found, value) })
	for name, value := range w.given(environ) {
		if isPlace(value) && (!secret.Name(name) || exists(value)) {
			continue
		}
		found = append(found, value)
		// A message may show one line of it.
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

// backendSecrets returns the texts of the backend block, and of the files that complete it, that
// may be secret.
func (w *work) backendSecrets() (found []string) {
	written := []map[string]string{w.block}
	for _, path := range w.BackendFiles {
		written = append(written, rootdir.Constants(w.inCopy(path)))
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

// isSecretSetting reports whether a setting of a backend may hold a secret.
func isSecretSetting(name string) bool {
	return name == "conn_str" || name == "address" || secret.Name(name)
}

// unlessPlace leaves out addresses and paths.
func unlessPlace(found func(string)) func(string) {
	return func(value string) {
		if !isPlace(value) {
			found(value)
		}
	}
}

// exists reports whether a path leads to something: a name like GCP_CREDENTIALS may stand
// for a secret that begins with a slash, and for the file that holds it.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isPlace tells a path, and a URL without a user.
func isPlace(value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	return strings.HasPrefix(value, "/") || isURL && !strings.Contains(rest, "@")
}
