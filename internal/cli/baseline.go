package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) baseline() *cobra.Command {
	var request server.BaselineRequest
	var yes bool
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Accept all open findings in one decision",
		Long: `Accept all open findings in one decision, which one command revokes. It is meant for
the first scan of existing systems. The command prints the counts and asks for
confirmation; a script passes --yes.

Critical findings are never accepted, nor findings that could not be checked, nor
those that already have a decision. A finding reopens when its value or
its declaration changes, or when it becomes more severe. Later findings are not
accepted.`,
		Example: `  driftd baseline --reason "before driftd, see OPS-123" --until 90d
  driftd baseline --reason "before driftd" --owner team-shop --until 2026-12-24 --yes`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := require(cmd, "reason", "until"); err != nil {
				return err
			}
			return c.change(cmd, func(ctx context.Context, client *server.Client) error {
				return c.makeBaseline(ctx, client, cmd.InOrStdin(), request, yes)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.Reason, "reason", "", "why the findings are acceptable")
	flags.StringVar(&request.Owner, "owner", "", "the person or team responsible (default: you)")
	flags.StringVar(&request.Until, "until", "", "when it ends: 2026-12-24, 90d")
	flags.BoolVar(&request.Incomplete, "incomplete", false, "allow a baseline although the last scan was incomplete; unchecked findings are not accepted")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (c *command) makeBaseline(ctx context.Context, client *server.Client, in io.Reader, request server.BaselineRequest, yes bool) error {
	preview, err := client.PreviewBaseline(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(c.streams.Out, inText(&preview))
	refused := preview.Total == 0 || preview.NotChecked != "" && !request.Incomplete // the preview contains the reason
	if !yes && !refused {
		if err := c.confirm(in, "Accept them in one decision? [y/N] "); err != nil {
			return err
		}
	}
	request.Token = preview.Token
	d, err := client.Baseline(ctx, request)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.streams.Out, "accepted %s until %s, decision %s; to revoke it: driftd decisions revoke %s\n",
		findings(d.Covers), d.Until.UTC().Format(time.RFC3339), phrase.Visible(d.ID), phrase.Visible(d.ID))
	return nil
}

// inText returns the preview of a baseline: the findings to accept, and the numbers of those
// left out by reason.
func inText(p *decide.Preview) string {
	var parts []string
	for _, severity := range model.Severities() {
		if n := p.Accepts[severity]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	text := "accepts " + findings(p.Total)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	for _, left := range []struct {
		n   int
		why string
	}{
		{p.Critical, "critical: never in a baseline"},
		{p.Unchecked, "could not be checked"},
		{p.Unread, "not read by the last scan"},
		{p.Decided, "already have a decision"},
	} {
		if left.n > 0 {
			fmt.Fprintf(&b, "leaves out %s: %s\n", findings(left.n), left.why)
		}
	}
	if p.NotChecked != "" {
		b.WriteString("the last scan did not check everything: " + phrase.Visible(p.NotChecked) + "\n")
	}
	return b.String()
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

// confirm asks for confirmation on a terminal. Without a terminal it returns an error.
func (c *command) confirm(in io.Reader, question string) error {
	if !isTerminal(in) {
		return errors.New("the input is not a terminal, so driftd cannot ask for confirmation: add --yes")
	}
	fmt.Fprint(c.streams.Err, question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was accepted")
	}
	return nil
}
