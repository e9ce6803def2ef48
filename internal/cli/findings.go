package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) findings() *cobra.Command {
	var q queryFlags
	var hidden, exempt, notJudged bool
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "List findings, show one in full, or show what is hidden or exempt",
		Long: `List open findings, as findings list does. With --hidden, show what each ignore
rule hides, with its reason and end, the accepted findings with the end of each
acceptance, and the rules that hide nothing and can be removed. With --exempt, show the fields that differ
and are not drift, with the evidence. With --not-judged, show the live resources
that no declaration claims and that the last scan did not judge, and why.

` + filterHelp + listExitCodes,
		Example: `  driftd findings
  driftd findings --severity critical,high --kind deploy -n shop
  driftd findings --hidden
  driftd findings --exempt
  driftd findings --not-judged
  driftd findings show 3f2a`,
		Args: known,
		RunE: func(cmd *cobra.Command, _ []string) error {
			alone := append(narrowing(), "resolved", "columns")
			if err := errors.Join(apart(cmd, "hidden", alone...), apart(cmd, "exempt", append(alone, "not-judged", "hidden")...),
				apart(cmd, "not-judged", append(alone, "hidden")...)); err != nil {
				return err
			}
			switch {
			case hidden:
				return c.ask(cmd, c.printHidden)
			case exempt:
				return c.ask(cmd, c.printExempt)
			case notJudged:
				return c.ask(cmd, c.printNotJudged)
			}
			return c.listFindings(cmd, &q, nil)
		},
	}
	q.add(c, cmd)
	cmd.Flags().BoolVar(&q.resolved, "resolved", false, "include resolved findings")
	cmd.Flags().BoolVar(&hidden, "hidden", false, "findings that ignore rules hide, and accepted ones")
	cmd.Flags().BoolVar(&exempt, "exempt", false, "fields that differ and are not drift, with the evidence")
	cmd.Flags().BoolVar(&notJudged, "not-judged", false, "live resources that the last scan did not judge")
	c.listFlags(cmd)
	cmd.AddCommand(c.findingsList(), c.findingsShow())
	return cmd
}

// printHidden prints the hidden and the accepted findings of the last scan.
func (c *command) printHidden(ctx context.Context, client *server.Client) error {
	status, err := client.Status(ctx)
	if err != nil {
		return err
	}
	open, err := client.Findings(ctx, server.Query{Hidden: true})
	if err != nil {
		return err
	}
	var rules []model.RuleRun
	if status.LastRun != nil {
		rules = status.LastRun.Rules
	}
	return report.WriteHidden(c.streams.Out, c.output, rules, open, c.reportOptions())
}

// printExempt prints the exempt fields of the last scan.
func (c *command) printExempt(ctx context.Context, client *server.Client) error {
	answer, err := client.Exemptions(ctx)
	if err != nil {
		return err
	}
	return report.WriteExemptions(c.streams.Out, c.output, answer.Exemptions, answer.Total, c.reportOptions())
}

// printNotJudged prints the resources that the last scan did not judge.
func (c *command) printNotJudged(ctx context.Context, client *server.Client) error {
	status, err := client.Status(ctx)
	if err != nil {
		return err
	}
	var scan model.Scan
	if status.LastRun != nil {
		scan = status.LastRun.Scan()
	}
	return report.WriteNotJudged(c.streams.Out, c.output, scan, c.reportOptions())
}

func (c *command) findingsList() *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "list [RESOURCE…]",
		Short: "List open findings, one line each",
		Long: `List open findings, worst first, one line each: all, or those of the resources.

` + filterHelp + listExitCodes,
		Example: `  driftd findings list
  driftd findings list --resolved --since 7d
  driftd findings list deploy/shop/api
  driftd findings list --actor 'kubectl-*' --owner team-shop
  driftd findings list -o csv --columns id,severity,key,who`,
		ValidArgsFunction: c.completeResources,
		RunE:              func(cmd *cobra.Command, resources []string) error { return c.listFindings(cmd, &q, resources) },
	}
	q.add(c, cmd)
	cmd.Flags().BoolVar(&q.resolved, "resolved", false, "include resolved findings")
	cmd.Flags().BoolVar(&q.hidden, "hidden", false, "include findings that an ignore rule hides, and accepted ones")
	c.listFlags(cmd)
	return cmd
}

