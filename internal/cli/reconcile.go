package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) reconcile() *cobra.Command {
	request := server.ActionRequest{}
	cmd := &cobra.Command{
		Use:   "reconcile ID…",
		Short: "Propose to put the resources of findings back to what is declared",
		Long: `Propose an action for each finding: the live resource gets the declared values, or is
deleted if no declaration has it. The rules of reconcile.rules must allow it, no guard
may refuse it, and another person must approve it. With --dry-run nothing is proposed:
what would be done, and what each guard says, is printed.

Exit codes:
  0  the actions were proposed; with --dry-run, no guard refuses
  1  usage, configuration, or the daemon does not run
  2  a guard refuses`,
		Example: `  driftd reconcile 3f2a --dry-run
  driftd reconcile 3f2a --reason "changed by hand in OPS-123, no longer needed"`,
		Args:              some("finding"),
		ValidArgsFunction: c.completeFindings,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return c.change(cmd, func(ctx context.Context, client *server.Client) error {
				return c.propose(ctx, client, ids, request)
			})
		},
	}
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why the resource is put back")
	cmd.Flags().BoolVar(&request.DryRun, "dry-run", false, "print what would be done, and what the guards say")
	c.outputFlag(cmd, "table", "json")
	cmd.AddCommand(c.checkWriters())
	return cmd
}

// checkWriters returns the command that prints what the credentials for writing may do.
func (c *command) checkWriters() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Compare what the credentials for writing may do with what the rules need",
		Long: `Ask each system of reconcile.writers what the credentials may do, and print what of it
the rules of reconcile.rules do not need, and what they lack. Nothing is written.

Exit codes:
  0  the credentials have the rights that the rules need, and no others
  1  usage or configuration, or a system could not be asked
  2  the credentials have rights that they do not need, or lack some`,
		Example: "  driftd reconcile check --config driftd.yaml",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, estate, err := c.openConfigured(cmd)
			if err != nil {
				return err
			}
			writers, err := openWriters(cfg, &estate)
			if err != nil {
				return err
			}
			return c.printRights(cmd.Context(), writers, reconcileRules(cfg))
		},
	}
}

func (c *command) printRights(ctx context.Context, writers reconcile.Writers, rules []reconcile.Rule) error {
	if len(writers.Actuators)+len(writers.Appliers)+len(writers.Recorders) == 0 {
		fmt.Fprintln(c.streams.Out, "No writers: driftd only reads. Set reconcile.writers in the configuration to change that.")
	}
	code := exitInSync
	printed := func(of string, writer reconcile.Actuator, rules []reconcile.Rule) error {
		rights, err := writer.Rights(ctx, rules)
		if err != nil {
			return fmt.Errorf("writer of %s: %w", of, err)
		}
		fmt.Fprintf(c.streams.Out, "%s: %s as %s\n", of, visible(rights.Endpoint), visible(rights.Identity))
		for _, right := range rights.May {
			fmt.Fprintln(c.streams.Out, "  may "+visible(right))
		}
		for _, right := range rights.Excess {
			fmt.Fprintln(c.streams.Out, "  does not need: "+visible(right))
			code = exitRefused
		}
		for _, right := range rights.Missing {
			fmt.Fprintln(c.streams.Out, "  lacks: "+visible(right))
			code = exitRefused
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(writers.Actuators)) {
		if err := printed("source "+name, writers.Actuators[name], reconcile.Of(rules, name)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(writers.Appliers)) {
		if err := printed("declaration "+name, writers.Appliers[name], rules); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(writers.Recorders)) {
		if err := printed("declaration "+name, writers.Recorders[name], rules); err != nil {
			return err
		}
	}
	if code == exitInSync {
		return nil
	}
	return exitStatus(code)
}

func (c *command) propose(ctx context.Context, client *server.Client, ids []string, request server.ActionRequest) error {
	var failed []error
	refused := false
	for _, id := range ids {
		p, err := client.Reconcile(ctx, id, request)
		switch {
		case err != nil && len(ids) > 1:
			err = fmt.Errorf("finding %s: %w", id, err)
		case p.Action != nil:
			err = report.WriteAction(c.streams.Out, c.output, p.Action, c.reportOptions())
		case p.Proposal != nil:
			err = report.WriteProposal(c.streams.Out, c.output, p.Proposal, c.reportOptions())
			refused = refused || !p.Proposal.Allowed()
		}
		if err = c.refused(err); errors.As(err, new(exitStatus)) {
			refused = true
		} else if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 && refused {
		return exitStatus(exitRefused)
	}
	return errors.Join(failed...)
}

// exitRefused is the exit code of a request about actions that a guard refuses.
const exitRefused = 2

// refused prints the refusal of a guard and returns its exit code; other errors are returned as they are.
func (c *command) refused(err error) error {
	if e := (*server.Error)(nil); errors.As(err, &e) && e.Status == http.StatusConflict {
		fmt.Fprintln(c.streams.Err, "driftd: "+phrase.Visible(e.Error()))
		return exitStatus(exitRefused)
	}
	return err
}

// answering returns a command that answers actions.
func (c *command) answering(answer reconcile.Answer, short, long, example string) *cobra.Command {
	request := server.ActionRequest{}
	cmd := &cobra.Command{
		Use:     string(answer) + " ACTION",
		Short:   short,
		Long:    long,
		Example: example,
		Args:    one("action"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.answerAction(cmd, args[0], answer, request)
		},
	}
	if answer == reconcile.ApproveAnswer {
		cmd.Flags().StringVar(&request.Digest, "digest", "", "the digest of what is approved, which driftd actions show prints")
	}
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why")
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// answerAction answers an action, and prints it.
func (c *command) answerAction(cmd *cobra.Command, id string, answer reconcile.Answer, request server.ActionRequest) error {
	return c.change(cmd, func(ctx context.Context, client *server.Client) error {
		a, err := client.AnswerAction(ctx, id, answer, request)
		if err != nil {
			return c.refused(err)
		}
		return report.WriteAction(c.streams.Out, c.output, &a, c.reportOptions())
	})
}

func (c *command) approve() *cobra.Command {
	return c.answering(reconcile.ApproveAnswer, "Approve an action, which is then carried out",
		`Approve exactly what "driftd actions show" prints, by its digest. You must be a person of
people in the configuration, and neither the one who asked for the action nor the one
who made the drift. Once the action has the approvals that its rule needs, it is carried
out, and the command prints what came of it.

Exit codes:
  0  the approval is recorded; the printed state says what came of it
  1  usage, configuration, or the daemon does not run
  2  a guard refuses, or what would be done has changed`,
		"  driftd actions show 9b1c\n  driftd approve 9b1c --digest 5d41402abc4b2a76b9719d911017c592")
}

func (c *command) decline() *cobra.Command {
	return c.answering(reconcile.DeclineAnswer, "Decline an action: it is not proposed again while the finding stays the same",
		"Decline an action that is proposed. driftd does not propose it again by itself while the finding stays the same.",
		"  driftd decline 9b1c --reason \"the hotfix stays until Monday\"")
}

func (c *command) cancel() *cobra.Command {
	return c.answering(reconcile.CancelAnswer, "Cancel an action that you asked for",
		"Cancel an action that is proposed. One that is being carried out cannot be cancelled.",
		"  driftd cancel 9b1c")
}

func (c *command) actions() *cobra.Command {
	var open bool
	list := func(cmd *cobra.Command, _ []string) error {
		return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
			o, err := client.Actions(ctx)
			if err != nil {
				return err
			}
			if open {
				o.Actions = openOnly(o.Actions)
			}
			return report.WriteActions(c.streams.Out, c.output, &o, c.reportOptions())
		})
	}
	cmd := &cobra.Command{
		Use:     "actions",
		Short:   "List actions, the freezes that hold, and the rules that are stopped",
		Example: "  driftd actions\n  driftd actions --open\n  driftd actions show 9b1c",
		Args:    known,
		RunE:    list,
	}
	cmd.Flags().BoolVar(&open, "open", false, "only actions that are not over")
	c.outputFlag(cmd, "table", "json")
	show := &cobra.Command{
		Use:     "show ACTION",
		Short:   "Show an action: what it does, its digest, who approved it, and what came of it",
		Example: "  driftd actions show 9b1c",
		Args:    one("action"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				a, err := client.Action(ctx, args[0])
				if err != nil {
					return err
				}
				return report.WriteAction(c.streams.Out, c.output, &a, c.reportOptions())
			})
		},
	}
	c.outputFlag(show, "table", "json")
	cmd.AddCommand(show, c.settle())
	return cmd
}

