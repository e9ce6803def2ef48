package cli

import (
	"cmp"
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("audit.key_file: %w: put it back from a backup, or make a key with: driftd audit key --new %s", err, file)
	}
	if err != nil {
		return nil, fmt.Errorf("audit.key_file: %w", err)
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("audit.key_file: %s: %w", file, err)
	}
	return &key, nil
}

// checkAuditKey returns an error if audit.key_file is set and has no key that can be read.
func checkAuditKey(cfg *config.Config) error {
	if cfg.Audit.KeyFile == "" {
		return nil
	}
	_, err := auditKey(cfg, false)
	return err
}

// hasAuditKey reports whether the key of the audit log exists.
func hasAuditKey(cfg *config.Config) bool {
	return cfg.Audit.KeyFile != "" || store.HasAuditKey(cfg.StateDir)
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
	// others are the heads that no key of the log signed.
	others []audit.Witnessed
	// isRead reports whether it could be read, at least in part.
	isRead bool
	// fault is why it lacks heads that were sent to it; "" if it has them.
	fault string
}

// A witnessPlace is a witness, with the origins of other logs that share it.
type witnessPlace struct {
	witness.Witness

	sharedWith []string
}

// parser returns the parser of the heads that the witness has. A head that none of the keys signed is an
// unsigned one, unless it is of a log that shares the witness.
func (p witnessPlace) parser(keys []audit.PublicKey) witness.Parse {
	return func(note []byte) (audit.Head, error) {
		h, err := audit.ParseHeadBy(note, keys...)
		if err == nil {
			return h, nil
		}
		other, parseErr := audit.ParseUnverified(note)
		switch {
		case parseErr != nil:
			return h, err
		case slices.Contains(p.sharedWith, other.Origin):
			return h, witness.ErrShared
		}
		return other, nil
	}
}

// open returns the witnesses of the configuration, for the log with an origin.
func (a auditor) open(origin string) ([]witnessPlace, error) {
	cfg := a.config()
	env := witness.Env{Origin: origin, CacheDir: filepath.Join(cacheDir(cfg.StateDir), "witness"), Version: a.version, Now: time.Now, Log: a.log}
	all := make([]witnessPlace, 0, len(cfg.Audit.Witness))
	for _, w := range cfg.Audit.Witness {
		opened, err := witness.Open(witness.Settings{File: w.File, Webhook: w.Webhook, WebhookFile: w.WebhookFile, Git: w.Git, Branch: w.Branch,
			Username: w.Username, TokenFile: w.TokenFile, CAFile: w.CAFile, SSHKeyFile: w.SSHKeyFile, KnownHostsFile: w.KnownHostsFile}, env)
		if err != nil {
			return nil, fmt.Errorf("audit.witness: %w", err)
		}
		all = append(all, witnessPlace{opened, w.SharedWith})
	}
	return all, nil
}

// each calls use for all witnesses at once, and returns the results in the order of the configuration.
func each[T any](all []witnessPlace, use func(witnessPlace) T) []T {
	results := make([]T, len(all))
	var group sync.WaitGroup
	for i, w := range all {
		group.Go(func() { results[i] = use(w) })
	}
	group.Wait()
	return results
}

// read reads the heads of a witness, to which heads were sent before.
func (a auditor) read(ctx context.Context, w witnessPlace, keys []audit.PublicKey, before store.Published) witnessed {
	heads, err := w.Heads(ctx, w.parser(keys))
	var records *witness.RecordsError
	found := witnessed{isRead: err == nil || errors.As(err, &records),
		health: server.WitnessHealth{Name: w.Name(), WriteOnly: errors.Is(err, witness.ErrWriteOnly)}}
	if err != nil && !found.health.WriteOnly {
		found.health.Error = err.Error()
		found.health.Unread = !found.isRead || records.Older != "" || records.Unread || records.Unverified
	}
	found.add(heads)
	if found.isRead {
		found.fault = found.lacks(before, records != nil && (records.Older != "" || records.Unread))
	}
	if records != nil && found.has(before.ComparedSize, before.ComparedRoot) {
		// The part before that head was compared then.
		records.Older = ""
		found.health.Error, found.health.Unread = records.Error(), records.Unread || records.Unverified
	}
	return found
}

