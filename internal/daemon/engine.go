// Package daemon runs scans: it decides what is due, reads it, and sends it
// down the way of the data, once from the command line or on a schedule.
package daemon

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/store"
)

// A Source is one live system, and how often it is looked at.
type Source struct {
	Name, Type string
	Every      time.Duration
	// Timeout and MaxMemory bound each look, in time and bytes; zero means no bound.
	Timeout   time.Duration
	MaxMemory int64
	Collector collectors.Collector
}

func (s Source) task() task {
	return task{of: "source " + s.Name, timeout: s.Timeout, memory: s.MaxMemory}
}

// A Declaration is one place where intent is written.
type Declaration struct {
	Name, Type string
	Governs    []string
	Every      time.Duration
	// Timeout and MaxMemory bound each reading, in time and bytes; zero means no bound.
	Timeout   time.Duration
	MaxMemory int64
	// Loader reads it; nil where Deriver reads it out of a source, each time that
	// the source was looked at.
	Loader  declared.Loader
	Deriver declared.Deriver
	// ClaimsNothing reports that there is nothing live that it speaks of.
	ClaimsNothing bool
}

func (d Declaration) task() task {
	return task{of: "declaration " + d.Name, timeout: d.Timeout, memory: d.MaxMemory}
}

// Estate is everything that driftd looks at, and how it judges.
type Estate struct {
	Sources      []Source
	Declarations []Declaration
	Rules        []classify.Rule
	Severities   []classify.SeverityRule
	Owners       []classify.OwnerRule
	// Diff is how subjects are compared.
	Diff diff.Options
	// Memory bounds what all looks and readings take together; nil for no bound.
	Memory *budget.Total
	// Secrets seals everything that sources and declarations return; nil for nothing.
	Secrets *secret.Room
	// Whole reports that there is nothing else in the store's estate: findings of
	// other sources and declarations are over.
	Whole bool
	// ConfirmAtOnce looks a second time, instead of waiting for the next scan,
	// when much of a source has vanished.
	ConfirmAtOnce bool
}

// Store keeps what scans find, what people decided about it, and what receivers
// were told.
type Store interface {
	FindingStore
	MemoryStore
	DecisionStore
	NoticeStore
}

// FindingStore keeps what scans find.
type FindingStore interface {
	OpenFindings() ([]model.Finding, error)
	Recent(since time.Time) ([]model.Finding, error)
	Runs(limit int) ([]model.Run, error)
	Save(store.Record) error
}

// MemoryStore keeps what earlier scans read.
type MemoryStore interface {
	// Observations returns the values that scans read of each resource, newest
	// first.
	Observations(keys []model.Key) ([][]model.Observation, error)
	FirstLooks() ([]model.FirstLook, error)
	// LastLook returns the part that a source has in the last run that had it, and
	// LastStates the last records of a declaration, or store.ErrNotFound.
	LastLook(source string) (model.SourceRun, error)
	LastStates(declaration string) ([]model.StateRead, error)
}

// DecisionStore keeps what people decided about findings.
type DecisionStore interface {
	Decisions() ([]model.Decision, error)
	Decide(decisions []model.Decision, now time.Time) error
	Revoke(id string, now time.Time) (model.Decision, error)
	Settle(now time.Time) (changed int, err error)
	Finding(id string) (model.Finding, []store.FindingVersion, error)
}

// NoticeStore keeps what receivers were told, and what waits to be.
type NoticeStore interface {
	Notices() (model.Notices, error)
	SaveNotices(model.NoticeChange) error
	Queues() (map[string]model.Queue, error)
}

// Observer hears of every look and of every finished scan, with all findings
// that are then open.
type Observer interface {
	SourceScanned(source string, took time.Duration, err error)
	DeclarationLoaded(declaration string, err error)
	ObserveRun(run model.Run, open []model.Finding)
	// ObserveFindings hears of all findings that are open, where that changed
	// without a scan.
	ObserveFindings(open []model.Finding)
	// Saved reports whether a scan could be stored: what it is compared with was
	// read, and what it found was written.
	Saved(err error)
}

// nobody is the Observer of an Engine that has none.
type nobody struct{}

func (nobody) SourceScanned(string, time.Duration, error) {}
func (nobody) DeclarationLoaded(string, error)            {}
func (nobody) Saved(error)                                {}
func (nobody) ObserveRun(model.Run, []model.Finding)      {}
func (nobody) ObserveFindings([]model.Finding)            {}

