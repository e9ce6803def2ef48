package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/box"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
)

// box is the process in which loaders expand what they read.
func (c *command) box() *cobra.Command {
	return &cobra.Command{
		Use:    box.Verb,
		Short:  "Expand manifests without access to files and the network; driftd starts this itself",
		Hidden: true,
		Args:   nothing,
		RunE: func(*cobra.Command, []string) error {
			// A library that prints must not speak to the parent.
			os.Stdout = os.Stderr
			return box.Serve(os.Stdin, c.streams.Out, alldeclared.Jobs())
		},
	}
}
