package plan

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// A hint is the next step for an error of the CLI.
type hint struct {
	// marks are texts; the error has one of them.
	marks []string
	next  string
}

// hints returns all hints, the more specific ones first.
func hints(stage string) []hint {
	tooLarge := "split the root, raise max_memory, or use engine: state"
	if stage == statePull {
		tooLarge = "raise max_memory, or split the root"
	}
	return []hint{
		{[]string{"no space left on device"}, "free space in state_dir"},
		{[]string{"the program prints more than"}, tooLarge},
		{[]string{"driftd: start "}, "make the program executable, or set binary to another one"},
		{[]string{"Inconsistent dependency lock file", "dependency lock file", "Provider dependency changes detected",
			"does not match any of the checksums", "incorrect package checksum"},
			"run init in the root and commit .terraform.lock.hcl; it must include this platform (providers lock -platform=linux_amd64)"},
		{[]string{"Failed to query available provider packages", "Failed to resolve provider packages", "Failed to install provider", "Could not retrieve the list of available versions"},
			"the provider cannot be fetched: check the network, proxy variables (pass_env) and the mirrors in cli_config_file"},
		{[]string{"Failed to download module", "Could not download module", "Unreadable module", "Module not found",
			"Failed to query module", "Unresolvable module", "Error accessing remote module registry"},
			"the source of a module does not exist, or its credentials are missing: check home and pass_env"},
		{[]string{"No value for required variable", "Value for undeclared variable"}, "set vars or var_files"},
		{[]string{"Backend initialization required", "Missing required argument", "Invalid backend configuration", `backend "`},
			"complete the backend with backend_config"},
		{[]string{"encrypted and can not be read"}, "set the key: TF_ENCRYPTION in env or pass_env, or an encryption block"},
		{[]string{"Unsupported state file format", "does not support state version"},
			"the state is invalid, or another version of the CLI wrote it: set binary to that version"},
		{[]string{"backend", "Failed to get existing workspaces", "Error loading state", "Failed to load state", "Error refreshing state", "Failed to refresh state", "error loading the remote state"},
			"the backend failed: check its address, credentials (pass_env, env) and network"},
		{[]string{"Workspace \"", "workspace "}, "set workspace to one that exists"},
	}
}

// A failure is the reason why a root cannot be planned.
type failure struct {
	stage  string
	reason string
}

// Error returns the stage and the reason in one line, with the next step.
func (f *failure) Error() string { return f.stage + ": " + f.reason }

// explain returns the error for the diagnostics of a stage, without secrets.
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
		return &failure{stage, fmt.Sprintf("the root requires version %s, and this is %s: set binary to a matching version",
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

// withoutPreface removes a first error that only announces the others.
func withoutPreface(reported []Diagnostic) []Diagnostic {
	if len(reported) > 1 && strings.Contains(reported[0].Summary, "encountered problems during initiali") {
		return reported[1:]
	}
	return reported
}

// ownVersion returns the version of the CLI from its error about another required version.
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

// explainRun returns an error if the CLI could not be started or was stopped.
func (w *work) explainRun(stage string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &failure{stage, "no space left on device; free space in state_dir"}
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
