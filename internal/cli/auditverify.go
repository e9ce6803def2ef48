package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) auditVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify the audit log, and the database against it",
		Long: `Read the whole audit log, and compare it with its signed head, with the head in the
file beside the database and with the heads of the witnesses; compare the stored
findings and decisions with what the log records, and the witnesses with what was sent
to them. Nothing is changed, but a daemon that runs puts a log that differs in doubt.

Exit codes:
  0  nothing differs, and everything was compared
  1  something differs, the log is in doubt, or the command could not run
  3  nothing differs, but a witness could not be read, or not all that it keeps`,
		Example: "  driftd audit verify\n  driftd audit verify -o json",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop := c.progress("verifying")
			var health server.AuditHealth
			err := c.ask(cmd, func(ctx context.Context, client *server.Client) (err error) {
				health, err = client.VerifyAudit(ctx)
				return err
			})
			stop()
			if err != nil {
				return err
			}
			return c.printHealth(&health)
		},
	}
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// verifyVersion is the version of the JSON of audit verify.
const verifyVersion = 1

func (c *command) printHealth(h *server.AuditHealth) error {
	if c.output == "json" {
		versioned := struct {
			Version int `json:"version"`
			*server.AuditHealth
		}{verifyVersion, h}
		if err := c.printJSON(versioned); err != nil {
			return err
		}
	} else {
		for _, line := range healthLines(h) {
			fmt.Fprintln(c.streams.Out, phrase.Visible(line))
		}
	}
	if h.OK() {
		return c.compared(h)
	}
	return errors.New("the audit log does not verify: find out who changed the database; then restore a backup, or let the log continue with driftd audit trust --reason …")
}

// compared returns the exit status of a verification that found no difference.
func (c *command) compared(h *server.AuditHealth) error {
	unread := h.Unread()
	if len(unread) == 0 {
		return nil
	}
	for i := range unread {
		fmt.Fprintf(c.streams.Err, "driftd: the log was not compared with all heads of %s\n", phrase.Visible(unread[i].Name))
	}
	return exitStatus(exitUnchecked)
}

// healthLines returns the lines that describe a verification.
func healthLines(h *server.AuditHealth) []string {
	lines := append([]string(nil), h.Faults...)
	if h.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", h.More))
	}
	if h.Doubt != nil {
		lines = append(lines, fmt.Sprintf("in doubt since %s: %s", h.Doubt.Since.UTC().Format(time.RFC3339), h.Doubt.What))
	}
	for _, text := range h.Settled {
		lines = append(lines, "settled earlier: "+text)
	}
	for _, i := range h.Backwards {
		lines = append(lines, fmt.Sprintf("note: entry %d is older than the one before it; the order of the log is right, the clock was set back", i))
	}
	switch {
	case !h.OK():
	case len(h.Unread()) > 0:
		lines = append(lines, fmt.Sprintf("%d entries, no difference in what was read, root %s", h.Size, h.Root))
	default:
		lines = append(lines, fmt.Sprintf("%d entries, no difference, root %s", h.Size, h.Root))
	}
	if h.Dropped > 0 {
		lines = append(lines, fmt.Sprintf("%d old entries were dropped: their hashes are kept", h.Dropped))
	}
	for i := range h.Witnesses {
		lines = append(lines, witnessLine(&h.Witnesses[i]))
	}
	for _, text := range h.Limits {
		lines = append(lines, "note: "+text)
	}
	return lines
}

func witnessLine(w *server.WitnessHealth) string {
	if w.WriteOnly {
		return "witness: " + w.Name + ": heads cannot be read back: compare them by hand"
	}
	line := "witness: " + w.Name + ": no heads"
	if w.Heads > 0 {
		line = fmt.Sprintf("witness: %s: %s, the newest of size %d", w.Name, phrase.Count(w.Heads, "head"), w.Newest)
	}
	switch {
	case w.Unread:
		line += "; not read completely: " + w.Error
	case w.Error != "":
		line += "; also: " + w.Error
	}
	return line
}
