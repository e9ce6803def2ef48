package metrics

import "github.com/prometheus/client_golang/prometheus"

// The results that are counted.
const (
	success   = "success"
	delivered = "delivered"
	failure   = "error"
)

// result names what became of something.
func result(err error, good string) string {
	if err != nil {
		return failure
	}
	return good
}

// counters are what is added up, instead of rendered from the state. All series
// of what is configured are there from the start, at 0.
type counters struct {
	duration                    *prometheus.HistogramVec
	scans, loads, notifications *prometheus.CounterVec
	unsaved                     prometheus.Counter
}

func newCounters() counters {
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "driftd_" + name, Help: help}, labels)
	}
	return counters{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "driftd_scan_duration_seconds",
			Help:    "How long reading a source took.",
			Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300},
		}, []string{"source"}),
		scans: count("scans_total", "How often a source was read, by result: success or error.", "source", "result"),
		loads: count("declaration_loads_total", "How often a declaration was read, by result: success or error.", "declaration", "result"),
		notifications: count("notifications_total", "How often a receiver was sent something, by result: delivered or error.",
			"receiver", "result"),
		unsaved: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "driftd_store_save_failures_total",
			Help: "How often what a scan found could not be stored.",
		}),
	}
}

func (c *counters) register(registry *prometheus.Registry) {
	registry.MustRegister(c.duration, c.scans, c.loads, c.notifications, c.unsaved)
}

func (c *counters) addSource(name string) {
	c.duration.WithLabelValues(name)
	c.scans.WithLabelValues(name, success)
	c.scans.WithLabelValues(name, failure)
}

func (c *counters) addDeclaration(name string) {
	c.loads.WithLabelValues(name, success)
	c.loads.WithLabelValues(name, failure)
}

func (c *counters) addReceiver(name string) {
	c.notifications.WithLabelValues(name, delivered)
	c.notifications.WithLabelValues(name, failure)
}

// forget removes the series of what is gone.
func (c *counters) forget(gone names) {
	for _, name := range gone.sources {
		c.duration.DeleteLabelValues(name)
		c.scans.DeletePartialMatch(prometheus.Labels{"source": name})
	}
	for _, name := range gone.declarations {
		c.loads.DeletePartialMatch(prometheus.Labels{"declaration": name})
	}
	for _, name := range gone.receivers {
		c.notifications.DeletePartialMatch(prometheus.Labels{"receiver": name})
	}
}
