package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/box"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
)

// box returns the command that runs the process in which loaders expand foreign input.
func (c *command) box() *cobra.Command {
	return &cobra.Command{
		Use:    box.Verb,
		Short:  "Expand manifests without access to files and the network; driftd starts this itself",
		Hidden: true,
		Args:   nothing,
		RunE: func(*cobra.Command, []string) error {
			// Output of a library must not mix with the messages to the parent.
			os.Stdout = os.Stderr
			return box.Serve(os.Stdin, c.streams.Out, alldeclared.Jobs())
		},
	}
}
