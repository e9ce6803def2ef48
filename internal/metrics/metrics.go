// Package metrics serves driftd's Prometheus metrics. It stores the state that callers pass
// to it and renders it when the metrics page is requested.
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

// MaxFindingSeries is the maximum number of label sets of driftd_findings. Findings beyond it,
// the least severe ones, are counted under the kind OtherKind.
const MaxFindingSeries = 500

// OtherKind is the label kind of the findings beyond MaxFindingSeries.
const OtherKind = "other"

// MaxKindLength is the maximum length of the label kind, in bytes. Longer ones are truncated.
const MaxKindLength = 128

// Build identifies the running program.
type Build struct{ Version, Commit, GoVersion string }

// A Source is a configured source.
type Source struct {
	Name string
	// Every is its scan interval, above zero. A source without a successful scan for three
	// intervals is stale.
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

// New returns driftd's metrics together with those of the Go runtime and of the process.
func New(build Build, now func() time.Time) *Metrics {
	m := newBare(build, now)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// newBare returns only driftd's own metrics.
func newBare(build Build, now func() time.Time) *Metrics {
	m := &Metrics{
		now:      now,
		registry: prometheus.NewPedanticRegistry(),
		desc:     newDescriptions(build),
		counters: newCounters(),
		state:    newState(),
	}
	m.state.reloaded = now() // a running process has read its configuration
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

// Configure sets the sources, declarations and receivers. It is called at the start and after
// each reload, and removes the series of all others.
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

// SourceScanned records the duration and the result of a scan. It is called once per run of a
// collector.
func (m *Metrics) SourceScanned(name string, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.state.sources[name]
	if !ok {
		return // the scan began before the reload that removed the source
	}
	m.counters.duration.WithLabelValues(name).Observe(took.Seconds())
	m.counters.scans.WithLabelValues(name, result(err, success)).Inc()
	if err == nil {
		now := m.now()
		s.succeeded(now, now)
	}
}

// DeclarationLoaded records the result of loading a declaration. It is called once per run of
// a loader.
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

// ObserveRun records a run and all findings that are open after it. At the start it is called
// with the last run of the store.
func (m *Metrics) ObserveRun(run model.Run, open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.observe(run, m.now())
	m.state.countFindings(open)
}

// ObserveFindings records all open findings after a change that is not a run, such as a
// decision or its expiry.
func (m *Metrics) ObserveFindings(open []model.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.countFindings(open)
}

// Delivered records the result of sending a message to a receiver. It is called once per
// attempt.
func (m *Metrics) Delivered(receiver string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.state.receivers[receiver]; ok {
		m.counters.notifications.WithLabelValues(receiver, result(err, delivered)).Inc()
	}
}

// ReceiversStatus records the status of all receivers.
func (m *Metrics) ReceiversStatus(list []model.ReceiverStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, status := range list {
		if r, ok := m.state.receivers[status.Name]; ok {
			r.known, r.status = true, status
		}
	}
}

// Saved records whether the result of a scan could be stored.
func (m *Metrics) Saved(err error) {
	if err != nil {
		m.counters.unsaved.Inc()
	}
}

// ConfigReloaded records the result of a reload of the configuration. It is not called for
// the first read at the start.
func (m *Metrics) ConfigReloaded(ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.reloadFailed = !ok
	if ok {
		m.state.reloaded = m.now()
	}
}

// StoreSize records the size of the database in bytes.
func (m *Metrics) StoreSize(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.storeBytes = bytes
}

// AuditInDoubt records whether the audit log is in doubt.
func (m *Metrics) AuditInDoubt(doubtful bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.doubtful = &doubtful
}

// AuditWitnessed records whether all witnesses have the head of the audit log.
func (m *Metrics) AuditWitnessed(all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	unwitnessed := !all
	m.state.unwitnessed = &unwitnessed
}

// AuditCompared records whether the last verification compared the audit log with all heads of its
// witnesses.
func (m *Metrics) AuditCompared(all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	unread := !all
	m.state.witnessUnread = &unread
}

// ObserveActions records the state of actions. The caller must not change it afterwards.
func (m *Metrics) ObserveActions(a Acting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.acting = &a
}

// StoreVerified records the result of a verification of the database.
func (m *Metrics) StoreVerified(damaged bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.verified, m.state.damaged = m.now(), damaged
}
