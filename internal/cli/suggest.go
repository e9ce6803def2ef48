package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

func (c *command) suggest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suggest ID",
		Short: "Print how to put a finding back, adopt it or accept it, and whom to ask",
		Long: `Print the exact commands and parts of declarations for each way out of a finding:
put the live system back, adopt the live state in the declaration, or accept it.
What cannot be written exactly is described in words. driftd runs none of the
commands, and the values of secrets are not shown.

Exit codes:
  0  the suggestion was printed
  1  usage, configuration or database, or there is no such finding`,
		Example:           "  driftd suggest 3f2a\n  driftd suggest 3f2a -o json",
		Args:              one("finding"),
		ValidArgsFunction: c.completeFindings,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, client *server.Client) error {
				s, err := client.Suggestion(ctx, args[0])
				if err != nil {
					return err
				}
				detail, err := client.Finding(ctx, s.Finding)
				if err != nil {
					return err
				}
				// The daemon may run although the configuration cannot be read.
				if cfg, err := c.loadConfig(cmd.Flags()); err == nil && !isConfigured(cfg, &detail.Finding) {
					s = s.WithPath(scannedPath(&detail.Finding))
				}
				s = s.WithFlags(c.placeFlags()...)
				return report.WriteSuggestion(c.streams.Out, c.output, &detail.Finding, &s, c.reportOptions())
			})
		},
	}
	c.outputFlag(cmd, "table", "json")
	return cmd
}

// isConfigured reports whether the configuration has the declaration of a finding, or one of several
// roots. A finding of another one is of a scan with PATH.
func isConfigured(cfg *config.Config, f *model.Finding) bool {
	return f.Declaration == "" || slices.ContainsFunc(cfg.Declarations, func(d config.Declaration) bool {
		return d.Name == f.Declaration || strings.HasPrefix(f.Declaration, d.Name+"/")
	})
}

// scannedPath returns the PATH of a scan that found a finding: the part of its address that has the
// name of the declaration, or a placeholder.
func scannedPath(f *model.Finding) string {
	file, line := cutLine(f.Address)
	if line == 0 {
		return "PATH"
	}
	for path := file; ; path = filepath.Dir(path) {
		if config.NameOf(filepath.Base(path)) == f.Declaration {
			return path
		}
		if above := filepath.Dir(path); above == path || above == "." {
			return "PATH"
		}
	}
}

// newImports returns a function that finds import blocks in the built-in mapping tables.
func newImports() server.Imports {
	load := sync.OnceValues(func() (*mapping.Tables, error) { return mapping.Load() })
	return func(ref model.Ref, place, name string) (block, provider string) {
		tables, err := load()
		if err != nil {
			return "", ""
		}
		found, ok := tables.Import(ref, place, name)
		if !ok {
			return "", ""
		}
		return found.Block(), found.Provider
	}
}

// placeFlags returns --config and --state-dir as they were given, for commands that are printed.
func (c *command) placeFlags() []string {
	var flags []string
	if c.configFile != "" {
		flags = append(flags, "--config="+c.configFile)
	}
	if c.stateDir != "" {
		flags = append(flags, "--state-dir="+c.stateDir)
	}
	return flags
}
