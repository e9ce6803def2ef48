package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/trigger"
)

// A generation is the engine and the notification dispatcher of one configuration.
type generation struct {
	// config is the configuration with all members of its declarations, and written the one of the file.
	config, written *config.Config
	// unlisted reports whether the members of some declaration could not be listed.
	unlisted   bool
	engine     *daemon.Engine
	dispatcher *notify.Dispatcher
	people     *access.People
	// seal holds the configuration's rules for sealing the store.
	seal store.Seal
	// listeners handle the audit events that sources send, by the sources' names.
	listeners map[string]http.Handler
	// ended is closed when the generation stops, replaced when the next one is in use.
	ended, replaced chan struct{}
}

// errReloaded cancels operations of a replaced configuration.
var errReloaded = errors.New("the configuration was read again")

// within calls do with the current generation, and a context that ends with the generation,
// because a scan must not use the rules of a replaced configuration. After a reload it calls
// do again with the next generation.
func (s *service) within(ctx context.Context, do func(context.Context, *generation) error) error {
	for {
		g := s.current.Load()
		err := g.during(ctx, do)
		if !errors.Is(err, errReloaded) {
			return err
		}
		select {
		case <-g.replaced:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *generation) during(ctx context.Context, do func(context.Context, *generation) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-g.ended:
			cancel(errReloaded)
		case <-ctx.Done():
		}
	}()
	return do(ctx, g)
}

func (s *service) newGeneration(written *config.Config) (*generation, error) {
	within, cancel := context.WithTimeout(context.Background(), listAtOnce)
	defer cancel()
	return s.generationOf(s.expanded(within, written))
}

func (s *service) generationOf(e expansion) (*generation, error) {
	cfg := e.config
	estate, err := newEstate(cfg, e.around)
	if err != nil {
		return nil, err
	}
	estate.Whole = true
	s.log.Debug("memory limit", "bytes", limitDaemon(cfg.MaxMemory))
	seal := daemon.Reseal(estate.Secrets)
	writers, err := openWriters(cfg, &estate)
	if err != nil {
		return nil, err
	}
	windows, err := cfg.Reconcile.Windows()
	if err != nil {
		return nil, err
	}
	opened, err := s.openReceivers(cfg, s.log)
	if err != nil {
		return nil, err
	}
	policy, mirrors, err := newPolicy(cfg, opened)
	if err != nil {
		return nil, err
	}
	g := &generation{config: cfg, written: e.written, unlisted: len(e.around.unlisted) > 0, people: newPeople(cfg), seal: seal, listeners: listeners(estate.Sources), ended: make(chan struct{}), replaced: make(chan struct{})}
	g.dispatcher = notify.NewDispatcher(notify.Options{Outbox: s.store, Receivers: opened, Watcher: s.metrics, Now: time.Now, Log: s.log,
		Handler: handler{g}})
	rules := reconcileRules(cfg)
	acting := daemon.Acting{Store: s.store.Announcing(daemon.Announcer(policy, rules, time.Now)), Rules: rules, Writers: writers, Digest: digestOf(s.sealer), Lock: s.acting, Stopping: s.stopping, Windows: windows,
		Identities: g.people.Identities, Current: g.inUse}
	g.engine = daemon.New(estate, daemon.Options{Store: s.store, Observer: observer{s.metrics, s}, Now: time.Now, Log: s.log, Version: s.build.Version,
		Acting: acting, Evaluating: &s.evaluating, Notifications: daemon.Notifications{Policy: policy, Mirrors: mirrors, Dispatcher: g.dispatcher}})
	return g, nil
}

// inUse reports whether no later configuration is in use.
func (g *generation) inUse() bool {
	select {
	case <-g.replaced:
		return false
	default:
		return true
	}
}

// A handler carries out the requests of people at receivers, with the engine of a generation.
type handler struct{ *generation }

// Decide makes a decision about the findings of a thread.
func (h handler) Decide(ctx context.Context, r notify.Request) (string, error) {
	return h.engine.Answer(ctx, r)
}

// Action returns the state of an action.
func (h handler) Action(id string) (model.ActionNotice, error) { return h.engine.Action(id) }

// AnswerAction approves or declines an action.
func (h handler) AnswerAction(ctx context.Context, a notify.ActionAnswer) error {
	answer, q := reconcile.DeclineAnswer, reconcile.Request{By: a.By, Via: a.Receiver, Reason: a.Reason, Digest: a.Digest}
	if a.Approve {
		answer = reconcile.ApproveAnswer
	}
	_, err := h.engine.AnswerAction(ctx, a.Action, answer, q)
	return err
}

// An observer records metrics of an engine, and notifies open pages of changes.
type observer struct {
	*metrics.Metrics
	service *service
}

