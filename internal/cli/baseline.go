package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) baseline() *cobra.Command {
	var request server.BaselineRequest
	var yes bool
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Accept all that is open, in one decision: for the first day",
		Long: `Accept all that is open, in one decision that one command takes back: for the
first day, when driftd finds what gathered in years. It shows the counts first and
asks; a script says --yes.

Critical findings are never accepted, nor findings that could not be checked, nor
those about which somebody decided already. A finding comes back when its value or
its declaration changes, or when it becomes more severe. What is found later is not
covered.`,
		Example: `  driftd baseline --reason "before driftd, see OPS-123" --until 90d
  driftd baseline --reason "before driftd" --owner team-shop --until 2026-12-24 --yes`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case strings.TrimSpace(request.Reason) == "":
				return errors.New("a baseline wants a reason: say why it may stay as it is, with --reason")
			case strings.TrimSpace(request.Until) == "":
				return errors.New("a baseline wants an end: say until when, as in --until 2026-12-24 or --until 90d")
			}
			return c.change(cmd, func(ctx context.Context, client *server.Client) error {
				return c.makeBaseline(ctx, client, cmd.InOrStdin(), request, yes)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.Reason, "reason", "", "why it may stay as it is")
	flags.StringVar(&request.Owner, "owner", "", "who answers for it; without it, whoever decides")
	flags.StringVar(&request.Until, "until", "", "when it ends: 2026-12-24, 90d")
	flags.BoolVar(&request.Incomplete, "incomplete", false, "although not everything was checked: what was not is not accepted")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (c *command) makeBaseline(ctx context.Context, client *server.Client, in io.Reader, request server.BaselineRequest, yes bool) error {
	preview, err := client.PreviewBaseline(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(c.streams.Out, inText(&preview))
	refused := preview.Total == 0 || preview.NotChecked != "" && !request.Incomplete // the server says why
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
	fmt.Fprintf(c.streams.Out, "accepted %s until %s, decision %s; to take it back: driftd decisions revoke %s\n",
		findings(d.Covers), d.Until.UTC().Format(time.RFC3339), inLine(d.ID), inLine(d.ID))
	return nil
}

// inText writes what a baseline would accept, and what it would leave.
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
		{p.Unread, "could not be looked at again by the last scan"},
		{p.Decided, "somebody decided already"},
	} {
		if left.n > 0 {
			fmt.Fprintf(&b, "leaves out %s: %s\n", findings(left.n), left.why)
		}
	}
	if p.NotChecked != "" {
		b.WriteString("the last scan did not check everything: " + inLine(p.NotChecked) + "\n")
	}
	return b.String()
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

// confirm asks on a terminal; without one, --yes is wanted.
func (c *command) confirm(in io.Reader, question string) error {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return errors.New("nobody can be asked here: add --yes")
	}
	fmt.Fprint(c.streams.Err, question)
	answer, err := bufio.NewReader(file).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was accepted")
	}
	return nil
}
