package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

func (c *command) store() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "store",
		Short:   "Maintain the database",
		Example: "  driftd store verify",
		Args:    nothing,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.storeVerify())
	return cmd
}

func (c *command) storeVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Read the whole database and name each damaged record",
		Long: `Read the whole database, also while the daemon runs, and compare every record with
its checksum, every bucket with the number and the sum of its records, and every
page with the others. FILE is a backup; without it, it is the database in use.
Nothing is changed.

The exit code is 1 where something is damaged. Then stop driftd, put the last good
backup in the place of the database, and start driftd.`,
		Example: "  driftd store verify\n  driftd store verify /var/backups/driftd.db",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.loadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			return c.verifyStore(cmd.Context(), cfg, args)
		},
	}
}

func (c *command) verifyStore(ctx context.Context, cfg *config.Config, args []string) error {
	path := store.Path(cfg.StateDir)
	verify := func() (store.Health, error) { return verifyInUse(ctx, cfg, path) }
	if len(args) == 1 {
		path = args[0]
		verify = func() (store.Health, error) { return store.VerifyFile(path) }
	}
	stop := c.progress("verifying")
	health, err := verify()
	stop()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database %s: run driftd scan first, or name another folder with --state-dir or --config", path)
	}
	if err != nil {
		return err
	}
	for _, damage := range health.Damages {
		fmt.Fprintln(c.streams.Out, phrase.Visible(damage))
	}
	if health.More > 0 {
		fmt.Fprintf(c.streams.Out, "and %d more\n", health.More)
	}
	if !health.Whole() {
		return fmt.Errorf("%s is damaged: %s", path, restore)
	}
	fmt.Fprintf(c.streams.Out, "%s: %d records, %d bytes, no damage\n", phrase.Visible(path), health.Records, health.Bytes)
	return nil
}

// restore is the advice about a damaged database.
const restore = "stop driftd, restore the last good backup, and start driftd; check the disk and the memory of this machine"

// verifyInUse verifies the database through the daemon, or directly if none runs.
func verifyInUse(ctx context.Context, cfg *config.Config, path string) (store.Health, error) {
	client, err := server.Dial(ctx, socketPath(cfg.StateDir))
	if errors.Is(err, server.ErrNoDaemon) {
		return store.VerifyFile(path)
	}
	if err != nil {
		return store.Health{}, err
	}
	return client.Verify(ctx)
}

// verifyEvery is the interval at which the daemon verifies its database after the start.
const verifyEvery = 24 * time.Hour

// retryEvery is the interval at which the daemon reads the witnesses of the audit log again that
// could not be read.
const retryEvery = time.Hour

// verifyDaily verifies the database at once and then once a day, until ctx ends.
func (s *service) verifyDaily(ctx context.Context) {
	day, hour := time.NewTicker(verifyEvery), time.NewTicker(retryEvery)
	defer day.Stop()
	defer hour.Stop()
	s.verify()
	whole := s.verifyAudit(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-day.C:
			s.verify()
			whole = s.verifyAudit(ctx)
		case <-hour.C:
			whole = whole || s.verifyAudit(ctx)
		}
	}
}

// verify verifies the database, and reports damage in the log, the metrics, the status
// and on the page. The database stays in use: its undamaged records are correct.
func (s *service) verify() {
	health, err := s.store.Verify()
	if err != nil {
		s.log.Error("verify store", "err", err)
		return
	}
	s.metrics.StoreVerified(!health.Whole())
	if health.Whole() {
		s.corrupt.Store(nil)
		s.log.Info("verified the store", "records", health.Records, "bytes", health.Bytes)
		return
	}
	for _, damage := range health.Damages {
		s.log.Error("the store is damaged", "damage", damage)
	}
	problem := fmt.Sprintf("the database is damaged (%s): %s; driftd store verify lists all", health.Err(), restore)
	s.corrupt.Store(&problem)
	s.news.Notify()
}