// listFlags adds the flags of the output of a list.
func (c *command) listFlags(cmd *cobra.Command) {
	c.outputFlag(cmd, report.ListFormats()...)
	cmd.Flags().StringSliceVar(&c.columns, "columns", nil, "columns of table, wide and csv: "+strings.Join(report.Columns(), ","))
	completeFlag(cmd, "columns", fixed(report.Columns()))
}

func (c *command) listFindings(cmd *cobra.Command, q *queryFlags, resources []string) error {
	if err := errors.Join(q.check(resources), report.CheckList(c.output, c.columns)); err != nil {
		return err
	}
	if !report.NeedsFindings(c.output, c.columns) {
		defer paceCollections(listGrowth)()
	}
	return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
		o := c.reportOptions()
		o.Columns = c.columns
		listed, write, err := c.readList(ctx, client, q.filtered(resources), o)
		if err != nil {
			return err
		}
		if listed == 0 && filters(cmd, resources) {
			all, err := client.Outlines(ctx, server.Query{Resolved: q.resolved, Hidden: q.hidden})
			if err != nil {
				return err
			}
			if noted := c.noMatch(len(all)); noted && (c.output == "table" || c.output == "wide") {
				return nil
			}
		}
		return write()
	})
}

// readList reads what the list has of findings. It returns their number, and a function that writes the
// list.
func (c *command) readList(ctx context.Context, client *server.Client, q server.Query, o report.Options) (listed int, write func() error, err error) {
	if report.NeedsFindings(c.output, c.columns) {
		found, err := client.Findings(ctx, q)
		return len(found), func() error { return report.WriteFindings(c.streams.Out, c.output, found, o) }, err
	}
	found, err := client.Outlines(ctx, q)
	return len(found), func() error { return report.WriteOutlines(c.streams.Out, c.output, found, o) }, err
}

// noMatch prints that the filters leave out so many findings, which are all that there are, and
// reports whether there are any. The output of a format for programs is not mixed with it.
func (c *command) noMatch(left int) bool {
	if left == 0 {
		return false
	}
	out := c.streams.Err
	if c.output == "table" || c.output == "wide" {
		out = c.streams.Out
	}
	fmt.Fprintf(out, "No finding matches the filters: they leave out %s.\n", phrase.Count(left, "finding"))
	return true
}

func (c *command) findingsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show ID",
		Short:             "Show one finding in full: fields, actor, times and evidence",
		Example:           "  driftd findings show 3f2a",
		Args:              one("finding"),
		ValidArgsFunction: c.completeFindings,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				detail, err := client.Finding(ctx, args[0])
				if err != nil {
					return err
				}
				versions := make([]report.Version, len(detail.Versions))
				for i, v := range detail.Versions {
					versions[i] = report.Version(v)
				}
				err = report.WriteFinding(c.streams.Out, c.output, detail.Finding, versions, c.reportOptions())
				if err == nil && c.output == "table" {
					err = errors.Join(c.printImport(&detail.Finding), c.printActing(ctx, client, detail.Finding.ID), c.printNext(&detail.Finding))
				}
				return err
			})
		},
	}
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// printActing prints the last action of a finding, and why driftd proposed none after the last scan.
func (c *command) printActing(ctx context.Context, client *server.Client, id string) error {
	o, err := client.Actions(ctx)
	if err != nil {
		return err
	}
	if a := o.LastAction(id); a != nil {
		text := fmt.Sprintf("%s since %s", a.State, phrase.Stamp(a.Since()))
		if a.Outcome != "" {
			text += ": " + a.Outcome
		}
		show := remedy.Quote(append([]string{"driftd", "actions", "show", a.ID}, c.placeFlags()...)...)
		fmt.Fprintf(c.streams.Out, "\nAction: %s; %s\n", phrase.Visible(text), cmp.Or(show, "driftd actions show "+a.ID))
	}
	if h := o.HeldFinding(id); h != nil {
		fmt.Fprintf(c.streams.Out, "\nNo action: %s\n", phrase.Visible(h.String()))
	}
	return nil
}

// printNext prints the ways out of an open finding.
func (c *command) printNext(f *model.Finding) error {
	if !f.Resolved.IsZero() {
		return nil
	}
	suggest := remedy.Quote(append([]string{"driftd", "suggest", f.ID}, c.placeFlags()...)...)
	_, err := fmt.Fprintf(c.streams.Out, "\nNext: %s: %s\n", phrase.NextStep(f), cmp.Or(suggest, "driftd suggest"))
	return err
}
