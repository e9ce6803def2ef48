package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/store"
)

// SystemConfig is the path of an installed daemon's configuration.
const SystemConfig = "/etc/driftd/driftd.yaml"

// loadConfig loads the configuration of --config, $DRIFTD_CONFIG or SystemConfig. Without any
// it returns the defaults with the user's own state folder.
func (c *command) loadConfig(flags *pflag.FlagSet) (*config.Config, error) {
	file := cmp.Or(c.configFile, os.Getenv("DRIFTD_CONFIG"))
	if file == "" {
		if _, err := os.Stat(SystemConfig); err == nil {
			file = SystemConfig
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for %s: %w", SystemConfig, err)
		}
	}
	cfg, err := config.Load(file, flags)
	if err != nil || file != "" || os.Getenv("DRIFTD_STATE_DIR") != "" {
		return cfg, err
	}
	cfg.StateDir, err = c.userStateDir()
	return cfg, err
}

// userStateDir returns the state folder of scans without a configuration.
func (c *command) userStateDir() (string, error) {
	dir := cmp.Or(c.stateDir, os.Getenv("DRIFTD_STATE_DIR"))
	if dir == "" {
		dir = os.Getenv("XDG_STATE_HOME")
		if dir == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("find a state folder: %w; name one with --state-dir", err)
			}
			dir = filepath.Join(home, ".local", "state")
		}
		dir = filepath.Join(dir, "driftd")
	}
	return filepath.Abs(dir)
}

func socketPath(stateDir string) string { return filepath.Join(stateDir, "driftd.sock") }

func cacheDir(stateDir string) string { return filepath.Join(stateDir, "cache") }

func storeOptions(cfg *config.Config, log *slog.Logger) store.Options {
	return store.Options{Now: time.Now, Log: log, AuditKey: strings.TrimSpace(cfg.Audit.PublicKey),
		Retention: store.Retention{MaxAge: cfg.Retention.MaxAge, MaxRuns: cfg.Retention.MaxRuns, MaxRunBytes: cfg.Retention.MaxRunBytes,
			AuditMaxAge: cfg.Retention.AuditMaxAge}}
}

// openStore opens the database for writing, with the key of its audit log.
func openStore(cfg *config.Config, options store.Options) (*store.Store, error) {
	options.KeyFound = hasAuditKey(cfg)
	options.KeyMade = !options.KeyFound
	key, err := auditKey(cfg, true)
	if err != nil {
		return nil, fmt.Errorf("%w; changes of the database are recorded in the audit log", err)
	}
	options.Audit = key
	return store.Open(cfg.StateDir, options)
}

// quietLogger returns a logger for commands that print their own result. It logs warnings and
// errors only.
func (c *command) quietLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(c.streams.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
