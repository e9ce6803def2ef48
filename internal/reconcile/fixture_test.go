package reconcile_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/reconcile/reconciletest"
)

// errKilled ends a process in a test: nothing is stored after it.
var errKilled = errors.New("killed")

// memory is a store whose process can be killed: the write with the number killAt does not happen,
// and no later one does.
type memory struct {
	mu       sync.Mutex
	actions  []reconcile.Action
	controls []reconcile.Control
	findings []model.Finding
	doubt    string
	writes   int
	killAt   int
	// unkept is the error of a transaction that stored an armed action, and could not keep the head of the log.
	unkept error
}

func (m *memory) standing() reconcile.Standing {
	s := reconcile.Standing{Controls: slices.Clone(m.controls), Doubt: m.doubt}
	for _, a := range m.actions {
		a.Steps, a.Approvals = slices.Clone(a.Steps), slices.Clone(a.Approvals)
		s.History = append(s.History, a)
	}
	s.Sort()
	return s
}

func (m *memory) Standing() (reconcile.Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.standing(), nil
}

func (m *memory) OpenFindings() ([]model.Finding, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.findings), nil
}

func (m *memory) write() error {
	if m.writes++; m.killAt > 0 && m.writes >= m.killAt {
		return errKilled
	}
	return nil
}

func (m *memory) Propose(id string, propose func(*reconcile.Standing, *model.Finding) (reconcile.Action, error)) (reconcile.Action, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing()
	a, err := propose(&s, m.finding(id))
	if err == nil {
		err = m.write()
	}
	if err == nil {
		s.Number(&a, 0)
		m.actions = append(m.actions, a)
	}
	return a, err
}

// finding returns a copy of an open finding; nil if there is none with the ID. The caller holds mu.
func (m *memory) finding(id string) *model.Finding {
	at := slices.IndexFunc(m.findings, func(f model.Finding) bool { return f.ID == id })
	if at < 0 {
		return nil
	}
	f := m.findings[at]
	return &f
}

func (m *memory) ChangeAction(id string, change func(*reconcile.Action, *reconcile.Standing, *model.Finding) error) (reconcile.Action, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing()
	a, err := reconcile.FindAction(s.History, id)
	if err != nil {
		return a, err
	}
	known := len(a.Steps)
	a.Steps = slices.Clone(a.Steps)
	if err := change(&a, &s, m.finding(a.Finding)); err != nil {
		return a, err
	}
	s.Number(&a, known)
	if err := m.write(); err != nil {
		return a, err
	}
	at := slices.IndexFunc(m.actions, func(b reconcile.Action) bool { return b.ID == a.ID })
	m.actions[at] = a
	if a.State == reconcile.Armed {
		return a, m.unkept
	}
	return a, nil
}

func (m *memory) AddControl(c reconcile.Control) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing()
	s.NumberControl(&c)
	m.controls = append(m.controls, c)
	return nil
}

// reads are last reads with the given evidence. Refresh calls refresh, if set.
type reads struct {
	evidence reconcile.Evidence
	refresh  func()
	// rereadErr is the error of Reread, which calls reread, if set.
	rereadErr error
	reread    func()
	// agreement is "" for Agreed.
	agreement reconcile.Agreement
	// random are the IDs of findings whose declarations are nondeterministic.
	random []string
}

func (r *reads) Evidence(f *model.Finding) reconcile.Evidence {
	e := r.evidence
	if slices.Contains(r.random, f.ID) {
		e.Nondeterministic = "the chart calls now"
	}
	return e
}

// Reread implements reconcile.LastReads.
func (r *reads) Reread(context.Context, string) error {
	if r.reread != nil {
		r.reread()
	}
	return r.rereadErr
}

func (r *reads) Refresh(context.Context, *model.Finding) error {
	if r.refresh != nil {
		r.refresh()
	}
	return nil
}

func (r *reads) Agreement(*model.Finding) (reconcile.Agreement, error) {
	return cmp.Or(r.agreement, reconcile.Agreed), nil
}

func (r *reads) Subject(f *model.Finding) (reconcile.Subject, error) {
	return reconcile.Subject{Finding: f}, nil
}

// start is the time at which tests begin.
func start() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) }

// A bench is a Reconciler with its surroundings, and a drift that is an hour old.
type bench struct {
	*reconcile.Reconciler
	store   *memory
	live    *reconciletest.System
	reads   *reads
	finding *model.Finding
	now     time.Time
}

func newBench(t *testing.T, edit ...func(*reconcile.Rule)) *bench {
	t.Helper()
	rule := reconcile.Rule{Name: "shop", Mode: reconcile.Approve, Limits: reconcile.DefaultLimits()}
	for _, e := range edit {
		e(&rule)
	}
	b := &bench{store: &memory{}, live: &reconciletest.System{Value: "web:evil", UID: "1", Owner: "hand"},
		reads: &reads{evidence: reconcile.Evidence{Declared: 100}}, now: start()}
	b.drift("f1", "api")
	b.Reconciler = reconcile.New(reconcile.Options{Rules: []reconcile.Rule{rule}, Writers: reconcile.Writers{Actuators: map[string]reconcile.Actuator{"prod": b.live}},
		Store: b.store, LastReads: b.reads, Digest: strings.ToUpper, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
	return b
}

// restart returns the bench as after a crash, with the same store and system.
func (b *bench) restart() *bench {
	o := b.Options
	after := *b
	after.store.killAt = 0
	b.live.Before, b.live.After = nil, nil
	o.Now = func() time.Time { return after.now }
	after.Reconciler = reconcile.New(o)
	return &after
}

// drift adds an open finding.
func (b *bench) drift(id, name string) *model.Finding {
	live, declared := model.StringOf("web:evil"), model.StringOf("web:1")
	b.store.findings = append(b.store.findings, model.Finding{ID: id, Verdict: model.Changed, Severity: model.High, Basis: "basis-" + id,
		Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/" + name}, Place: "shop", Name: name, Declaration: "git",
		Changes:   []model.Change{{Path: "spec.image", Live: &live, Declared: &declared}},
		Actor:     model.Actor{Name: "mallory", Confidence: model.Exact},
		FirstSeen: b.now.Add(-time.Hour)})
	b.finding = &b.store.findings[0]
	return &b.store.findings[len(b.store.findings)-1]
}

// people makes the bench one of a configuration with people, who have identities.
func (b *bench) people(table map[string][]string) {
	o := b.Options
	o.Identities = func(person string) []string { return table[person] }
	b.Reconciler = reconcile.New(o)
}

func (b *bench) propose(t *testing.T, by string) reconcile.Action {
	t.Helper()
	a, err := b.Propose(t.Context(), b.finding, reconcile.Request{By: by, Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (b *bench) approve(t *testing.T, a *reconcile.Action, by string) (reconcile.Action, error) {
	t.Helper()
	return b.Approve(t.Context(), a.ID, reconcile.Request{By: by, Via: "test", Digest: a.Digest, Reason: "it is wrong"})
}

// stepsOf returns the states of an action in one line.
func stepsOf(a *reconcile.Action) string {
	states := make([]reconcile.State, len(a.Steps))
	for i, s := range a.Steps {
		states[i] = s.State
	}
	return fmt.Sprint(states)
}
