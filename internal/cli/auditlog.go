package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/witness"
)

// auditKey returns the key of the audit log: of audit.key_file, or of the state folder, where it is
// made on first use if create is set.
func auditKey(cfg *config.Config, create bool) (*audit.Key, error) {
	file := cfg.Audit.KeyFile
	if file == "" {
		return store.AuditKey(cfg.StateDir, create)
	}
	text, err := credential.Read(file)
	if err != nil {
		return nil, fmt.Errorf("audit.key_file: %w", err)
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("audit.key_file: %s: %w", file, err)
	}
	return &key, nil
}

// readerKey is auditKey for a command that changes nothing. It returns nil if there is no key, or
// none that this user may read.
func readerKey(cfg *config.Config) (*audit.Key, error) {
	key, err := auditKey(cfg, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return key, err
}

// An auditor is the audit log of a store with the witnesses of a configuration.
type auditor struct {
	*store.Store

	config  func() *config.Config
	version string
	log     *slog.Logger
}

// A witnessed is what a witness answered.
type witnessed struct {
	health server.WitnessHealth
	heads  []audit.Witnessed
}

// open returns the witnesses of the configuration, for the log with an origin.
func (a auditor) open(origin string) ([]witness.Witness, error) {
	cfg := a.config()
	env := witness.Env{Origin: origin, CacheDir: filepath.Join(cacheDir(cfg.StateDir), "witness"), Version: a.version, Now: time.Now, Log: a.log}
	all := make([]witness.Witness, 0, len(cfg.Audit.Witness))
	for _, w := range cfg.Audit.Witness {
		opened, err := witness.Open(witness.Settings{File: w.File, Webhook: w.Webhook, WebhookFile: w.WebhookFile, Git: w.Git, Branch: w.Branch,
			Username: w.Username, TokenFile: w.TokenFile, CAFile: w.CAFile, SSHKeyFile: w.SSHKeyFile, KnownHostsFile: w.KnownHostsFile}, env)
		if err != nil {
			return nil, fmt.Errorf("audit.witness: %w", err)
		}
		all = append(all, opened)
	}
	return all, nil
}

// each calls use for all witnesses at once, and returns the results in the order of the configuration.
func each[T any](all []witness.Witness, use func(witness.Witness) T) []T {
	results := make([]T, len(all))
	var group sync.WaitGroup
	for i, w := range all {
		group.Go(func() { results[i] = use(w) })
	}
	group.Wait()
	return results
}

// read reads the heads of a witness.
func (a auditor) read(ctx context.Context, w witness.Witness, keys []audit.PublicKey) witnessed {
	heads, err := w.Heads(ctx, func(note []byte) (audit.Head, error) { return audit.ParseHeadBy(note, keys...) })
	found := witnessed{health: server.WitnessHealth{Name: w.Name(), Heads: len(heads), WriteOnly: errors.Is(err, witness.ErrWriteOnly)}}
	if err != nil && !found.health.WriteOnly {
		found.health.Error = err.Error()
	}
	for _, h := range heads {
		found.health.Newest = max(found.health.Newest, h.Size)
		found.heads = append(found.heads, audit.Witnessed{From: w.Name(), Head: h})
	}
	return found
}

func (a auditor) witnessed(ctx context.Context) ([]audit.Witnessed, []server.WitnessHealth, error) {
	if len(a.config().Audit.Witness) == 0 {
		return nil, nil, nil
	}
	keys, err := a.AuditKeys()
	if err != nil {
		return nil, nil, err
	}
	all, err := a.open(keys[0].Origin())
	if err != nil {
		return nil, nil, err
	}
	var heads []audit.Witnessed
	var healths []server.WitnessHealth
	for _, w := range each(all, func(w witness.Witness) witnessed { return a.read(ctx, w, keys) }) {
		heads, healths = append(heads, w.heads...), append(healths, w.health)
	}
	return heads, healths, nil
}

// Check verifies the log and the database against the witnesses. If it finds faults in a store that
// it may write to, it puts the log in doubt.
func (a auditor) Check(ctx context.Context) (server.AuditHealth, error) {
	heads, healths, err := a.witnessed(ctx)
	if err != nil {
		return server.AuditHealth{}, err
	}
	report, err := a.VerifyAudit(heads)
	if err != nil {
		return server.AuditHealth{}, err
	}
	key, err := a.AuditKey()
	if err != nil {
		return server.AuditHealth{}, err
	}
	h := server.AuditHealth{Key: key.String(), Size: report.Head.Size, Root: report.Head.Root.String(), Head: string(report.Head.Note),
		Dropped: report.Dropped, Faults: append([]string{}, report.Faults...), More: report.More, Settled: report.Settled,
		Backwards: report.Backwards, Doubt: report.Doubt, Witnesses: healths, Limits: a.limits()}
	return h, nil
}

// limits returns what a verification cannot find with this configuration.
func (a auditor) limits() []string {
	var limits []string
	cfg := a.config()
	if cfg.Audit.KeyFile == "" {
		limits = append(limits, "the key of the log is in the state folder: whoever may write there can also sign an edit; set audit.key_file to keep it elsewhere")
	}
	if len(cfg.Audit.Witness) == 0 {
		limits = append(limits, "no witness keeps heads of the log: an edit by someone with the key, and an older copy of the database together with its .head file, are not found; set audit.witness")
	}
	return limits
}

// Settle lets the log continue as it is.
func (a auditor) Settle(ctx context.Context, by, reason string) (audit.Trust, error) {
	heads, _, err := a.witnessed(ctx)
	if err != nil {
		return audit.Trust{}, err
	}
	return a.Trust(by, reason, heads)
}

// A sent is the size of the log in the last head that each witness took, by the name of the witness.
type sent map[string]int64

// publish sends a head to the witnesses that did not take it before, and notes it in taken. It returns
// an error for each one that did not take it.
func (a auditor) publish(ctx context.Context, h audit.Head, taken sent) []error {
	all, err := a.open(h.Origin)
	if err != nil {
		return []error{err}
	}
	all = slices.DeleteFunc(all, func(w witness.Witness) bool { return taken[w.Name()] == h.Size })
	errs := each(all, func(w witness.Witness) error { return w.Publish(ctx, h) })
	for i, w := range all {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", w.Name(), errs[i])
			continue
		}
		taken[w.Name()] = h.Size
	}
	return errs
}

