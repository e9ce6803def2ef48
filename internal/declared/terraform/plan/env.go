package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/secret"
)

// reserved tells variables that driftd sets, or that would change what the
// CLI does behind its back.
func reserved(name string) bool {
	switch name {
	case "TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_INPUT", "TF_IN_AUTOMATION", "TF_WORKSPACE",
		"TF_CLI_ARGS", "TF_LOG", "TF_LOG_CORE", "TF_LOG_PATH", "TF_LOG_PROVIDER", "CHECKPOINT_DISABLE", "TMPDIR":
		return true
	}
	return strings.HasPrefix(name, "TF_CLI_ARGS_")
}

// Check finds what is wrong with the options before anything runs.
func (o Options) Check() error {
	for name := range o.Env {
		if reserved(name) {
			return fmt.Errorf("env: %s is driftd's to set; settings like workspace, cli_config_file and parallelism speak for it", name)
		}
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is no name of a variable", name)
		}
	}
	return o.Policy.Check()
}

// given returns the variables that the configuration names.
func (o Options) given(environ []string) map[string]string {
	given := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !reserved(name) && slices.ContainsFunc(o.PassEnv, func(pattern string) bool { return matches(pattern, name) }) {
			given[name] = value
		}
	}
	for name, value := range o.Env {
		given[name] = value
	}
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
	for name, value := range w.given(environ) {
		env[name] = value
	}
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

// secrets returns the values that the CLI was given and that may be secret.
// Addresses and paths are left readable: most errors are about them.
func (w *work) secrets(environ []string) []string {
	var found []string
	add := unlessPlace(func(value string) { found = append(found, value) })
	for _, value := range w.given(environ) {
		add(value)
	}
	for _, value := range w.Vars {
		texts(valueOf(value), add)
	}
	for name, value := range w.backend {
		if name == "conn_str" || name == "address" || secret.Name(name) {
			texts(valueOf(value), func(text string) { found = append(found, text) })
		}
	}
	return found
}

// unlessPlace leaves out addresses and paths.
func unlessPlace(found func(string)) func(string) {
	return func(value string) {
		if !isPlace(value) {
			found(value)
		}
	}
}

// isPlace tells a path, and a URL without a user.
func isPlace(value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	return strings.HasPrefix(value, "/") || isURL && !strings.Contains(rest, "@")
}
