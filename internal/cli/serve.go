package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/trigger"
	"github.com/driftd/driftd/internal/web"
)

func (c *command) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon: scan on a schedule, follow sources, serve the page and the API",
		Long: `Run the daemon. SIGHUP reloads the configuration; if the new one has an error, the
daemon logs it and keeps the old one. SIGTERM stops the daemon.`,
		Example: "  driftd serve --config /etc/driftd/driftd.yaml",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.checkConfigured(cmd)
			if err == nil {
				err = (&service{command: c, cmd: cmd}).run(cmd.Context(), cfg)
			}
			if err != nil {
				// systemctl status shows only the status line, and no line of the journal, until
				// the next start.
				notifySystemd("STATUS=" + printable.Text(err.Error()))
			}
			return err
		},
	}
	// The names of these flags are those of the settings that they override.
	cmd.Flags().String("server-listen", "", "address to listen on, host:port (overrides server.listen)")
	cmd.Flags().String("log-format", "", "text or json (overrides log.format)")
	cmd.Flags().String("log-level", "", "debug, info, warn or error (overrides log.level)")
	return cmd
}

// A service is one running daemon: a store and a server, and a generation for each
// configuration that it loads.
type service struct {
	*command
	cmd     *cobra.Command
	log     *slog.Logger
	sealer  model.Sealer
	store   *store.Store
	metrics *metrics.Metrics
	boxes   *box.Pool
	socket  string
	hooks   *trigger.Queue
	gate    *access.Gate
	// news notifies open pages of changes.
	news *web.News
	// stage is the list of actions in a demonstration; nil if the systems are real.
	stage web.Stage
	// shown is the digest of the findings of which pages were last notified.
	shown atomic.Uint64
	// evaluating is shared by the engines of all generations.
	evaluating sync.Mutex
	// acting is held while an action is carried out, by the engine of any generation.
	acting reconcile.Lock
	// stopping is closed when the service stops.
	stopping <-chan struct{}
	current  atomic.Pointer[generation]
	// unread is the error of the last reload; nil if it succeeded.
	unread atomic.Pointer[string]
	// unsaved is the error of storing the last scan; nil if it succeeded.
	unsaved atomic.Pointer[string]
	// corrupt lists the records that the last verification of the store found damaged;
	// nil if there were none.
	corrupt atomic.Pointer[string]
	// unwitnessed is why witnesses do not have the head of the audit log; nil if they do.
	unwitnessed atomic.Pointer[string]
	// uncompared is why the last verification of the audit log did not compare it with all heads of
	// the witnesses; nil if it did.
	uncompared atomic.Pointer[string]
	// verified is the last verification of the audit log; nil before it.
	verified atomic.Pointer[verification]
	// recorded is the digest of the configuration that the audit log recorded last.
	recorded string
}

// settings returns the current configuration.
func (s *service) settings() *config.Config { return s.current.Load().config }

func (s *service) run(ctx context.Context, cfg *config.Config) error {
	s.log, s.socket = newLogger(s.streams, cfg.Log), socketPath(cfg.StateDir)
	kubernetes.RedirectLogs(s.log)
	s.log.Info("starting", "version", s.build.Version, "commit", s.build.Commit, "file", cfg.File, "state_dir", cfg.StateDir, "overrides", cfg.Overrides)
	var err error
	if s.sealer, err = store.Sealer(cfg.StateDir); err != nil {
		return err
	}
	if s.store, err = openStore(cfg, storeOptions(cfg, s.log)); err != nil {
		return err
	}
	if s.gate, err = newGate(cfg, s.people, s.log); err != nil {
		return errors.Join(err, s.store.Close())
	}
	// Earlier versions had a cache of providers for all declarations in this folder.
	if err := os.RemoveAll(filepath.Join(cacheDir(cfg.StateDir), "types")); err != nil {
		s.log.Warn("remove the old provider cache", "err", err)
	}
	s.metrics = metrics.New(metrics.Build{Version: s.build.Version, Commit: s.build.Commit, GoVersion: runtime.Version()}, time.Now)
	s.news, s.boxes, s.acting = web.NewNews(), box.NewPool(), reconcile.NewLock()
	s.hooks = trigger.NewQueue(trigger.Options{Scan: s.read, Now: time.Now, Log: s.log})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.stopping = ctx.Done()
	first, err := s.newGeneration(cfg)
	if err != nil {
		return errors.Join(err, s.store.Close())
	}
	var group sync.WaitGroup
	var served, ran error
	if err := s.store.Reseal(first.seal); err != nil {
		return errors.Join(err, s.store.Close())
	}
	s.adopt(first)
	if err := s.recordConfig(audit.KindStart, first); err != nil {
		return errors.Join(err, s.store.Close())
	}
	s.remember()
	group.Go(func() { defer stop(); served = s.serveHTTP(ctx, cfg.Server) })
	group.Go(func() { s.watchdog(ctx) })
	group.Go(s.probeBox)
	group.Go(func() { s.maintain(ctx) })
	s.acting.Acquire()
	group.Go(s.allowActing)
	group.Go(func() { s.verifyDaily(ctx) })
	group.Go(func() { s.keepWitnesses(ctx) })
	group.Go(func() { s.hooks.Run(ctx) })
	ran = s.generations(ctx)
	s.log.Info("stopping")
	stop()
	within, cancel := context.WithTimeout(context.Background(), reconcile.StopWithin)
	defer cancel()
	notifySystemd(sd.SdNotifyStopping)
	group.Wait()
	s.awaitAction(within)
	return errors.Join(ran, served, s.store.Close())
}