// Saved records whether a scan could be stored.
func (o observer) Saved(err error) {
	o.Metrics.Saved(err)
	if err == nil {
		o.service.unsaved.Store(nil)
		return
	}
	problem := fmt.Sprintf("the last scan could not be stored: %s; scans continue, and driftd tries again after each one", err)
	if o.service.unsaved.Swap(&problem) == nil {
		o.service.news.Notify()
	}
}

// ObserveRun records a finished scan.
func (o observer) ObserveRun(run model.Run, open []model.Finding) {
	o.Metrics.ObserveRun(run, open)
	o.service.shown.Store(digest(open))
	o.service.news.Notify()
}

// ObserveActions records the state of actions, and notifies open pages.
func (o observer) ObserveActions(v reconcile.Overview) {
	a := metrics.Acting{States: map[string]map[string]int{}, Refusals: v.Refusals, Stopped: map[string]bool{}, Fights: map[string]int{}, Held: map[string]map[string]int{}}
	for i := range v.Actions {
		rule := v.Actions[i].Rule
		if a.States[rule] == nil {
			a.States[rule] = map[string]int{}
		}
		a.States[rule][string(v.Actions[i].State)]++
	}
	for i := range v.Freezes {
		if v.Freezes[i].Scheduled() {
			a.Scheduled++
		} else {
			a.Frozen++
		}
	}
	for _, h := range v.Holds() {
		if a.Held[h.Rule] == nil {
			a.Held[h.Rule] = map[string]int{}
		}
		a.Held[h.Rule][cmp.Or(h.Guard, "plan")] = len(h.Findings)
	}
	for _, r := range v.Rules {
		a.Stopped[r.Name], a.Fights[r.Name] = r.Stopped != "", r.Fights
	}
	o.Metrics.ObserveActions(a)
}

// ObserveFindings records findings between scans, and notifies pages only if the findings
// changed.
func (o observer) ObserveFindings(open []model.Finding) {
	o.Metrics.ObserveFindings(open)
	if now := digest(open); o.service.shown.Swap(now) != now {
		o.service.news.Notify()
	}
}

// digest returns a hash of the properties of findings that can change between scans.
func digest(open []model.Finding) uint64 {
	h := fnv.New64a()
	for i := range open {
		f := &open[i]
		decision := ""
		if f.Decision != nil {
			decision = f.Decision.ID
		}
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00%t\n", f.ID, f.Basis, f.Hidden, decision, f.Flapping)
	}
	return h.Sum64()
}

// run scans and sends notifications until ctx ends.
func (g *generation) run(ctx context.Context) error {
	defer close(g.ended)
	ctx, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer end()
	group.Go(func() { g.dispatcher.Run(ctx) })
	return g.engine.Run(ctx, g.config.Schedule.Jitter)
}

// adopt makes a generation the current one.
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
	if before := s.current.Swap(g); before != nil {
		close(before.replaced)
	}
}

// read runs a scan with the current engine. Triggers call it.
func (s *service) read(ctx context.Context, r trigger.Request) error {
	due := daemon.Due{Sources: r.Sources, Declarations: r.Declarations}
	for _, source := range slices.Sorted(maps.Keys(r.Objects)) {
		due.Objects = append(due.Objects, daemon.SourceObjects{Source: source, Names: r.Objects[source]})
	}
	return s.within(ctx, func(ctx context.Context, g *generation) error { return g.engine.Read(ctx, due) })
}

// PreviewAction returns what an action would do, with the current engine.
func (s *service) PreviewAction(ctx context.Context, f *model.Finding, by string) (reconcile.Proposal, error) {
	return s.current.Load().engine.PreviewAction(ctx, f, by)
}

// Act proposes an action with the current engine.
func (s *service) Act(ctx context.Context, f *model.Finding, q reconcile.Request) (reconcile.Action, error) {
	return s.current.Load().engine.Act(ctx, f, q)
}

// AnswerAction answers an action with the current engine.
func (s *service) AnswerAction(ctx context.Context, id string, answer reconcile.Answer, q reconcile.Request) (reconcile.Action, error) {
	return s.current.Load().engine.AnswerAction(ctx, id, answer, q)
}

// Control freezes actions, ends that, or resumes a rule, with the current engine.
func (s *service) Control(c reconcile.Control) (reconcile.Control, error) {
	return s.current.Load().engine.Control(c)
}

// Actions returns the actions, the freezes and the rules.
func (s *service) Actions() (reconcile.Overview, error) { return s.current.Load().engine.Actions() }

// Decide makes decisions with the current engine.
func (s *service) Decide(ctx context.Context, ids []string, r decide.Request) ([]model.Decision, error) {
	return s.current.Load().engine.Decide(ctx, ids, r)
}

// Revoke revokes a decision with the current engine.
func (s *service) Revoke(ctx context.Context, id, by string) (model.Decision, error) {
	return s.current.Load().engine.Revoke(ctx, id, by)
}
