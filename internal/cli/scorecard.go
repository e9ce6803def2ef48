package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) scorecard() *cobra.Command {
	by, runs := "source", 0
	cmd := &cobra.Command{
		Use:   "scorecard",
		Short: "Show how much can be rebuilt from what is declared",
		Long: `Show, by source or by owner, how many of the live resources are declared, how many
of the declared ones come from declarations that are deterministic and pinned, and how
many are in sync, as counted by the last scan, with the change since earlier scans.
Rules and acceptances do not change the counts, and nothing that was not checked
counts as good.`,
		Example: "  driftd scorecard\n  driftd scorecard --by owner\n  driftd scorecard --runs 1000 -o json",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if by != "source" && by != "owner" {
				return fmt.Errorf("--by %q: want source or owner", by)
			}
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				found, err := client.Runs(ctx, runs)
				if err != nil {
					return err
				}
				return report.WriteScorecard(c.streams.Out, c.output, found.Runs, by == "owner", c.reportOptions())
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", by, "what a row is about: source|owner")
	cmd.Flags().IntVar(&runs, "runs", 100, "compare with the oldest of this many scans, up to 1000; scans in a row with equal results count as one")
	c.outputFlag(cmd, "table", "json")
	return cmd
}