// awaitAction waits until no action is carried out any more, or ctx ends.
func (s *service) awaitAction(ctx context.Context) {
	if !s.acting.TryAcquire(ctx) {
		s.log.Warn("an action is still carried out: the next start determines what came of it")
	}
}

// generations runs one generation at a time: a new one after each successful reload, and when the members of declarations change.
func (s *service) generations(ctx context.Context) error {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	members := make(chan expansion)
	go s.watchMembers(ctx, members)
	for ctx.Err() == nil {
		running, end := context.WithCancel(ctx)
		done := make(chan error, 1)
		g := s.current.Load()
		go func() { done <- g.run(running) }()
		next, err := s.untilReload(ctx, reload, members, done)
		end()
		if err == nil {
			err = <-done
		}
		if err != nil {
			return err
		}
		if next != nil {
			if err := s.store.Reseal(next.seal); err != nil {
				return err
			}
			s.adopt(next)
			if err := s.recordConfig(audit.KindConfig, next); err != nil {
				s.log.Error("record the configuration in the audit log", "err", err)
			}
			s.news.Notify()
			if next.written != g.written { // not only the members of declarations
				s.metrics.ConfigReloaded(true)
				s.log.Info("configuration reloaded", "file", next.config.File)
			}
			notifySystemd(sd.SdNotifyReady)
		}
	}
	return nil
}

// untilReload waits for a successful reload and returns the new generation; nil when ctx
// ends.
func (s *service) untilReload(ctx context.Context, reload <-chan os.Signal, members <-chan expansion, done <-chan error) (*generation, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-done:
			return nil, fmt.Errorf("scheduler ended: %w", err)
		case e := <-members: // the file is not read again
			next, err := s.generationOf(e)
			if err == nil {
				return next, nil
			}
			s.log.Error("use the folders that declarations stand for; the former ones stay", "err", err)
		case <-reload:
			if next := s.reload(); next != nil {
				return next, nil
			}
		}
	}
}

