// Package daemon runs scans, once or on a schedule. A scan reads sources and declarations, compares
// them, stores the findings and delivers notifications about them.
package daemon

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/links"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/store"
)

// A Source is one live system to read, with its schedule and limits.
type Source struct {
	Name, Type string
	Every      time.Duration
	// Timeout and MaxMemory limit the time and the bytes of memory of each read; zero means no
	// limit.
	Timeout   time.Duration
	MaxMemory int64
	Collector collectors.Collector
	// Pages lists the web pages of resources. The first one with a matching kind applies.
	Pages []Page
}

// A Page is a template for the addresses of web pages of resources. Kind is a pattern that the kind
// of the resource must match.
type Page struct {
	Kind string
	links.Template
}

func (s Source) task() task {
	return task{of: "source " + s.Name, timeout: s.Timeout, memory: s.MaxMemory}
}

// A Declaration is one place in which resources are declared, with its schedule and limits.
type Declaration struct {
	Name, Type string
	Governs    []string
	Every      time.Duration
	// Timeout and MaxMemory limit the time and the bytes of memory of each read; zero means no
	// limit.
	Timeout   time.Duration
	MaxMemory int64
	// Loader reads the declaration. It is nil if Deriver derives the declaration from each snapshot
	// of a source.
	Loader  declared.Loader
	Deriver declared.Deriver
	// Page is a template for the addresses of lines in the repository; nil to use that of a
	// well-known host.
	Page *links.Template
	// ClaimsNothing reports whether the declaration contains no claims but only decisions.
	ClaimsNothing bool
}

func (d Declaration) task() task {
	return task{of: "declaration " + d.Name, timeout: d.Timeout, memory: d.MaxMemory}
}

// An Estate contains the sources and declarations to read, and the rules for comparing and
// classifying them.
type Estate struct {
	Sources      []Source
	Declarations []Declaration
	Rules        []classify.Rule
	Severities   []classify.SeverityRule
	Owners       []classify.OwnerRule
	// Diff configures comparisons.
	Diff diff.Options
	// Memory limits the memory of all reads together; nil means no limit.
	Memory *budget.Total
	// Secrets seals everything that sources and declarations return; nil seals nothing.
	Secrets *secret.Room
	// Whole reports whether the estate contains all sources and declarations with findings in the
	// store. Findings of others are then resolved.
	Whole bool
	// ConfirmAtOnce reports whether a source from which many resources are missing is read again
	// immediately instead of in the next scan.
	ConfirmAtOnce bool
}

// A Store stores scans, decisions and notifications.
type Store interface {
	FindingStore
	MemoryStore
	DecisionStore
	NoticeStore
}

// A FindingStore stores the results of scans.
type FindingStore interface {
	// OpenFindings returns the findings that are not resolved.
	OpenFindings() ([]model.Finding, error)
	// Recent returns the findings that were resolved at the time since or later.
	Recent(since time.Time) ([]model.Finding, error)
	// Runs returns up to limit run records, newest first; all if limit is not positive.
	Runs(limit int) ([]model.Run, error)
	// Save stores the result of a scan in one transaction.
	Save(store.Record) error
}

// A MemoryStore stores the values that earlier scans read.
type MemoryStore interface {
	// Observations returns the values of each resource that scans read, newest first. The result is
	// parallel to keys.
	Observations(keys []model.Key) ([][]model.Observation, error)
	// FirstReads returns the first complete reads of sources.
	FirstReads() ([]model.FirstRead, error)
	// LastRead returns the record of a source in the last run that contains it. LastStates returns
	// the last records of a declaration. Both return store.ErrNotFound if there is none.
	LastRead(source string) (model.SourceRun, error)
	LastStates(declaration string) ([]model.StateRead, error)
}

