package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/declared/acceptances"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) accept() *cobra.Command {
	request := server.DecisionRequest{Kind: model.Accept}
	var export bool
	cmd := &cobra.Command{
		Use:   "accept ID…",
		Short: "Accept findings as they are, with a reason, an owner and an end date",
		Long: `Accept findings: they do not count as drift until the end date, while their values
stay the same. A finding reopens when its value or its declaration changes, and is
accepted again when it returns to what was accepted.

An end is a date (until the end of that day, in UTC), a time, how long from now,
or forever.`,
		Example: `  driftd accept 3f2a --reason "hotfix, see OPS-123" --owner team-shop --until 2026-12-24
  driftd accept 3f2a 77c1 --reason "kept by hand" --owner bob --until 30d
  driftd accept --export > acceptances.yaml`,
		ValidArgsFunction: c.completeFindings,
		RunE: func(cmd *cobra.Command, ids []string) error {
			switch err := apart(cmd, "export", "reason", "owner", "until"); {
			case err != nil:
				return err
			case export && len(ids) > 0:
				return errors.New("--export writes all acceptances in effect: give no finding IDs")
			case export:
				return c.ask(cmd, c.exportAccepted)
			}
			if err := errors.Join(some("finding")(cmd, ids), require(cmd, "reason", "owner", "until")); err != nil {
				return err
			}
			return c.decide(cmd, ids, request)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.Reason, "reason", "", "why the finding is acceptable")
	flags.StringVar(&request.Owner, "owner", "", "the person or team responsible")
	flags.StringVar(&request.Until, "until", "", "when it ends: 2026-12-24, 30d, forever")
	flags.BoolVar(&export, "export", false, "print all acceptances in effect as a file for git")
	return cmd
}

func (c *command) exportAccepted(ctx context.Context, client *server.Client) error {
	open, err := client.Findings(ctx, server.Query{Hidden: true})
	if err != nil {
		return err
	}
	return acceptances.Write(c.streams.Out, open)
}

func (c *command) acknowledge() *cobra.Command {
	request := server.DecisionRequest{Kind: model.Acknowledge}
	cmd := &cobra.Command{
		Use:     "acknowledge ID…",
		Aliases: []string{"ack"},
		Short:   "Mark findings as being worked on: no reminders for a while",
		Long: `Acknowledge findings: they still count as drift and are in every report, but no
reminders are sent until the end, unless they change.`,
		Example:           "  driftd acknowledge 3f2a\n  driftd ack 3f2a --reason \"rolling back\" --for 4h",
		ValidArgsFunction: c.completeFindings,
		RunE:              func(cmd *cobra.Command, ids []string) error { return c.decide(cmd, ids, request) },
	}
	cmd.Flags().StringVar(&request.Reason, "reason", "", "what is being done about it")
	cmd.Flags().StringVar(&request.Until, "for", "24h", "for how long")
	return cmd
}

func (c *command) snooze() *cobra.Command {
	request := server.DecisionRequest{Kind: model.Snooze}
	cmd := &cobra.Command{
		Use:   "snooze ID…",
		Short: "Postpone notifications about findings",
		Long: `Snooze findings: they still count as drift and are in every report, but no
notifications are sent until the end, unless they change.`,
		Example:           "  driftd snooze 3f2a --for 4h\n  driftd snooze 3f2a --until 2026-12-24T08:00:00Z --reason \"after the freeze\"",
		ValidArgsFunction: c.completeFindings,
		RunE: func(cmd *cobra.Command, ids []string) error {
			if err := apart(cmd, "for", "until"); err != nil {
				return err
			}
			return c.decide(cmd, ids, request)
		},
	}
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why it is postponed")
	cmd.Flags().StringVar(&request.Until, "for", "", "for how long: 4h, 2d")
	cmd.Flags().StringVar(&request.Until, "until", "", "until when: 2026-12-24, 2026-12-24T08:00:00Z")
	return cmd
}

// decide makes a decision about each finding, and prints the decisions.
func (c *command) decide(cmd *cobra.Command, ids []string, request server.DecisionRequest) error {
	request.Findings = ids
	return c.change(cmd, func(ctx context.Context, client *server.Client) error {
		made, err := client.Decide(ctx, request)
		if err != nil {
			return err
		}
		for i := range made {
			fmt.Fprintln(c.streams.Out, phrase.Visible(done(&made[i])))
		}
		return c.warnOfDoubt(ctx, client)
	})
}

// warnOfDoubt warns on the standard error if the audit log, which records decisions, is in doubt.
func (c *command) warnOfDoubt(ctx context.Context, client *server.Client) error {
	status, err := client.Status(ctx)
	if err != nil {
		return fmt.Errorf("the decision is stored; read the state of the audit log: %w", err)
	}
	for _, problem := range status.Problems {
		if strings.HasPrefix(problem, inDoubt) {
			fmt.Fprintln(c.streams.Err, "driftd: warning: the decision is stored, and the audit log may not have recorded it: "+phrase.Visible(problem))
		}
	}
	return nil
}

// done returns a line that describes a decision.
func done(d *model.DecisionStatus) string {
	until := "forever"
	if !d.Until.IsZero() {
		until = "until " + d.Until.UTC().Format(time.RFC3339)
	}
	text := fmt.Sprintf("%s %s %s (%s %s), decision %s", d.Kind.Participle(), d.Finding, until, d.Subject.VerdictText(), d.Subject.Key, d.ID)
	if d.Replaces != "" {
		text += ", which replaces decision " + d.Replaces
	}
	if d.Why != "" {
		text += "; not in effect: " + d.Why
	}
	return text
}

func (c *command) decisions() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, c.listDecisions) }
	cmd := &cobra.Command{
		Use:   "decisions",
		Short: "List or revoke decisions about findings",
		Long: `List acceptances, snoozes and acknowledgements: who made them, when they
end, the reason, and the finding that each applies to, or why it applies to none.`,
		Example: "  driftd decisions\n  driftd decisions -o json\n  driftd decisions revoke 9b1c",
		Args:    known,
		RunE:    list,
	}
	c.outputFlag(cmd, "table", "json")
	same := &cobra.Command{Use: "list", Short: "List decisions, like driftd decisions", Example: "  driftd decisions list -o json", Args: nothing, RunE: list}
	c.outputFlag(same, "table", "json")
	cmd.AddCommand(same, &cobra.Command{
		Use:   "revoke ID…",
		Short: "Revoke decisions: their findings count and notify again",
		Long: `Revoke decisions. To revoke a decision from a file (acceptances.yaml), remove it
from the file.`,
		Example: "  driftd decisions revoke 9b1c\n  driftd decisions revoke 9b1c 04fe",
		Args:    some("decision"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return c.change(cmd, func(ctx context.Context, client *server.Client) error { return c.revoke(ctx, client, ids) })
		},
	})
	return cmd
}

func (c *command) listDecisions(ctx context.Context, client *server.Client) error {
	list, err := client.Decisions(ctx)
	if err != nil {
		return err
	}
	return report.WriteDecisions(c.streams.Out, c.output, list, c.reportOptions())
}

// revoke revokes the decisions, and prints the result for each.
func (c *command) revoke(ctx context.Context, client *server.Client, ids []string) error {
	var errs []error
	for _, id := range ids {
		d, err := client.Revoke(ctx, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(c.streams.Out, "revoked %s: %s of %s by %s\n", phrase.Visible(d.ID), d.Kind, phrase.Visible(d.Topic()), phrase.Visible(d.By))
	}
	return errors.Join(errs...)
}
