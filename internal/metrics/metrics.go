// Package metrics shows what driftd does to Prometheus. It holds the newest
// state and renders it when it is asked; it looks at nothing by itself.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/driftd/driftd/internal/model"
)

// MaxFindingSeries bounds the label sets of driftd_findings: beyond it, the
// mildest are counted under the kind OtherKind.
const MaxFindingSeries = 500

// OtherKind is the kind under which findings beyond MaxFindingSeries count.
const OtherKind = "other"

// MaxKindLength bounds the label kind, in bytes: longer ones are cut.
const MaxKindLength = 128

// Build says which driftd this is.
type Build struct{ Version, Commit, GoVersion string }

// A Source is what Configure needs to know of one.
type Source struct {
	Name string
	// Every is its interval, above zero; three of them without a success make
	// it stale.
	Every time.Duration
}

// Metrics is driftd's registry. It is safe for use by many goroutines.
type Metrics struct {
	now      func() time.Time
	registry *prometheus.Registry
	desc     descriptions
	counters counters

	mu    sync.Mutex
	state state
}

// New returns the metrics of one process, with those of the Go runtime and of
// the process itself.
func New(build Build, now func() time.Time) *Metrics {
	m := newBare(build, now)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// newBare returns driftd's own metrics alone.
func newBare(build Build, now func() time.Time) *Metrics {
	m := &Metrics{
		now:      now,
		registry: prometheus.NewPedanticRegistry(),
		desc:     newDescriptions(build),
		counters: newCounters(),
		state:    newState(),
	}
	m.state.reloaded = now() // a process that runs has read its configuration
	m.counters.register(m.registry)
	m.registry.MustRegister(collector{m})
	return m
}

// Handler serves the metrics page.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry:            m.registry,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
}

// Configure says which sources, declarations and receivers there are; it is
// called at the start and after each reload. Series of others vanish.
func (m *Metrics) Configure(sources []Source, declarations, receivers []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counters.forget(m.state.configure(sources, declarations, receivers, m.now()))
	for _, s := range sources {
		m.counters.addSource(s.Name)
	}
	for _, name := range declarations {
		m.counters.addDeclaration(name)
	}
	for _, name := range receivers {
		m.counters.addReceiver(name)
	}
}

// SourceScanned notes that a source was read, or that this gave an error. It
// is called once for each time that a collector ran.
func (m *Metrics) SourceScanned(name string, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.state.sources[name]
	if !ok {
		return // a scan that began before the reload which removed it
	}
	m.counters.duration.WithLabelValues(name).Observe(took.Seconds())
	m.counters.scans.WithLabelValues(name, result(err, success)).Inc()
	if err == nil {
		now := m.now()
		s.succeeded(now, now)
	}
}

// DeclarationLoaded notes that a declaration was read, or that this gave an
// error. It is called once for each time that a loader ran.
func (m *Metrics) DeclarationLoaded(name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.state.declarations[name]
	if !ok {
		return
	}
	m.counters.loads.WithLabelValues(name, result(err, success)).Inc()
	if err == nil {
		d.lastSuccess = m.now()
	}
}

// ObserveRun notes what a run found: open are all findings that are open after
// it. Called with the last run of the store, it fills the page at the start.
func (m *Metrics) ObserveRun(run model.Run, open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.observe(run, m.now())
	m.state.countFindings(open)
}

// ObserveFindings notes all findings that are open, after something else than a
// run changed them: a decision, or the end of one.
func (m *Metrics) ObserveFindings(open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.countFindings(open)
}

// Delivered notes that a receiver took a message, or that trying it gave an
// error. It is called once for each attempt.
func (m *Metrics) Delivered(receiver string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.state.receivers[receiver]; ok {
		m.counters.notifications.WithLabelValues(receiver, result(err, delivered)).Inc()
	}
}

// ReceiversStatus notes how it stands with all receivers.
func (m *Metrics) ReceiversStatus(list []model.ReceiverStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, status := range list {
		if r, ok := m.state.receivers[status.Name]; ok {
			r.told, r.status = true, status
		}
	}
}

// Saved notes whether what a scan found could be stored.
func (m *Metrics) Saved(err error) {
	if err != nil {
		m.counters.unsaved.Inc()
	}
}

// ConfigReloaded notes whether the configuration could be read again. That it
// was read at the start goes without saying.
func (m *Metrics) ConfigReloaded(ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.reloadFailed = !ok
	if ok {
		m.state.reloaded = m.now()
	}
}

// StoreSize notes how large the database is.
func (m *Metrics) StoreSize(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.storeBytes = bytes
}

// StoreVerified notes whether a verification found the database damaged.
func (m *Metrics) StoreVerified(damaged bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.verified, m.state.damaged = m.now(), damaged
}