// A DecisionStore stores decisions about findings.
type DecisionStore interface {
	// Decisions returns all stored decisions, including ended ones.
	Decisions() ([]model.Decision, error)
	// Decide stores decisions and applies them to the open findings that they are about.
	Decide(decisions []model.Decision, now time.Time) error
	// Revoke removes the decision whose ID begins with id, on behalf of the person by.
	Revoke(id, by string, now time.Time) (model.Decision, error)
	// Settle sets on each open finding the decision that is in force at the time now, and returns
	// the number of findings that changed.
	Settle(now time.Time) (changed int, err error)
	// Finding returns the finding whose ID begins with id, and all its versions, oldest first.
	Finding(id string) (model.Finding, []store.FindingVersion, error)
}

// A NoticeStore stores the notifications that were sent to receivers and those that are queued.
type NoticeStore interface {
	// Notices returns the stored notices.
	Notices() (model.Notices, error)
	// SaveNotices stores a change of the notices and queues its messages in one transaction.
	SaveNotices(model.NoticeChange) error
	// Queues returns the message queues by the name of the receiver.
	Queues() (map[string]model.Queue, error)
}

// An Observer is notified of every read and of every finished scan.
type Observer interface {
	ReadObserver
	ObserveRun(run model.Run, open []model.Finding)
	// ObserveFindings is called with all open findings if they changed without a scan.
	ObserveFindings(open []model.Finding)
	// ObserveActions is called with the state of actions when it may have changed.
	ObserveActions(reconcile.Overview)
	// Saved is called with the error of reading the earlier state of a scan or of writing its
	// results; nil if there was none.
	Saved(err error)
}

// A ReadObserver is notified of every read.
type ReadObserver interface {
	SourceScanned(source string, took time.Duration, err error)
	DeclarationLoaded(declaration string, err error)
}

// NoObserver is an Observer that does nothing.
type NoObserver struct{}

// SourceScanned implements ReadObserver.
func (NoObserver) SourceScanned(string, time.Duration, error) {}

// DeclarationLoaded implements ReadObserver.
func (NoObserver) DeclarationLoaded(string, error) {}

// Saved implements Observer.
func (NoObserver) Saved(error) {}

// ObserveRun implements Observer.
func (NoObserver) ObserveRun(model.Run, []model.Finding) {}

// ObserveFindings implements Observer.
func (NoObserver) ObserveFindings([]model.Finding) {}

// ObserveActions implements Observer.
func (NoObserver) ObserveActions(reconcile.Overview) {}

// An Engine scans one estate. Its methods are safe for concurrent use. Scans of the same source do
// not overlap.
type Engine struct {
	estate        Estate
	store         Store
	observer      Observer
	now           func() time.Time
	log           *slog.Logger
	version       string
	notifications Notifications
	random        io.Reader

	calls calls
	// reads is the number of reads that began, of all sources and declarations.
	reads atomic.Uint64
	// reconciler runs actions, scanned receives a value after each scan, and changed receives the
	// sources that actions changed.
	reconciler *reconcile.Reconciler
	scanned    chan struct{}
	changed    chan string

	// evaluating is held while results are compared, saved and delivered, and while
	// decisions are made.
	evaluating *sync.Mutex
	// records maps declarations to their last accepted records of applied state.
	records map[string][]model.StateRead
	mu      sync.Mutex
	// answers are the histories of the candidates of the last scan.
	answers   map[claimRef]pastAnswer
	collected map[string]collected
	loaded    map[string]loaded
	// restored contains the last results of sources from the store.
	restored map[string]collected
	// unsaved contains the sources whose last result could not be saved.
	unsaved map[string]bool
	// allTried is closed when every source and declaration was read once.
	allTried chan struct{}
}

// Options configures an Engine. Store, Now and Log are required.
type Options struct {
	Store    Store
	Observer Observer
	Now      func() time.Time
	Log      *slog.Logger
	// Version is the version of driftd, for run records.
	Version string
	// Notifications configures notifications; zero means none.
	Notifications Notifications
	// Acting configures actions; zero means none.
	Acting Acting
	// Evaluating is the mutex that all engines of one store share, such as those of successive
	// configurations; nil for a single engine.
	Evaluating *sync.Mutex
}

