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
			_, err := fmt.Fprint(c.streams.Out, c.build)
			return err
		},
	}
}

// String returns the line that driftd version prints.
func (b Build) String() string {
	return fmt.Sprintf("driftd %s (commit %s, %s, %s %s/%s)\n", b.Version,
		cmp.Or(b.Commit, "unknown"), cmp.Or(b.Date, "date unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
