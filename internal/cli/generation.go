package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// A generation is what runs under one configuration: an engine that scans, and
// a deliverer that tells people.
type generation struct {
	config    *config.Config
	engine    *daemon.Engine
	deliverer *notify.Deliverer
	// ended is closed when its configuration is no longer in force.
	ended chan struct{}
}

// errReloaded ends what was begun under a configuration that is gone.
var errReloaded = errors.New("the configuration was read again meanwhile: try once more")

// within returns a context that ends with the generation: a scan must not judge
// by a configuration that is gone.
func (g *generation) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-g.ended:
			cancel(errReloaded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (s *service) newGeneration(cfg *config.Config) (*generation, error) {
	estate, err := newEstate(cfg, newSurroundings(s.sealer, cacheDir(cfg.StateDir), s.log))
	if err != nil {
		return nil, err
	}
	estate.Whole = true
	opened, err := s.openReceivers(cfg, s.log)
	if err != nil {
		return nil, err
	}
	policy, mirrors, err := newPolicy(cfg, opened)
	if err != nil {
		return nil, err
	}
	g := &generation{config: cfg, ended: make(chan struct{})}
	g.deliverer = notify.NewDeliverer(notify.Options{Outbox: s.store, Receivers: opened, Watcher: s.metrics, Now: time.Now, Log: s.log,
		Decide: func(ctx context.Context, r notify.Request) (string, error) { return g.engine.Answer(ctx, r) }})
	g.engine = daemon.New(estate, daemon.Options{Store: s.store, Observer: s.metrics, Now: time.Now, Log: s.log, Version: s.build.Version,
		Evaluating: &s.evaluating, Telling: daemon.Telling{Policy: policy, Mirrors: mirrors, Post: g.deliverer}})
	return g, nil
}

// run scans and tells until ctx ends.
func (g *generation) run(ctx context.Context) error {
	defer close(g.ended)
	ctx, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer end()
	group.Go(func() { g.deliverer.Run(ctx) })
	return g.engine.Run(ctx, g.config.Schedule.Jitter)
}

// adopt puts a generation in force.
func (s *service) adopt(g *generation) {
	sources := make([]metrics.Source, 0, len(g.config.Sources))
	for _, source := range g.config.Sources {
		sources = append(sources, metrics.Source{Name: source.Name, Every: source.Every})
	}
	declarations := make([]string, 0, len(g.config.Declarations))
	for _, d := range g.config.Declarations {
		declarations = append(declarations, d.Name)
	}
	receivers := make([]string, 0, len(g.config.Notify.Receivers))
	for _, r := range g.config.Notify.Receivers {
		receivers = append(receivers, r.Name)
	}
	s.metrics.Configure(sources, declarations, receivers)
	s.hooks.Configure(triggers(g.config.Triggers))
	s.current.Store(g)
}

// read lets triggers ask whichever engine is in force.
func (s *service) read(ctx context.Context, sources, declarations []string) error {
	g := s.current.Load()
	ctx, cancel := g.within(ctx)
	defer cancel()
	return g.engine.Read(ctx, sources, declarations)
}

// Decide lets the socket ask whichever engine is in force.
func (s *service) Decide(ctx context.Context, ids []string, r decide.Request) ([]model.Decision, error) {
	return s.current.Load().engine.Decide(ctx, ids, r)
}

// Revoke lets the socket ask whichever engine is in force.
func (s *service) Revoke(ctx context.Context, id string) (model.Decision, error) {
	return s.current.Load().engine.Revoke(ctx, id)
}
