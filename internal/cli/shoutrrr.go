package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/notify/shoutrrr"
)

// shoutrrrSend is what a shoutrrr receiver starts for each message: a process
// of its own, which is killed when it hangs.
func (c *command) shoutrrrSend() *cobra.Command {
	return &cobra.Command{
		Use:    shoutrrr.Verb,
		Short:  "Send one message that a shoutrrr receiver hands over; driftd starts this itself",
		Hidden: true,
		Args:   nothing,
		RunE:   func(*cobra.Command, []string) error { return shoutrrr.Serve(os.Stdin, c.streams.Out) },
	}
}