// add adds the heads of the witness.
func (w *witnessed) add(heads []audit.Head) {
	for _, h := range heads {
		// The signed note was verified and is as large as the rest of the head.
		h.Note = nil
		from := audit.Witnessed{From: w.health.Name, Head: h}
		if h.Unsigned {
			w.others = append(w.others, from)
			continue
		}
		w.health.Newest = max(w.health.Newest, h.Size)
		w.heads = append(w.heads, from)
	}
	w.health.Heads = len(w.heads)
}

// has reports whether the witness has a head that a key of the log signed.
func (w *witnessed) has(size int64, root string) bool {
	return slices.ContainsFunc(w.heads, func(h audit.Witnessed) bool { return h.Head.Size == size && h.Head.Root.String() == root })
}

// lacks returns why the witness does not have what was sent to it before; "" if it does. If it is cut,
// it was read from the last head back.
func (w *witnessed) lacks(before store.Published, isCut bool) string {
	has := w.published()
	switch {
	case before.Heads == 0:
	case has.Heads == 0:
		return fmt.Sprintf("%s has none of the heads that were sent to it (%d, the last of %d entries): it was emptied or replaced, or its file system is not mounted",
			w.health.Name, before.Heads, before.Size)
	case !w.has(before.Size, before.Root):
		return fmt.Sprintf("%s does not have the head of %d entries, the last that was sent to it: heads were removed there", w.health.Name, before.Size)
	case has.Heads < before.Heads && !isCut:
		return fmt.Sprintf("%s has %d of the %d heads that were sent to it: heads were removed there", w.health.Name, has.Heads, before.Heads)
	}
	return ""
}

// published returns the heads that the witness has as what was sent to it.
func (w *witnessed) published() store.Published {
	if len(w.heads) == 0 {
		return store.Published{}
	}
	different := map[audit.SettledHead]bool{}
	for i := range w.heads {
		h := &w.heads[i].Head
		different[audit.SettledHead{Size: h.Size, Root: h.Root.String()}] = true
	}
	last := w.heads[len(w.heads)-1].Head
	return store.Published{Size: last.Size, Root: last.Root.String(), Heads: len(different)}
}

// witnessed reads the witnesses of the configuration.
func (a auditor) witnessed(ctx context.Context) ([]witnessed, error) {
	if len(a.config().Audit.Witness) == 0 {
		return nil, nil
	}
	keys, err := a.AuditKeys()
	if err != nil {
		return nil, err
	}
	all, err := a.open(keys[0].Origin())
	if err != nil {
		return nil, err
	}
	// A head that is sent meanwhile must not be missed at a witness that was read before.
	before, err := a.Published()
	if err != nil {
		return nil, err
	}
	return each(all, func(w witnessPlace) witnessed { return a.read(ctx, w, keys, before[w.Name()]) }), nil
}

// headsOf returns the heads of all witnesses, and what they lack.
func headsOf(all []witnessed) (heads []audit.Witnessed, faults []string) {
	for i := range all {
		heads = append(append(heads, all[i].heads...), all[i].others...)
		if all[i].fault != "" {
			faults = append(faults, all[i].fault)
		}
	}
	return heads, faults
}

// Check verifies the log and the database against the witnesses, and the witnesses against what was
// sent to them.
func (a auditor) Check(ctx context.Context) (server.AuditHealth, error) {
	h, _, err := a.check(ctx)
	return h, err
}

// check is Check, and returns the newest heads up to which witnesses were compared without a difference, by
// the names of the witnesses.
func (a auditor) check(ctx context.Context) (server.AuditHealth, map[string]audit.Head, error) {
	all, err := a.witnessed(ctx)
	if err != nil {
		return server.AuditHealth{}, nil, err
	}
	heads, faults := headsOf(all)
	report, err := a.VerifyAudit(heads)
	if err != nil {
		return server.AuditHealth{}, nil, err
	}
	key, err := a.AuditKey()
	if err != nil {
		return server.AuditHealth{}, nil, err
	}
	h := server.AuditHealth{Key: key.String(), Size: report.Head.Size, Root: report.Head.Root.String(), Head: string(report.Head.Note),
		Dropped: report.Dropped, Faults: append(append([]string{}, report.Faults...), faults...), More: report.More, Settled: report.Settled,
		Backwards: report.Backwards, Doubt: report.Doubt, Limits: a.limits()}
	compared := map[string]audit.Head{}
	for i := range all {
		w := &all[i]
		h.Witnesses = append(h.Witnesses, w.health)
		if n := len(w.heads); n > 0 && w.isRead && !w.health.Unread && h.OK() {
			compared[w.health.Name] = w.heads[n-1].Head
		}
	}
	return h, compared, nil
}

