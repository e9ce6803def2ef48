package metrics

import "github.com/prometheus/client_golang/prometheus"

// Values of the label result.
const (
	success   = "success"
	delivered = "delivered"
	failure   = "error"
)

// result returns the value of the label result: failure if err is not nil, else good.
func result(err error, good string) string {
	if err != nil {
		return failure
	}
	return good
}

// counters are the metrics that are incremented instead of rendered from the state. The
// series of everything that is configured exist from the start, with the value 0.
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
		notifications: count("notifications_total", "How often a message was sent to a receiver, by result: delivered or error.",
			"receiver", "result"),
		unsaved: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "driftd_store_save_failures_total",
			Help: "How often the result of a scan could not be stored.",
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

// forget removes the series of the given names.
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
