package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// descriptions of the gauges, which are rendered from the state.
type descriptions struct {
	findings, resources, unchecked, coverage *prometheus.Desc
	lastSuccess, stale                       *prometheus.Desc
	declared, declarationLastSuccess         *prometheus.Desc
	reloadSuccessful, reloadTimestamp        *prometheus.Desc
	storeBytes, buildInfo                    *prometheus.Desc
}

func newDescriptions(build Build) descriptions {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("driftd_"+name, help, labels, nil)
	}
	return descriptions{
		findings:               desc("findings", "Open findings.", "source", "kind", "verdict", "severity"),
		resources:              desc("resources", "Resources that the source's last good scan saw.", "source"),
		unchecked:              desc("unchecked_resources", "Declared resources that could not be compared.", "source"),
		coverage:               desc("coverage_scopes", "Scopes of the last run, by whether they were fully read.", "source", "complete"),
		lastSuccess:            desc("scan_last_success_timestamp_seconds", "When the source was last read.", "source"),
		stale:                  desc("source_stale", "Whether the source was not read for three of its intervals.", "source"),
		declared:               desc("declared_resources", "Resources that the declaration claims.", "declaration"),
		declarationLastSuccess: desc("declaration_last_success_timestamp_seconds", "When the declaration was last read.", "declaration"),
		reloadSuccessful:       desc("config_last_reload_successful", "Whether the last attempt to read the configuration succeeded."),
		reloadTimestamp:        desc("config_last_reload_success_timestamp_seconds", "When the configuration was last read."),
		storeBytes:             desc("store_bytes", "Size of the database."),
		buildInfo: prometheus.NewDesc("driftd_build_info", "Always 1; the labels say which driftd runs.", nil,
			prometheus.Labels{"version": build.Version, "commit": build.Commit, "goversion": build.GoVersion}),
	}
}

// A collector renders the state of its Metrics.
type collector struct{ m *Metrics }

// Describe names every gauge.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	d := &c.m.desc
	for _, desc := range []*prometheus.Desc{
		d.findings, d.resources, d.unchecked, d.coverage, d.lastSuccess, d.stale, d.declared,
		d.declarationLastSuccess, d.reloadSuccessful, d.reloadTimestamp, d.storeBytes, d.buildInfo,
	} {
		ch <- desc
	}
}

// Collect renders the gauges as they stand.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	d, s := &c.m.desc, &c.m.state
	for name, src := range s.sources {
		c.collectSource(name, src, gauge)
	}
	for name, decl := range s.declarations {
		if decl.read {
			gauge(d.declared, float64(decl.claims), name)
		}
		if !decl.lastSuccess.IsZero() {
			gauge(d.declarationLastSuccess, float64(decl.lastSuccess.Unix()), name)
		}
	}
	for f, n := range s.findings {
		gauge(d.findings, float64(n), f.source, f.kind, string(f.verdict), string(f.severity))
	}
	gauge(d.reloadSuccessful, number(!s.reloadFailed))
	gauge(d.reloadTimestamp, float64(s.reloaded.Unix()))
	gauge(d.storeBytes, float64(s.storeBytes))
	gauge(d.buildInfo, 1)
}

func (c collector) collectSource(name string, src *source, gauge func(*prometheus.Desc, float64, ...string)) {
	d := &c.m.desc
	gauge(d.stale, number(src.stale(c.m.now())), name)
	if !src.lastSuccess.IsZero() {
		gauge(d.lastSuccess, float64(src.lastSuccess.Unix()), name)
	}
	if src.read {
		gauge(d.resources, float64(src.resources), name)
	}
	if !src.judged {
		return
	}
	gauge(d.unchecked, float64(src.unchecked), name)
	gauge(d.coverage, float64(src.complete), name, strconv.FormatBool(true))
	gauge(d.coverage, float64(src.incomplete), name, strconv.FormatBool(false))
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
