package cli

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  driftd version",
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.streams.Out, "driftd %s (commit %s, %s, %s %s/%s)\n", c.build.Version,
				cmp.Or(c.build.Commit, "unknown"), cmp.Or(c.build.Date, "date unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
