package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

// Control sequences of terminals.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the other screen, without cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	endOfLine   = "\x1b[K\r\n"
	clearBelow  = "\x1b[J"
)

func (c *command) watch() *cobra.Command {
	var q queryFlags
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch [RESOURCE…]",
		Short: "Show open findings on the terminal, and keep them current",
		Long: `Show the open findings, worst first, and read them again at an interval: all, or
those of the resources. Ctrl-C ends it.

` + filterHelp,
		Example: `  driftd watch
  driftd watch --severity critical,high --every 10s
  driftd watch 'deploy/shop/*'`,
		ValidArgsFunction: c.completeResources,
		RunE: func(cmd *cobra.Command, resources []string) error {
			if err := q.check(resources); err != nil {
				return err
			}
			if every < 100*time.Millisecond {
				return fmt.Errorf("--every %s: want 100ms or more", every)
			}
			out, ok := terminal(c.streams.Out)
			if !ok {
				return errors.New("driftd watch needs a terminal: `driftd findings list` prints the findings once")
			}
			return c.watchFindings(cmd, &q, resources, every, out)
		},
	}
	q.add(c, cmd)
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "time between two readings")
	return cmd
}

// watchFindings shows findings until the context of the command ends. An error of the first reading is returned, later
// ones are shown above what was read last.
func (c *command) watchFindings(cmd *cobra.Command, q *queryFlags, resources []string, every time.Duration, out *os.File) error {
	shown, err := c.viewFindings(cmd, q, resources)
	if err != nil {
		return err
	}
	fmt.Fprint(out, enterScreen)
	defer fmt.Fprint(out, leaveScreen)
	for {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return fmt.Errorf("read the size of the terminal: %w", err)
		}
		fmt.Fprint(out, toTop+strings.Join(shown.screen(width, height), endOfLine)+"\x1b[K"+clearBelow)
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(every):
		}
		if now, err := c.viewFindings(cmd, q, resources); err != nil {
			shown.failed = visible(err.Error())
		} else {
			shown = now
		}
	}
}

// A view is what watch shows.
type view struct {
	// scan describes the last scan, and failed is the error of the last reading.
	scan, failed string
	findings     int
	// lines are the table.
	lines []string
}

// screen returns the lines for a terminal of a size. Those of the table are as wide as it is already.
func (v *view) screen(width, height int) []string {
	head := phrase.Count(v.findings, "finding") + ", " + v.scan
	if v.failed != "" {
		head = "not current: " + v.failed
	}
	text := []rune(head)
	lines := append([]string{string(text[:min(len(text), max(width-1, 0))]), ""}, v.lines...)
	if more := len(lines) - height; height > 3 && more > 0 {
		lines = append(lines[:height-1], fmt.Sprintf("and %s", phrase.Count(more+1, "more line")))
	}
	return lines
}

// viewFindings reads the findings.
func (c *command) viewFindings(cmd *cobra.Command, q *queryFlags, resources []string) (v view, err error) {
	err = c.ask(cmd, func(ctx context.Context, client *server.Client) error {
		found, err := client.Outlines(ctx, q.filtered(resources))
		if err != nil {
			return err
		}
		status, err := client.Status(ctx)
		if err != nil {
			return err
		}
		v = view{findings: len(found), scan: "nothing was scanned so far"}
		if run := status.LastRun; run != nil {
			v.scan = "scanned " + phrase.Ago(time.Since(run.Finished))
			if !run.Complete {
				v.scan += ", incomplete: `driftd status` shows what was not checked"
			}
		}
		if len(found) == 0 {
			return nil
		}
		var table bytes.Buffer
		if err := report.WriteOutlines(&table, "table", found, c.reportOptions()); err != nil {
			return err
		}
		v.lines = strings.Split(strings.TrimRight(table.String(), "\n"), "\n")
		return nil
	})
	return v, err
}