// publish sends the head of a verified log to the witnesses, and prints the results.
func (c *command) publish(ctx context.Context, cfg *config.Config, health *server.AuditHealth) error {
	key, err := audit.ParsePublicKey(health.Key)
	if err != nil {
		return err
	}
	head, err := audit.ParseHead([]byte(health.Head), key)
	if err != nil {
		return err
	}
	a := auditor{config: func() *config.Config { return cfg }, version: c.build.Version, log: c.quietLogger()}
	errs := a.publish(ctx, head, sent{})
	for i := range health.Witnesses {
		if i < len(errs) && errs[i] == nil {
			fmt.Fprintln(c.streams.Out, phrase.Visible(fmt.Sprintf("sent the head of %d entries to %s", head.Size, health.Witnesses[i].Name)))
		}
	}
	return errors.Join(errs...)
}

// openedStore calls use with the database of the configuration while no daemon runs.
func (c *command) openedStore(cmd *cobra.Command, use func(*store.Store) error) error {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	_, err = server.Dial(cmd.Context(), socketPath(cfg.StateDir))
	if err == nil {
		return errors.New("the daemon is running: stop it first")
	}
	if !errors.Is(err, server.ErrNoDaemon) {
		return err
	}
	st, err := openExisting(cfg, false, c.quietLogger())
	if err != nil {
		return err
	}
	return errors.Join(use(st), st.Close())
}

// copiedStore calls use with a copy of the database.
func (c *command) copiedStore(cmd *cobra.Command, use func(*store.Store) error) (err error) {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "driftd-copy-")
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := c.copyTo(cmd.Context(), cfg, store.Path(dir)); err != nil {
		return err
	}
	options := storeOptions(cfg, c.quietLogger())
	options.ReadOnly = true
	if options.Audit, err = readerKey(cfg); err != nil {
		return err
	}
	st, err := store.Open(dir, options)
	if err != nil {
		return err
	}
	return errors.Join(use(st), st.Close())
}