// New returns an Engine for the estate. It does not start a scan.
func New(estate Estate, o Options) *Engine {
	if o.Observer == nil {
		o.Observer = NoObserver{}
	}
	if o.Evaluating == nil {
		o.Evaluating = &sync.Mutex{}
	}
	e := &Engine{estate: estate, calls: calls{memory: estate.Memory}, store: o.Store, observer: o.Observer, now: o.Now, log: o.Log, version: o.Version,
		notifications: o.Notifications, random: rand.Reader, evaluating: o.Evaluating, collected: map[string]collected{}, loaded: map[string]loaded{},
		restored: map[string]collected{}, answers: map[claimRef]pastAnswer{}, unsaved: map[string]bool{}, allTried: make(chan struct{}), scanned: make(chan struct{}, 1), changed: make(chan string, 16)}
	e.reconciler = reconcile.New(reconcile.Options{Rules: o.Acting.Rules, Windows: o.Acting.Windows, Writers: o.Acting.Writers, Store: o.Acting.Store, LastReads: lastReads{e},
		Digest: o.Acting.Digest, Identities: o.Acting.Identities, Current: o.Acting.Current, Done: e.acted, Acting: o.Acting.Lock, Stopping: o.Acting.Stopping, Now: o.Now, Log: o.Log})
	return e
}

// collected is the last result of a source's collector.
type collected struct {
	// worse reports whether the read, which an event caused, could read less than the one before.
	worse bool
	// began is the position of the read (Engine.begin).
	began    uint64
	snapshot model.Snapshot
	err      error
	duration time.Duration
	// counts are those of the last accepted snapshot. held reports whether this one is held back, and
	// heldKinds counts its resources; nil after a restart.
	counts
	held      bool
	heldKinds map[string]int
	// marks are the greatest positions of the source's parts so far.
	marks []model.Mark
	// rereads are the partial reads that snapshot includes, in the order in which they began.
	rereads []reread
}

// loaded is the last result of a declaration's loader.
type loaded struct {
	// began is the position of the read (Engine.begin).
	began       uint64
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

// A Due lists the things that a scan reads. For everything else, the scan uses the last results.
type Due struct {
	Sources      []string
	Declarations []string
	// Objects lists parts of sources to read.
	Objects []SourceObjects
	// Watched lists snapshots of sources that are followed.
	Watched []model.Snapshot
	// Lost lists the sources that are followed and became unreachable.
	Lost []Loss
}

// A Loss is a source that was followed and became unreachable.
type Loss struct {
	Source string
	Err    error
}

// Everything returns a Due with all sources and declarations.
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

// Waiting returns, as text, the first reads of sources and declarations for which the engine still
// waits, and the saving of the last scan if it failed. It returns none if the engine is ready.
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
		if _, ok := e.collected[s.Name]; !ok {
			untried = append(untried, "the first read of source "+s.Name)
		}
	}
	for _, d := range e.estate.Declarations {
		if _, ok := e.loaded[d.Name]; !ok {
			untried = append(untried, "the first reading of declaration "+d.Name)
		}
	}
	return untried
}

// settleTime is how long the first scans wait for each other. Otherwise each one would
// report as unchecked what the others have not read yet.
const settleTime = 3 * time.Second

// awaitFirstReads waits until every source and declaration was read once, for at most settleTime.
func (e *Engine) awaitFirstReads(ctx context.Context) {
	e.mu.Lock()
	select {
	case <-e.allTried:
	default:
		if len(e.untried()) == 0 {
			close(e.allTried)
		}
	}
	e.mu.Unlock()
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-e.allTried:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// hasUnsaved reports whether the last scan could not be saved.
func (e *Engine) hasUnsaved() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unsaved) > 0
}
