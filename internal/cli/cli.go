// Package cli is driftd's command line, with one file per command. Results go to the standard
// output, everything else to the standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Build is the version information of the binary.
type Build struct{ Version, Commit, Date string }

// Streams are the standard streams of a command.
type Streams struct{ Out, Err io.Writer }

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, build Build, args []string, streams Streams) int {
	out := &checkedWriter{Writer: streams.Out}
	streams.Out = out
	root := Root(build, streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	if out.err != nil && (err == nil || errors.As(err, &status)) {
		err = out.err
	}
	switch {
	case err == nil:
		return exitInSync
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(streams.Err, "driftd:", visible(err.Error()))
	return exitError
}

// command is the state that all commands share.
type command struct {
	build   Build
	streams Streams
	// global flags
	configFile, stateDir, output string
	// columns is a flag of lists of findings.
	columns []string
	// wait is how long a query waits for a scan that is writing to the database.
	wait time.Duration
	// failOn is a flag of scan and report.
	failOn failOn
	// formats is a flag of scan and report; outputs are its files.
	formats []string
	outputs []formatFile
	// checkout is set by scan.
	checkout *checkout
}

// Root returns the command driftd, with all others below it.
func Root(build Build, streams Streams) *cobra.Command {
	c := &command{build: build, streams: streams, wait: queryWait}
	root := &cobra.Command{
		Use:   "driftd",
		Short: "Find what drifted from what was declared, who changed it and when",
		Long: `driftd compares live systems with what git and Terraform declare. It reports
each field that differs, since when, and who changed it.

Exit codes of scan and report: 0 everything checked and in sync, 2 drift at or
above --fail-on, 3 no such drift but something was not checked, 1 the command
could not run.`,
		Example: `  driftd scan ./deploy
  driftd scan ./deploy --live cluster.yaml
  driftd serve --config /etc/driftd/driftd.yaml`,
		Version:       build.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s", err, seeHelp(cmd))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&c.configFile, "config", "", "configuration file (default $DRIFTD_CONFIG, or "+SystemConfig+" where it exists)")
	flags.StringVar(&c.stateDir, "state-dir", "", "folder of the database (default: the configuration's, or the user's own)")
	root.AddCommand(c.init(), c.scan(), c.check(), c.serve(), c.report(), c.scorecard(), c.preview(), c.findings(), c.watch(), c.suggest(), c.adopt(), c.history(), c.diff(), c.accept(), c.baseline(), c.acknowledge(), c.snooze(),
		c.decisions(), c.reconcile(), c.approve(), c.decline(), c.cancel(), c.actions(), c.freeze(), c.thaw(), c.rules(), c.status(), c.audit(), c.backup(), c.store(), c.notify(), c.config(), c.sources(), c.mapping(), c.demo(), c.user(), c.version(), c.shoutrrrSend(), c.box())
	return root
}

// outputFlag adds -o.
func (c *command) outputFlag(cmd *cobra.Command, formats ...string) {
	cmd.Flags().StringVarP(&c.output, "output", "o", formats[0], "format: "+strings.Join(formats, "|"))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}
