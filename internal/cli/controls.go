package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) freeze() *cobra.Command {
	request := server.ControlRequest{Kind: reconcile.Freeze}
	cmd := &cobra.Command{
		Use:     "freeze",
		Short:   "Stop all actions until a time",
		Long:    "Stop all actions, or those on one source, until a time. driftd continues to scan and to notify.",
		Example: "  driftd freeze --for 2h --reason \"incident 4711\"\n  driftd freeze --for 24h --source prod --reason \"sale\"",
		Args:    nothing,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.control(cmd, request, "for", "reason") },
	}
	cmd.Flags().StringVar(&request.Until, "for", "", "for how long, or until when: 2h, 2026-12-24T08:00:00Z")
	cmd.Flags().StringVar(&request.Source, "source", "", "only actions on this source")
	completeFlag(cmd, "source", c.ofLastRun(sourceNames))
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why")
	return cmd
}

func (c *command) thaw() *cobra.Command {
	request := server.ControlRequest{Kind: reconcile.Thaw}
	cmd := &cobra.Command{
		Use:     "thaw",
		Short:   "End a freeze",
		Long:    "End all freezes, or those of one source.",
		Example: "  driftd thaw --reason \"the incident is over\"",
		Args:    nothing,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.control(cmd, request, "reason") },
	}
	cmd.Flags().StringVar(&request.Source, "source", "", "only the freezes of this source")
	completeFlag(cmd, "source", c.ofLastRun(sourceNames))
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why")
	return cmd
}

// control makes an entry about actions, for which the command needs the flags.
func (c *command) control(cmd *cobra.Command, request server.ControlRequest, flags ...string) error {
	if err := require(cmd, flags...); err != nil {
		return err
	}
	return c.change(cmd, func(ctx context.Context, client *server.Client) error {
		made, err := client.Control(ctx, request)
		if err != nil {
			return err
		}
		_, what := phrase.AuditEntry("control", made)
		fmt.Fprintln(c.streams.Out, phrase.Visible(what))
		if request.Kind != reconcile.Thaw {
			return nil
		}
		o, err := client.Actions(ctx)
		for _, f := range o.Freezes {
			fmt.Fprintln(c.streams.Out, phrase.Visible(fmt.Sprintf("still frozen: %s until %s by %s: %s",
				cmp.Or(f.Source, "all sources"), phrase.Stamp(f.Until), cmp.Or(f.By, f.ID), f.Reason)))
		}
		return err
	})
}

func (c *command) rules() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
			o, err := client.Actions(ctx)
			if err != nil {
				return err
			}
			return report.WriteRules(c.streams.Out, c.output, o.Rules, c.reportOptions())
		})
	}
	cmd := &cobra.Command{
		Use:     "rules",
		Short:   "List the rules for actions, and whether they are stopped",
		Example: "  driftd rules\n  driftd rules resume shop --reason \"the webhook is fixed\"",
		Args:    known,
		RunE:    list,
	}
	c.outputFlag(cmd, "table", "json")
	request := server.ControlRequest{Kind: reconcile.Resume}
	resume := &cobra.Command{
		Use:     "resume RULE",
		Short:   "Let a rule that was stopped go on",
		Example: "  driftd rules resume shop --reason \"the webhook is fixed\"",
		Args:    one("rule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Rule = args[0]
			return c.control(cmd, request, "reason")
		},
	}
	resume.Flags().StringVar(&request.Reason, "reason", "", "why")
	cmd.AddCommand(resume)
	return cmd
}