// State returns the state of the log.
func (a auditor) State() (server.AuditState, error) {
	key, err := a.AuditKey()
	if err != nil {
		return server.AuditState{}, err
	}
	state := server.AuditState{Key: key.String(), Witnesses: []server.WitnessState{}}
	h, err := a.AuditHead()
	if err != nil && !errors.Is(err, audit.ErrEmpty) {
		state.Error = err.Error()
	}
	state.Entries = h.Size
	if state.Doubt, err = a.Doubt(); err != nil {
		return state, err
	}
	sent, err := a.Published()
	if err != nil {
		return state, err
	}
	all, err := a.open(key.Origin())
	if err != nil {
		state.Error = cmp.Or(state.Error, err.Error())
	}
	for _, w := range all {
		state.Witnesses = append(state.Witnesses, server.WitnessState{Name: w.Name(), Sent: sent[w.Name()].Size})
	}
	return state, nil
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

// Settle lets the log continue as it is, and the witnesses that could be read with what they have.
func (a auditor) Settle(ctx context.Context, by, reason string) (audit.Trust, error) {
	all, err := a.witnessed(ctx)
	if err != nil {
		return audit.Trust{}, err
	}
	heads, faults := headsOf(all)
	for _, fault := range faults {
		if err := a.RecordDoubt(fault); err != nil {
			return audit.Trust{}, err
		}
	}
	t, err := a.Trust(by, reason, heads)
	if err != nil {
		return t, err
	}
	t.Faults = append(t.Faults, slices.DeleteFunc(faults, func(fault string) bool { return fault == t.Doubt })...)
	has := map[string]store.Published{}
	for i := range all {
		if all[i].isRead {
			has[all[i].health.Name] = all[i].published()
		}
	}
	return t, a.SetPublished(has)
}

// A taken is the size of the log in the last head that each witness took, by the name of the witness.
type taken map[string]int64

// publish sends a head to the witnesses that did not take it before, and remembers those that took it.
// It returns what each of them answered.
func (a auditor) publish(ctx context.Context, h audit.Head, before taken) ([]server.WitnessSent, error) {
	all, err := a.open(h.Origin)
	if err != nil {
		return nil, err
	}
	sent, err := a.Published()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(w witnessPlace) bool { return before[w.Name()] == h.Size })
	errs := each(all, func(w witnessPlace) error {
		if err := w.Publish(ctx, h, sent[w.Name()].Heads > 0); err != nil {
			return err
		}
		return a.AddPublished(w.Name(), &h)
	})
	results := make([]server.WitnessSent, len(all))
	for i, w := range all {
		if results[i].Name = w.Name(); errs[i] != nil {
			results[i].Error = errs[i].Error()
			continue
		}
		before[w.Name()] = h.Size
	}
	return results, nil
}

// Send sends the head of the log to the witnesses. Before, it puts the log in doubt if it has faults, such
// as those of a log that was begun anew.
func (a auditor) Send(ctx context.Context) (server.AuditSent, error) {
	health, err := a.Check(ctx)
	if err == nil && len(health.Faults) > 0 && health.Doubt == nil {
		err = a.PutInDoubt(health.Faults[0])
	}
	if err != nil {
		return server.AuditSent{}, err
	}
	h, err := a.AuditHead()
	if err != nil {
		return server.AuditSent{}, err
	}
	results, err := a.publish(ctx, h, taken{})
	return server.AuditSent{Size: h.Size, Sent: results}, err
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
	st, err := openExisting(cfg, false, c.wait, c.quietLogger())
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
	if err := c.copyTo(cmd.Context(), cfg, store.Path(dir), store.WriteCopy); err != nil {
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
