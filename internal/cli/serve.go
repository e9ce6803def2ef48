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
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
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
				// systemctl status shows it until the next try, and no line of the journal.
				tellSystemd("STATUS=" + httpclient.Printable(err.Error()))
			}
			return err
		},
	}
	// Named after values of the configuration, which they override.
	cmd.Flags().String("server-listen", "", "address to listen on, host:port (overrides server.listen)")
	cmd.Flags().String("log-format", "", "text or json (overrides log.format)")
	cmd.Flags().String("log-level", "", "debug, info, warn or error (overrides log.level)")
	return cmd
}

// A service is one running daemon: a store and a server that live as long as
// it does, and a generation for each configuration that it reads.
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
	// news tells open pages that something changed.
	news *web.News
	// stage is what visitors may do to an estate of stand-ins; nil where the
	// estate is real.
	stage web.Stage
	// shown is a digest of the findings that pages were last told of.
	shown atomic.Uint64
	// evaluating is shared by the engines of all generations.
	evaluating sync.Mutex
	current    atomic.Pointer[generation]
	// unread is why the configuration was last not reloaded; nil when it was.
	unread atomic.Pointer[string]
	// unsaved is why the last scan could not be stored; nil when it was.
	unsaved atomic.Pointer[string]
	// corrupt lists the records that the last verification of the store found damaged;
	// nil if there were none.
	corrupt atomic.Pointer[string]
}

func (s *service) run(ctx context.Context, cfg *config.Config) error {
	s.log, s.socket = newLogger(s.streams, cfg.Log), socketPath(cfg.StateDir)
	kubernetes.RedirectLogs(s.log)
	s.log.Info("starting", "version", s.build.Version, "commit", s.build.Commit, "file", cfg.File, "state_dir", cfg.StateDir, "overrides", cfg.Overrides)
	var err error
	if s.sealer, err = store.Sealer(cfg.StateDir); err != nil {
		return err
	}
	if s.store, err = store.Open(cfg.StateDir, storeOptions(cfg, s.log)); err != nil {
		return err
	}
	if s.gate, err = newGate(cfg, s.log); err != nil {
		return errors.Join(err, s.store.Close())
	}
	// Earlier versions had one cache of providers for all declarations there.
	if err := os.RemoveAll(filepath.Join(cacheDir(cfg.StateDir), "types")); err != nil {
		s.log.Warn("an old cache cannot be removed", "err", err)
	}
	s.metrics = metrics.New(metrics.Build{Version: s.build.Version, Commit: s.build.Commit, GoVersion: runtime.Version()}, time.Now)
	s.news, s.boxes = web.NewNews(), box.NewPool()
	s.hooks = trigger.NewQueue(trigger.Options{Scan: s.read, Now: time.Now, Log: s.log})
	first, err := s.newGeneration(cfg)
	if err != nil {
		return errors.Join(err, s.store.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var served, ran error
	if err := s.store.Reseal(first.seal); err != nil {
		return errors.Join(err, s.store.Close())
	}
	s.adopt(first)
	s.remember()
	group.Go(func() { defer stop(); served = s.serveHTTP(ctx, cfg.Server) })
	group.Go(func() { s.watchdog(ctx) })
	group.Go(s.probeBox)
	group.Go(func() { s.tend(ctx) })
	group.Go(func() { s.verifyDaily(ctx) })
	group.Go(func() { s.hooks.Run(ctx) })
	ran = s.generations(ctx)
	s.log.Info("stopping")
	stop()
	tellSystemd(sd.SdNotifyStopping)
	group.Wait()
	return errors.Join(ran, served, s.store.Close())
}

// generations runs one generation after the other: a new one each time that a
// new configuration was read and is good.
func (s *service) generations(ctx context.Context) error {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	for ctx.Err() == nil {
		running, end := context.WithCancel(ctx)
		done := make(chan error, 1)
		g := s.current.Load()
		go func() { done <- g.run(running) }()
		next, err := s.untilReload(ctx, reload, done)
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
			s.news.Tell()
			s.metrics.ConfigReloaded(true)
			s.log.Info("configuration reloaded", "file", next.config.File)
			tellSystemd(sd.SdNotifyReady)
		}
	}
	return nil
}

// untilReload waits for a good new configuration, or for the end, and then
// returns nil.
func (s *service) untilReload(ctx context.Context, reload <-chan os.Signal, done <-chan error) (*generation, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-done:
			return nil, fmt.Errorf("scheduler ended: %w", err)
		case <-reload:
			if next := s.reload(); next != nil {
				return next, nil
			}
		}
	}
}