// reload loads the configuration again; it returns nil if the old one stays in use.
func (s *service) reload() *generation {
	notifySystemd(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", sd.SdNotifyReloading, monotonicMicroseconds()))
	next, err := s.readAgain()
	if err != nil {
		problem := fmt.Sprintf("the configuration was not reloaded at %s: %s; the old one stays in use",
			time.Now().UTC().Format(time.RFC3339), strings.ReplaceAll(err.Error(), "\n", "; "))
		s.unread.Store(&problem)
		s.news.Notify()
		s.metrics.ConfigReloaded(false)
		s.log.Error("reload configuration; the old one stays in use", "err", err)
		notifySystemd(sd.SdNotifyReady)
		return nil
	}
	s.unread.Store(nil)
	return next
}

func (s *service) readAgain() (*generation, error) {
	before := s.current.Load().config
	cfg, err := s.checkConfigured(s.cmd)
	if err != nil {
		return nil, err
	}
	if cfg.StateDir != before.StateDir {
		return nil, errors.New("state_dir cannot change while driftd runs: restart driftd")
	}
	if !reflect.DeepEqual(cfg.Server, before.Server) {
		s.log.Warn("the changed server section takes effect after a restart")
	}
	if cfg.Audit.KeyFile != before.Audit.KeyFile {
		s.log.Warn("the changed audit.key_file takes effect after a restart")
	}
	return s.newGeneration(cfg)
}

// remember shows the results of the last scan before the start, until the first scan has
// finished.
func (s *service) remember() {
	run, err := s.store.LastRun()
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	open, openErr := s.store.OpenFindings()
	if err = errors.Join(err, openErr); err != nil {
		s.log.Warn("read the last scan", "err", err)
		return
	}
	s.metrics.ObserveRun(run, open)
}

// Scan runs a scan with the current engine.
func (s *service) Scan(ctx context.Context, sources []string) (model.Report, error) {
	var found model.Report
	err := s.within(ctx, func(ctx context.Context, g *generation) (err error) {
		found, err = g.engine.Scan(ctx, sources)
		return err
	})
	if errors.Is(err, daemon.ErrUnknownSource) {
		return found, &server.Error{Status: http.StatusNotFound, Message: err.Error(), Hint: "see the sources of the configuration"}
	}
	return found, err
}

// serveHTTP serves until ctx ends.
func (s *service) serveHTTP(ctx context.Context, settings config.Server) error {
	api := s.api()
	pages, err := web.New(web.Options{API: api, Gate: s.gate, News: s.news, Stage: s.stage, Now: time.Now, Log: s.log})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group.Go(func() { pages.Prepare(ctx) })
	return server.Serve(ctx, server.Options{API: api, Pages: pages, Listen: settings.Listen, WebConfigFile: settings.WebConfigFile,
		Socket: s.socket, Log: s.log, Ready: func(addresses []net.Addr) {
			for _, a := range addresses {
				s.log.Info("listening", "address", a.String())
			}
			notifySystemd(sd.SdNotifyReady)
		}})
}

// probeBox starts a box and logs its protections.
func (s *service) probeBox() {
	report, err := s.boxes.Probe()
	switch {
	case err != nil:
		s.log.Error("start the sandbox; kustomizations and large files cannot be read", "err", err)
	case len(report.Lacks) > 0:
		s.log.Warn("the sandbox for foreign input lacks protections", "box", report.String())
	}
}

// api returns the handlers of the HTTP API.
func (s *service) api() server.API {
	return server.API{Store: s.store, Copy: s.store.CopyTo, Verify: s.store.Verify, AuditLog: watchedLog{auditor: s.auditor(), s: s}, Scanner: s, Decider: s, Acting: s, Receivers: s.receivers, Problems: s.problems, Box: s.boxes.Report,
		Compare: newCompare(), Imports: newImports(), Metrics: s.metrics.Handler(),
		Hooks: s.hooks, Audit: http.HandlerFunc(s.listen), Waiting: func() []string { return s.current.Load().engine.Waiting() },
		Gate: s.gate, People: s.people, Version: s.build.Version, Now: time.Now, Log: s.log}
}

// people returns the table of people of the current configuration.
func (s *service) people() *access.People { return s.current.Load().people }

// problems returns the problems that an operator should correct.
func (s *service) problems() []string {
	var all []string
	for _, problem := range []*string{s.unread.Load(), s.unsaved.Load(), s.corrupt.Load(), s.unwitnessed.Load(), s.uncompared.Load()} {
		if problem != nil {
			all = append(all, *problem)
		}
	}
	return append(append(all, doubts(s.store)...), s.damaged()...)
}

// damaged returns a message for the newest database that was set aside, until its file is
// moved away. The database in use lacks the acceptances of the one set aside.
func (s *service) damaged() []string {
	aside, err := store.SetAside(s.current.Load().config.StateDir)
	if err != nil {
		return []string{err.Error()}
	}
	if len(aside) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the database was damaged and is set aside as %s: its acceptances and notifications are only in that file and in your last backup; "+
		"restore that backup, or continue without, and then move the file away", aside[len(aside)-1])}
}

// receivers returns the status of the receivers.
func (s *service) receivers() []model.ReceiverStatus {
	list, err := s.current.Load().dispatcher.Status()
	if err != nil {
		s.log.Error("read the queued notifications", "err", err)
	}
	return list
}

// idleMeasurements is the number of measurements without a scan after which the daemon is idle.
const idleMeasurements = 2

// maintain measures the store every few seconds and prunes it every hour, until ctx ends. When
// the daemon becomes idle, it releases memory.
func (s *service) maintain(ctx context.Context) {
	var seen uint64
	still := 0
	measure, prune := time.NewTicker(5*time.Second), time.NewTicker(time.Hour)
	defer measure.Stop()
	defer prune.Stop()
	for {
		s.metrics.StoreSize(s.store.Size())
		s.metrics.ReceiversStatus(s.receivers())
		s.metrics.AuditInDoubt(len(doubts(s.store)) > 0)
		select {
		case <-ctx.Done():
			return
		case <-measure.C:
			if revision, _ := s.news.Now(); revision != seen {
				seen, still = revision, 0
			} else if still++; still == idleMeasurements {
				s.release()
			}
		case now := <-prune.C:
			if removed, err := s.store.Prune(now); err != nil {
				s.log.Error("prune store", "err", err)
			} else if removed > 0 {
				s.log.Info("pruned store", "removed", removed)
			}
		}
	}
}

// release returns unused memory to the system.
func (s *service) release() {
	debug.FreeOSMemory()
	if err := releaseProgramPages(); err != nil {
		s.log.Debug("release memory", "err", err)
	}
}

// watchdog sends watchdog notifications to systemd as long as the store answers.
func (s *service) watchdog(ctx context.Context) {
	interval, err := sd.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return
	}
	ticker := time.NewTicker(interval / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if _, err := s.store.Runs(1); err != nil {
				s.log.Error("store does not answer", "err", err)
				continue
			}
			notifySystemd(sd.SdNotifyWatchdog)
		}
	}
}

// notifySystemd sends a state to systemd; without systemd it does nothing.
func notifySystemd(state string) {
	_, _ = sd.SdNotify(false, state) // best effort: systemd detects a failure of its socket itself
}

func newLogger(streams Streams, c config.Log) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(streams.Err, options))
	}
	return slog.New(slog.NewTextHandler(streams.Err, options))
}
