package plan

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// A hint is what to do about an error that a CLI reports.
type hint struct {
	// marks are texts of which one is in the error.
	marks []string
	next  string
}

// hints go from the particular to the general.
func hints(stage string) []hint {
	tooLarge := "part the root, raise max_memory, or use engine: state"
	if stage == statePull {
		tooLarge = "raise max_memory, or part the root"
	}
	return []hint{
		{[]string{"no space left on device"}, "make room where state_dir lies"},
		{[]string{"the program prints more than"}, tooLarge},
		{[]string{"driftd: start "}, "make the program executable, or name another binary"},
		{[]string{"Inconsistent dependency lock file", "dependency lock file", "Provider dependency changes detected",
			"does not match any of the checksums", "incorrect package checksum"},
			"run init in the root and commit .terraform.lock.hcl; it must hold this platform, too (providers lock -platform=linux_amd64)"},
		{[]string{"Failed to query available provider packages", "Failed to resolve provider packages", "Failed to install provider", "Could not retrieve the list of available versions"},
			"the provider cannot be had: look at network, proxy variables (pass_env) and cli_config_file, which may name a mirror"},
		{[]string{"Failed to download module", "Could not download module", "Unreadable module", "Module not found",
			"Failed to query module", "Unresolvable module", "Error accessing remote module registry"},
			"the source of a module is gone, or credentials for it are missing: see home and pass_env"},
		{[]string{"No value for required variable", "Value for undeclared variable"}, "set vars or var_files"},
		{[]string{"Backend initialization required", "Missing required argument", "Invalid backend configuration", `backend "`},
			"complete the backend by backend_config"},
		{[]string{"encrypted and can not be read"}, "name the key: TF_ENCRYPTION under env or pass_env, or an encryption block"},
		{[]string{"Unsupported state file format", "does not support state version"},
			"the state is broken, or another version of the CLI wrote it: name a binary that fits"},
		{[]string{"backend", "Failed to get existing workspaces", "Error loading state", "Failed to load state", "Error refreshing state", "Failed to refresh state", "error loading the remote state"},
			"the backend does not answer as it should: look at its address, credentials (pass_env, env) and network"},
		{[]string{"Workspace \"", "workspace "}, "name a workspace that exists"},
	}
}

// A failure says why no plan of a root could be made.
type failure struct {
	stage  string
	reason string
}

// Error returns the reason in a line, with what to do next.
func (f *failure) Error() string { return f.stage + ": " + f.reason }

// explain makes one reason of what a stage reported, without secrets.
func (r *runner) explain(stage string, err error, reported []Diagnostic) error {
	exit, exited := errors.AsType[*exitError](err)
	if !exited {
		return r.explainRun(stage, err)
	}
	if len(reported) == 0 {
		reported = errorsOf(exit.stderr)
	}
	if len(reported) == 0 {
		reported = []Diagnostic{{Summary: fmt.Sprintf("%s: %s", exit, lastLines(exit.stderr))}}
	}
	reported = withoutPreface(reported)
	whole := reported[0].Summary + "\n" + reported[0].Detail
	text := r.mask.hide(failures(reported).summary())
	if refusal := r.refusal(whole); refusal != "" {
		return &failure{stage, text + r.mask.hide(refusal)}
	}
	if misfit := strings.Contains(whole, "Core version") || strings.Contains(whole, "not compatible with OpenTofu"); misfit && len(r.required) > 0 {
		return &failure{stage, fmt.Sprintf("the root requires version %s, and this is %s: name a binary that fits",
			strings.Join(r.required, ", "), ownVersion(whole))}
	}
	for _, h := range hints(stage) {
		for _, mark := range h.marks {
			if strings.Contains(whole, mark) {
				return &failure{stage, text + "; " + h.next}
			}
		}
	}
	return &failure{stage, text}
}

// withoutPreface drops the error that says only that others follow.
func withoutPreface(reported []Diagnostic) []Diagnostic {
	if len(reported) > 1 && strings.Contains(reported[0].Summary, "encountered problems during initiali") {
		return reported[1:]
	}
	return reported
}

// ownVersion finds the version of the CLI in its complaint about another one.
func ownVersion(complaint string) string {
	fields := strings.Fields(complaint)
	for i, word := range fields[1:] {
		word = strings.TrimPrefix(word, "v")
		if (fields[i] == "version" || fields[i] == "OpenTofu") && word != "" && word[0] >= '0' && word[0] <= '9' {
			return strings.TrimRight(word, ".,")
		}
	}
	return "another"
}

// explainRun tells of a CLI that could not be run, or not to its end.
func (w *work) explainRun(stage string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &failure{stage, "no space left on device; make room where state_dir lies"}
	}
	return fmt.Errorf("%s: %w", stage, err)
}

func lastLines(text string) string {
	const most = 600
	if len(text) > most {
		text = text[len(text)-most:]
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