// An Engine scans one estate. Its methods may be called at once; scans of the
// same source do not overlap.
type Engine struct {
	estate   Estate
	store    Store
	observer Observer
	now      func() time.Time
	log      *slog.Logger
	version  string
	tell     Telling
	random   io.Reader

	calls calls

	// evaluating is held while looks are compared and stored.
	evaluating *sync.Mutex
	// records are what declarations last said of their own records, by name.
	records map[string][]model.StateRead
	mu      sync.Mutex
	// answers are what histories said of the candidates of the last scan.
	answers map[claimRef]pastAnswer
	looks   map[string]look
	reads   map[string]read
	// memory is what the store knew of sources when it was first asked.
	memory map[string]look
	// unsaved are sources whose last look could not be stored.
	unsaved map[string]bool
	// settled is closed when everything was tried once.
	settled chan struct{}
}

// Options are what an Engine works with. Observer may be nil.
type Options struct {
	Store    Store
	Observer Observer
	Now      func() time.Time
	Log      *slog.Logger
	// Version of driftd, for run records.
	Version string
	// Telling is how people are told; the zero Telling tells nobody.
	Telling Telling
	// Evaluating is what engines of one store share, where there are several
	// (one for each configuration that was read); nil for an engine alone.
	Evaluating *sync.Mutex
}

// New returns an Engine for an estate.
func New(estate Estate, o Options) *Engine {
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Evaluating == nil {
		o.Evaluating = &sync.Mutex{}
	}
	return &Engine{estate: estate, calls: calls{memory: estate.Memory}, store: o.Store, observer: o.Observer, now: o.Now, log: o.Log, version: o.Version,
		tell: o.Telling, random: rand.Reader, evaluating: o.Evaluating, looks: map[string]look{}, reads: map[string]read{},
		memory: map[string]look{}, answers: map[claimRef]pastAnswer{}, unsaved: map[string]bool{}, settled: make(chan struct{})}
}

// look is the last look at a source.
type look struct {
	snapshot model.Snapshot
	err      error
	duration time.Duration
	// believed counts the resources of each kind in the last look that was
	// believed; held reports that this one is not yet.
	believed map[string]int
	held     bool
	// marks are the greatest positions of the source's parts that were seen so far.
	marks []model.Mark
}

// read is the last reading of a declaration.
type read struct {
	declaration model.Declaration
	err         error
	duration    time.Duration
	// at is when it was read; unsaved reports whether the store does not have its
	// claims yet.
	at      time.Time
	unsaved bool
	// canonical holds the claims as a source would store them, by source.
	canonical map[string][]model.Claim
}

// Due says what a scan reads anew; the rest is taken from the last time.
type Due struct {
	Sources      []string
	Declarations []string
	// Seen are looks that a source reported by itself.
	Seen []model.Snapshot
	// Lost are sources that are followed and went out of reach.
	Lost []Loss
}

// A Loss is a source that went out of reach, and why.
type Loss struct {
	Source string
	Err    error
}

// Everything is due in a first scan.
func (e *Engine) Everything() Due {
	var due Due
	for _, s := range e.estate.Sources {
		due.Sources = append(due.Sources, s.Name)
	}
	for _, d := range e.estate.Declarations {
		due.Declarations = append(due.Declarations, d.Name)
	}
	return due
}

// Cycle is one scan: it reads what is due, compares it with what is known of
// the rest, stores what it found and reports it. A source or declaration that
// cannot be read is in the report; an error means that there is none.
func (e *Engine) Cycle(ctx context.Context, due Due) (model.Report, error) {
	started := e.now()
	e.collect(ctx, due)
	e.settle(ctx)
	if ctx.Err() != nil {
		return model.Report{}, context.Cause(ctx)
	}
	found, err := e.evaluate(ctx, due, started)
	if err != nil {
		return model.Report{}, err
	}
	return report(found.run, found.current), nil
}

// kept is what a scan found, and what is to be told of it.
type kept struct {
	run           model.Run
	open, current []model.Finding
	notices       model.NoticeChange
}

// evaluate compares what was read and stores the result. Where a verdict needs
// the history of a declaration, it reads that without holding the lock, and
// compares again.
func (e *Engine) evaluate(ctx context.Context, due Due, started time.Time) (kept, error) {
	p := pass{due: due, started: started, unread: unread{}}
	for round := 1; ; round++ {
		p.last = round > maxRounds
		found, questions, err := e.compare(ctx, p)
		if err != nil || len(questions) == 0 {
			return found, err
		}
		e.investigate(ctx, questions, p.unread)
	}
}

