package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

func (c *command) backup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a new file, also while the daemon runs",
		Long: `Copy the database to a new file. The copy is consistent, also while the daemon
runs and scans, and is verified before it gets its name.

A backup needs two keys of the state folder: secret.key, the key of the installation,
and audit.key, the key of the audit log, unless audit.key_file names another. They
do not change: copy them once, and store them apart from the backups, because short
secrets can be guessed with a backup and secret.key. To restore, stop driftd, put all
files into the state folder, and start it. The audit log is then in doubt until
driftd audit trust settles it.`,
		Example: "  driftd backup /var/backups/driftd.db\n  driftd backup \"driftd-$(date +%F).db\"",
		Args:    one("file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.copyStore(cmd, args[0]) },
	}
}

func (c *command) copyStore(cmd *cobra.Command, path string) error {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	stop := c.progress("copying")
	err = c.copyTo(cmd.Context(), cfg, path, store.WriteBackup)
	stop()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read the backup's size: %w", err)
	}
	fmt.Fprintf(c.streams.Err, "to restore it, you also need secret.key and, unless audit.key_file names another, audit.key in %s: keep copies of them, apart from this file\n", phrase.Visible(cfg.StateDir))
	_, err = fmt.Fprintf(c.streams.Out, "%s: %d bytes, verified\n", phrase.Visible(path), info.Size())
	return err
}

// copyTo copies the database to a new file by write, through the daemon if one runs.
func (c *command) copyTo(ctx context.Context, cfg *config.Config, path string, write func(path string, fill func(io.Writer) error) error) error {
	client, err := server.Dial(ctx, socketPath(cfg.StateDir))
	switch {
	case err == nil:
		return write(path, func(w io.Writer) error { return client.Backup(ctx, w) })
	case !errors.Is(err, server.ErrNoDaemon):
		return err
	}
	st, err := openExisting(cfg, true, c.wait, c.quietLogger())
	if err != nil {
		return err
	}
	return errors.Join(write(path, func(w io.Writer) error { _, err := st.CopyTo(w); return err }), st.Close())
}
