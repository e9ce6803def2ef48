package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/record"
)

// A recordable is a collector whose requests can be recorded.
type recordable interface {
	// Record reads the source once, with requests through the transport that through returns.
	Record(ctx context.Context, through func(http.RoundTripper) http.RoundTripper) (model.Snapshot, error)
	// Vocabulary returns the words that a recording contains unchanged.
	Vocabulary() *record.Vocabulary
}

func (c *command) recordSource() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "record SOURCE",
		Short: "Write the answers of a source to a folder, without names, IDs and secrets, as a test case",
		Long: `Read a source once, and write its answers to a new folder. Names, IDs, account numbers,
public addresses and times are replaced, and credentials, environments and user data left
out. The same name is replaced in the same way everywhere, so that the folder can be read
as the source can. Nothing is stored elsewhere. Read the files before you give them away.

Sources of type aws can be recorded.`,
		ValidArgsFunction: c.completeSources,
		Args:              one("source"),
		Example:           "  driftd sources record prod -o recording --config driftd.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return errors.New("no folder: name a new one with -o")
			}
			if err := record.CheckNew(dir); err != nil {
				return err
			}
			_, estate, err := c.openConfigured(cmd)
			if err != nil {
				return err
			}
			for i := range estate.Sources {
				if estate.Sources[i].Name == args[0] {
					return estate.Secrets.Error(c.record(cmd.Context(), estate.Sources[i], dir, config.Default().Schedule.Timeout))
				}
			}
			return fmt.Errorf("no source is named %q", args[0])
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder to write, which must not exist or be empty")
	return cmd
}

// record reads a source and writes its answers to a folder.
func (c *command) record(ctx context.Context, s daemon.Source, dir string, within time.Duration) error {
	collector, ok := s.Collector.(recordable)
	if !ok {
		return fmt.Errorf("source %s is of type %s: only sources of type aws can be recorded", s.Name, s.Type)
	}
	recorder := record.New(collector.Vocabulary())
	stop := c.progress("recording " + s.Name)
	snapshot, err := s.Read(ctx, within, func(ctx context.Context) (model.Snapshot, error) {
		return collector.Record(ctx, recorder.Through)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = recorder.Write(dir, record.ManifestOf(&snapshot, c.build.Version))
	}
	stop()
	if err != nil {
		return fmt.Errorf("record %s: %w", s.Name, err)
	}
	fmt.Fprintf(c.streams.Out, "%s: %d resources recorded\n", phrase.Visible(dir), len(snapshot.Resources))
	for _, g := range unreadable(snapshot.Coverage) {
		fmt.Fprintf(c.streams.Out, "  not read: %s: %s\n", phrase.Visible(g.scopes), phrase.Visible(g.reason))
	}
	if words := recorder.Ambiguous(); len(words) > 0 {
		const shown = 20
		fmt.Fprintf(c.streams.Err, "These texts are kept as words of the API, and are also names or parts of names: %s\n", phrase.Visible(strings.Join(words[:min(len(words), shown)], ", ")))
	}
	fmt.Fprintln(c.streams.Err, "Read the files before you give them away: the structure, the numbers and the order of the answers are the true ones.")
	return nil
}