// A pass is one comparison of a scan.
type pass struct {
	due     Due
	started time.Time
	unread  unread
	// last reports whether it decides without an answer.
	last bool
}

// compare compares what was read and stores the result, or returns what has to
// be asked first. The last time it decides without an answer.
func (e *Engine) compare(ctx context.Context, p pass) (kept, []question, error) {
	e.evaluating.Lock()
	defer e.evaluating.Unlock()
	if ctx.Err() != nil {
		return kept{}, nil, context.Cause(ctx)
	}
	v := e.view(p.due)
	v.unread = p.unread
	firstLooks, err := e.firstLooks(v)
	if err != nil {
		e.noteSaved(v, false)
		e.observer.Saved(err)
		return kept{}, nil, err
	}
	judged := judge(v, e.estate.Diff)
	waiting := candidates(v, judged, e.now())
	if questions := e.unanswered(v, waiting); len(questions) > 0 && !p.last {
		return kept{}, questions, nil
	}
	found, err := e.keep(v, comparison{judged, waiting, firstLooks}, p.started)
	e.observer.Saved(err)
	if err != nil {
		return kept{}, nil, err
	}
	e.forgetAnswers(waiting)
	e.observer.ObserveRun(found.run, found.open)
	e.post(found.open, found.notices)
	return found, nil, nil
}

// A comparison is what one scan compared: the subjects, the candidates among them,
// and the first complete looks at kinds.
type comparison struct {
	judged     []model.Judged
	waiting    []candidate
	firstLooks []model.FirstLook
}

// keep decides the candidates, compares with what is known, and stores the
// result. A store that cannot be read is as bad as one that cannot be written:
// what was seen has to be stored later.
func (e *Engine) keep(v view, c comparison, started time.Time) (found kept, err error) {
	defer func() { e.noteSaved(v, err == nil) }()
	now := e.now()
	known, err := e.known(v, now)
	if err != nil {
		return kept{}, err
	}
	if err := e.weigh(v, c.waiting, known.findings); err != nil {
		return kept{}, err
	}
	result := e.classify(v, c.judged, known, now)
	found = kept{run: e.record(v, c.judged, result, started), open: result.Open(), current: result.Current}
	known.findings, known.recent, known.rules = found.open, append(known.recent, result.Resolved...), slices.Concat(found.run.Rules, found.run.SeverityRules)
	if found.notices, err = e.plan(known); err != nil {
		return kept{}, err
	}
	err = e.store.Save(store.Record{Run: found.run, Snapshots: append(v.observed(), v.declaredSnapshots()...), FirstLooks: c.firstLooks, Findings: result.All(),
		Decisions: known.filed, Notices: found.notices})
	if err != nil {
		return kept{}, err
	}
	e.records = result.Records
	return found, nil
}

// Waiting names what is not as it should be yet: sources and declarations that
// were not read since the engine was made, and a scan that could not be stored.
func (e *Engine) Waiting() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	waiting := e.untried()
	if len(e.unsaved) > 0 {
		waiting = append(waiting, "room to store the last scan")
	}
	return waiting
}

func (e *Engine) untried() []string {
	var untried []string
	for _, s := range e.estate.Sources {
		if _, ok := e.looks[s.Name]; !ok {
			untried = append(untried, "the first look at source "+s.Name)
		}
	}
	for _, d := range e.estate.Declarations {
		if _, ok := e.reads[d.Name]; !ok {
			untried = append(untried, "the first reading of declaration "+d.Name)
		}
	}
	return untried
}

// settleTime is how long the first scans wait for one another: judged apart,
// each would call unchecked what the others are about to read.
const settleTime = 3 * time.Second

// settle waits until everything was tried once, or settleTime has passed.
func (e *Engine) settle(ctx context.Context) {
	e.mu.Lock()
	select {
	case <-e.settled:
	default:
		if len(e.untried()) == 0 {
			close(e.settled)
		}
	}
	e.mu.Unlock()
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-e.settled:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// noteSaved remembers which looks still have to be stored.
func (e *Engine) noteSaved(v view, saved bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range v.sources {
		if saved {
			delete(e.unsaved, s.Name)
		} else {
			e.unsaved[s.Name] = true
		}
	}
	for _, d := range v.declarations {
		if r, ok := e.reads[d.Name]; ok && saved && r.at.Equal(d.at) {
			r.unsaved = false
			e.reads[d.Name] = r
		}
	}
}

// behind reports whether a scan could not be stored.
func (e *Engine) behind() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unsaved) > 0
}
