package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/model"
)

// Exit codes, after Terraform's -detailed-exitcode. If several apply, the first
// in the order error, drift, unchecked is used.
const (
	exitInSync    = 0
	exitError     = 1
	exitDrift     = 2
	exitUnchecked = 3
)

// An exitStatus ends a command with a code and without a message.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitCodes is the part of a command's help that lists the exit codes.
const exitCodes = `Exit codes:
  0  everything was checked, and nothing is at or above --fail-on
  1  usage, configuration or database: the command could not run
  2  drift at or above --fail-on (default: any drift)
  3  no such drift, but something was not checked: a source, a scope, a
     declaration or a resource. Accepted findings do not count.`

// listExitCodes is the same for lists of findings.
const listExitCodes = `

Exit codes:
  0  the findings were listed, even if there are some: driftd report has codes for drift
  1  usage, configuration or database: the command could not run`

// failOn is the flag --fail-on: the lowest severity of drift that gives exit code 2.
type failOn struct{ severity string }

// anySeverity is the value of --fail-on that includes every drift.
const anySeverity = "any"

func failOnValues() []string {
	values := []string{anySeverity}
	for _, s := range model.Severities() {
		values = append(values, string(s))
	}
	return values
}

func (f *failOn) add(cmd *cobra.Command) {
	values := failOnValues()
	cmd.Flags().StringVar(&f.severity, "fail-on", anySeverity, "lowest severity of drift that gives exit code 2: "+strings.Join(values, "|"))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// check returns an error for a severity that does not exist.
func (f *failOn) check() error {
	for _, valid := range failOnValues() {
		if f.severity == valid {
			return nil
		}
	}
	return fmt.Errorf("--fail-on %q: want one of %s", f.severity, strings.Join(failOnValues(), ", "))
}

// reaches reports whether a finding is drift at or above the severity.
func (f *failOn) reaches(found *model.Finding) bool {
	if !found.Verdict.IsDrift() || !found.Resolved.IsZero() || !found.Shown() {
		return false
	}
	return f.includes(found.Severity)
}

// includes reports whether a severity is at or above that of the flag.
func (f *failOn) includes(s model.Severity) bool {
	return f.severity == anySeverity || cmp.Compare(s.Rank(), model.Severity(f.severity).Rank()) <= 0
}

// status returns the exit code of a report, as an error; nil for 0.
func (f *failOn) status(r *model.Report) error {
	for i := range r.Findings {
		if f.reaches(&r.Findings[i]) {
			return exitStatus(exitDrift)
		}
	}
	if !r.Scan.Complete {
		return exitStatus(exitUnchecked)
	}
	return nil
}
