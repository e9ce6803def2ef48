package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/notify/shoutrrr"
)

// shoutrrrSend sends one message. A shoutrrr receiver starts it as a process of its own for
// each message, which can be killed if it hangs.
func (c *command) shoutrrrSend() *cobra.Command {
	return &cobra.Command{
		Use:    shoutrrr.Verb,
		Short:  "Send one message that a shoutrrr receiver hands over; driftd starts this itself",
		Hidden: true,
		Args:   nothing,
		RunE:   func(*cobra.Command, []string) error { return shoutrrr.Serve(os.Stdin, c.streams.Out) },
	}
}