// reload reads the configuration again; nil means that the old one stays.
func (s *service) reload() *generation {
	tellSystemd(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", sd.SdNotifyReloading, monotonicMicroseconds()))
	next, err := s.readAgain()
	if err != nil {
		said := fmt.Sprintf("the configuration was not reloaded at %s: %s; the old one stays in force",
			time.Now().UTC().Format(time.RFC3339), strings.ReplaceAll(err.Error(), "\n", "; "))
		s.unread.Store(&said)
		s.news.Tell()
		s.metrics.ConfigReloaded(false)
		s.log.Error("reload configuration; the old one stays in force", "err", err)
		tellSystemd(sd.SdNotifyReady)
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
		return nil, errors.New("state_dir cannot change while driftd runs: restart it")
	}
	if !reflect.DeepEqual(cfg.Server, before.Server) {
		s.log.Warn("a changed server section counts after a restart")
	}
	return s.newGeneration(cfg)
}

// remember shows what the last scan before the start found, until the first one
// after it.
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

// Scan lets the socket ask whichever engine is in force.
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

// serveHTTP answers until ctx ends.
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
			tellSystemd(sd.SdNotifyReady)
		}})
}

// probeBox starts a box and logs its protections.
func (s *service) probeBox() {
	report, err := s.boxes.Probe()
	switch {
	case err != nil:
		s.log.Error("kustomizations and large files cannot be read", "err", err)
	case len(report.Lacks) > 0:
		s.log.Warn("the box for foreign input lacks seals", "box", report.String())
	}
}

// api is what answers over HTTP.
func (s *service) api() server.API {
	return server.API{Store: s.store, Copy: s.store.CopyTo, Verify: s.store.Verify, Scanner: s, Decider: s, Receivers: s.receivers, Problems: s.problems, Box: s.boxes.Report,
		Compare: newCompare(), Metrics: s.metrics.Handler(),
		Hooks: s.hooks, Audit: http.HandlerFunc(s.listen), Waiting: func() []string { return s.current.Load().engine.Waiting() },
		Gate: s.gate, Version: s.build.Version, Now: time.Now, Log: s.log}
}

// problems returns what an operator should mend.
func (s *service) problems() []string {
	var all []string
	for _, said := range []*string{s.unread.Load(), s.unsaved.Load(), s.corrupt.Load()} {
		if said != nil {
			all = append(all, *said)
		}
	}
	return append(all, s.damaged()...)
}

// damaged returns a message for each database that was set aside, until it is moved
// away: what was accepted was in there, and the one in force knows nothing of it.
func (s *service) damaged() []string {
	aside, err := store.SetAside(s.current.Load().config.StateDir)
	if err != nil {
		return []string{err.Error()}
	}
	if len(aside) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the database was damaged and is set aside as %s: what was accepted and told is in it and in your last backup only; "+
		"put that backup in place, or go on without, and then move this file away", aside[len(aside)-1])}
}

// receivers tells how it stands with those that are told.
func (s *service) receivers() []model.ReceiverStatus {
	list, err := s.current.Load().dispatcher.Status()
	if err != nil {
		s.log.Error("read what waits to be told", "err", err)
	}
	return list
}

// quiet is after how many measurements without a scan the daemon counts as idle.
const quiet = 2

// tend measures the store every few seconds and prunes it every hour, until ctx
// ends. An idle daemon gives back the memory that its last scan has needed.
func (s *service) tend(ctx context.Context) {
	var seen uint64
	still := 0
	measure, prune := time.NewTicker(5*time.Second), time.NewTicker(time.Hour)
	defer measure.Stop()
	defer prune.Stop()
	for {
		s.metrics.StoreSize(s.store.Size())
		s.metrics.ReceiversStatus(s.receivers())
		select {
		case <-ctx.Done():
			return
		case <-measure.C:
			if revision, _ := s.news.Now(); revision != seen {
				seen, still = revision, 0
			} else if still++; still == quiet {
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

// release gives back to the system what an idle daemon does not need.
func (s *service) release() {
	debug.FreeOSMemory()
	if err := forgetProgram(); err != nil {
		s.log.Debug("release memory", "err", err)
	}
}

// watchdog tells systemd that the service lives, while its store answers.
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
			tellSystemd(sd.SdNotifyWatchdog)
		}
	}
}

// tellSystemd tells systemd; without systemd it does nothing.
func tellSystemd(state string) {
	_, _ = sd.SdNotify(false, state) // best effort: systemd will see a dead socket before we do
}

func newLogger(streams Streams, c config.Log) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(streams.Err, options))
	}
	return slog.New(slog.NewTextHandler(streams.Err, options))
}