func (c *command) settle() *cobra.Command {
	request := server.ActionRequest{}
	cmd := &cobra.Command{
		Use:   "settle ACTION",
		Short: "Enter what came of an action of which driftd cannot find out",
		Long: `Settle an action that is armed, written or unknown, such as one whose source is no longer
in reconcile.writers, or whose resource can never be read again. Look at the resource
first. You must be an approver and a person of people in the configuration. The audit
log records who settled it and why, and its rule is stopped until it is resumed.

Results:
  converged      the resource is as declared
  not-converged  the resource is neither as declared nor as it was
  failed         the request had no effect

Exit codes:
  0  the action is settled
  1  usage, configuration, or the daemon does not run
  2  the action has another state, or is being carried out right now`,
		Example: "  driftd actions settle 9b1c --as failed --reason \"the cluster was removed\"",
		Args:    one("action"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := require(cmd, "as", "reason"); err != nil {
				return err
			}
			return c.answerAction(cmd, args[0], reconcile.SettleAnswer, request)
		},
	}
	cmd.Flags().StringVar((*string)(&request.As), "as", "", "what came of it: converged, not-converged or failed")
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why")
	c.outputFlag(cmd, "table", "json")
	return cmd
}

func openOnly(actions []reconcile.Action) []reconcile.Action {
	var open []reconcile.Action
	for i := range actions {
		if actions[i].State.IsOpen() {
			open = append(open, actions[i])
		}
	}
	return open
}

// idle answers requests about actions while no daemon runs: it acts on nothing.
type idle struct{ *daemon.Engine }

var errIdle = &server.Error{Status: http.StatusServiceUnavailable, Message: "only the daemon acts", Hint: "start driftd serve"}

// PreviewAction returns an error.
func (idle) PreviewAction(context.Context, *model.Finding, string) (reconcile.Proposal, error) {
	return reconcile.Proposal{}, errIdle
}

// Act returns an error.
func (idle) Act(context.Context, *model.Finding, reconcile.Request) (reconcile.Action, error) {
	return reconcile.Action{}, errIdle
}

// AnswerAction returns an error.
func (idle) AnswerAction(context.Context, string, reconcile.Answer, reconcile.Request) (reconcile.Action, error) {
	return reconcile.Action{}, errIdle
}
