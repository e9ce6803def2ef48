package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// descriptions are the descriptions of the gauges that are rendered from the state.
type descriptions struct {
	findings, oldestFinding, flapping, accepted, hidden          *prometheus.Desc
	resources, unchecked, coverage, lastSuccess, stale           *prometheus.Desc
	up, complete, notChecked                                     *prometheus.Desc
	declared, declarationLastSuccess                             *prometheus.Desc
	queued, oldestQueued, held, stopped                          *prometheus.Desc
	rules, severityRules                                         *prometheus.Desc
	reloadSuccessful, reloadTimestamp                            *prometheus.Desc
	storeBytes, storeDamaged, storeVerified, buildInfo           *prometheus.Desc
	auditInDoubt, auditUnwitnessed, auditWitnessUnread           *prometheus.Desc
	notJudged, scored, good                                      *prometheus.Desc
	actions, refusals, ruleStopped, fights, frozen, heldFindings *prometheus.Desc
}

func newDescriptions(build Build) descriptions {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("driftd_"+name, help, labels, nil)
	}
	return descriptions{
		findings: desc("findings", "Open findings, except accepted and hidden ones.",
			"source", "kind", "verdict", "severity"),
		oldestFinding: desc("finding_oldest_timestamp_seconds", "When the oldest open drift was first seen.",
			"source", "severity"),
		flapping: desc("findings_flapping", "Open findings that flap.", "source"),
		accepted: desc("findings_accepted", "Open findings that were accepted.", "source"),
		hidden:   desc("findings_hidden", "Open findings that an ignore rule hides.", "source"),
		notJudged: desc("objects_not_judged",
			"Live objects that no declaration claims and that were not judged: an unreadable part of the declaration may declare them or, without a declaration, they lie outside the governed namespaces and are older than the first complete scan.",
			"declaration", "source"),
		scored: desc("scorecard_resources", "Resources that the scorecard counts: for declared those that are live and expected to be declared, otherwise the declared ones.",
			"source", "owner", "property"),
		good: desc("scorecard_good_resources", "Resources of the scorecard that have the property: declared, deterministic, pinned or in_sync. What was not checked is not counted.",
			"source", "owner", "property"),
		resources:   desc("resources", "Resources in the source's last successful scan.", "source"),
		unchecked:   desc("unchecked_resources", "Declared resources that could not be compared.", "source"),
		coverage:    desc("coverage_scopes", "Scopes of the last run, by whether they were fully read.", "source", "complete"),
		lastSuccess: desc("scan_last_success_timestamp_seconds", "When the source was last read.", "source"),
		up:          desc("source_up", "Whether the last attempt to read or follow the source succeeded.", "source"),
		complete:    desc("complete", "Whether everything was checked. If 0, driftd report exits with 3."),
		notChecked: desc("not_checked", "What was not checked: unreachable or stale sources, "+
			"scopes, parts of declarations, resources.", "what"),
		stale:    desc("source_stale", "Whether the source was not read for three of its intervals.", "source"),
		declared: desc("declared_resources", "Resources that the declaration claims.", "declaration"),
		declarationLastSuccess: desc("declaration_last_success_timestamp_seconds",
			"When the declaration was last read.", "declaration"),
		queued: desc("notification_queue_length", "Messages that wait for the receiver.", "receiver"),
		oldestQueued: desc("notification_oldest_timestamp_seconds",
			"When the oldest message that waits for the receiver became due.", "receiver"),
		held: desc("notifications_held",
			"Findings whose notification is held back by quiet hours or the receiver's rate limit.", "receiver"),
		stopped: desc("receiver_stopped",
			"Whether delivery to the receiver, or the connection for its buttons, has stopped until the receiver is repaired.", "receiver"),
		rules:              desc("ignore_rules", "Ignore rules, by whether they hide anything: active or dead.", "state"),
		severityRules:      desc("severity_rules", "Severity rules, by whether they rate anything: active or dead.", "state"),
		reloadSuccessful:   desc("config_last_reload_successful", "Whether the last attempt to read the configuration succeeded."),
		reloadTimestamp:    desc("config_last_reload_success_timestamp_seconds", "When the configuration was last read."),
		storeBytes:         desc("store_bytes", "Size of the database."),
		storeDamaged:       desc("store_damaged", "Whether the last verification found the database damaged."),
		auditInDoubt:       desc("audit_in_doubt", "Whether the audit log is in doubt until a person settles it."),
		auditUnwitnessed:   desc("audit_unwitnessed", "Whether a witness does not have the head of the audit log."),
		auditWitnessUnread: desc("audit_witness_unread", "Whether the last verification did not compare the audit log with all heads of a witness."),
		storeVerified:      desc("store_verified_timestamp_seconds", "When the database was last verified."),
		actions:            desc("actions", "Stored actions, by their rule and state.", "rule", "state"),
		refusals:           desc("action_refusals_total", "Actions that a guard refused since the start.", "guard"),
		heldFindings:       desc("reconcile_held_findings", "Findings of a rule for actions for which driftd proposed nothing, by the guard that refuses it, or plan if none could be made.", "rule", "guard"),
		ruleStopped:        desc("reconcile_rule_stopped", "Whether the rule for actions is stopped until a person resumes it.", "rule"),
		fights:             desc("reconcile_fights", "Resources over which driftd and another writer fought within seven days, until a person resumes the rule.", "rule"),
		frozen:             desc("reconcile_frozen", "Freezes of actions that hold, by who set them: person or configuration.", "by"),
		buildInfo: prometheus.NewDesc("driftd_build_info", "Always 1; the labels contain the version of driftd.", nil,
			prometheus.Labels{"version": build.Version, "commit": build.Commit, "goversion": build.GoVersion}),
	}
}

// A collector renders the state of its Metrics.
type collector struct{ m *Metrics }

// Describe sends the descriptions of all gauges.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	d := &c.m.desc
	for _, desc := range []*prometheus.Desc{
		d.findings, d.oldestFinding, d.flapping, d.accepted, d.hidden,
		d.resources, d.unchecked, d.coverage, d.lastSuccess, d.up, d.complete, d.notChecked, d.stale, d.declared, d.declarationLastSuccess,
		d.queued, d.oldestQueued, d.held, d.stopped, d.rules, d.severityRules, d.reloadSuccessful, d.reloadTimestamp, d.storeBytes, d.storeDamaged, d.storeVerified, d.auditInDoubt, d.auditUnwitnessed, d.auditWitnessUnread, d.buildInfo, d.notJudged, d.scored, d.good,
		d.actions, d.refusals, d.heldFindings, d.ruleStopped, d.fights, d.frozen,
	} {
		ch <- desc
	}
}

// Collect sends the current values of all gauges.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	d, s, p := &c.m.desc, &c.m.state, sink{ch}
	now := c.m.now()
	for name, src := range s.sources {
		src.render(d, p, name, now)
	}
	for k, n := range s.notJudged {
		p.gauge(d.notJudged, float64(n), k.declaration, k.source)
	}
	for name, decl := range s.declarations {
		if decl.read {
			p.gauge(d.declared, float64(decl.claims), name)
		}
		p.timestamp(d.declarationLastSuccess, decl.lastSuccess, name)
	}
	for name, r := range s.receivers {
		r.render(d, p, name)
	}
	s.renderScores(d, p)
	if s.run != nil {
		s.renderComplete(d, p, now)
	}
	for f, n := range s.findings {
		p.gauge(d.findings, float64(n), f.source, f.kind, string(f.verdict), string(f.severity))
	}
	for state, n := range s.rules {
		p.gauge(d.rules, float64(n), state)
	}
	for state, n := range s.severityRules {
		p.gauge(d.severityRules, float64(n), state)
	}
	p.gauge(d.reloadSuccessful, number(!s.reloadFailed))
	p.timestamp(d.reloadTimestamp, s.reloaded)
	if s.storeBytes > 0 {
		p.gauge(d.storeBytes, float64(s.storeBytes))
	}
	if !s.verified.IsZero() {
		p.gauge(d.storeDamaged, number(s.damaged))
	}
	p.timestamp(d.storeVerified, s.verified)
	if s.doubtful != nil {
		p.gauge(d.auditInDoubt, number(*s.doubtful))
	}
	if s.unwitnessed != nil {
		p.gauge(d.auditUnwitnessed, number(*s.unwitnessed))
	}
	if s.witnessUnread != nil {
		p.gauge(d.auditWitnessUnread, number(*s.witnessUnread))
	}
	s.acting.render(d, p)
	p.gauge(d.buildInfo, 1)
}

func (a *Acting) render(d *descriptions, p sink) {
	if a == nil {
		return
	}
	for rule, states := range a.States {
		for state, n := range states {
			p.gauge(d.actions, float64(n), rule, state)
		}
	}
	for rule, stopped := range a.Stopped {
		p.gauge(d.ruleStopped, number(stopped), rule)
		p.gauge(d.fights, float64(a.Fights[rule]), rule)
	}
	for rule, guards := range a.Held {
		for guard, n := range guards {
			p.gauge(d.heldFindings, float64(n), rule, guard)
		}
	}
	for guard, n := range a.Refusals {
		p.ch <- prometheus.MustNewConstMetric(d.refusals, prometheus.CounterValue, float64(n), guard)
	}
	p.gauge(d.frozen, float64(a.Frozen), "person")
	p.gauge(d.frozen, float64(a.Scheduled), "configuration")
}

// renderScores renders the counts of the scorecard.
func (s *state) renderScores(d *descriptions, p sink) {
	for i := range s.scores {
		for _, property := range s.scores[i].Properties() {
			p.gauge(d.scored, float64(property.Of), s.scores[i].Source, s.scores[i].Owner, property.Name)
			p.gauge(d.good, float64(property.Good), s.scores[i].Source, s.scores[i].Owner, property.Name)
		}
	}
}

// renderComplete renders whether everything was checked, at the time now.
func (s *state) renderComplete(d *descriptions, p sink, now time.Time) {
	run := s.run.At(now, s.unchecked)
	p.gauge(d.complete, number(run.Complete))
	n := run.NotChecked
	for what, count := range map[string]int{"unreachable": n.Unreachable, "stale": n.Stale, "scopes": n.Scopes, "parts": n.Parts, "resources": n.Resources} {
		p.gauge(d.notChecked, float64(count), what)
	}
	for i := range run.Sources {
		if r := &run.Sources[i]; s.sources[r.Name] != nil {
			p.gauge(d.up, number(r.Err == ""), r.Name)
		}
	}
}

func (s *source) render(d *descriptions, p sink, name string, now time.Time) {
	if s.every > 0 {
		p.gauge(d.stale, number(s.stale(now)), name)
	}
	p.timestamp(d.lastSuccess, s.lastSuccess, name)
	if s.read {
		p.gauge(d.resources, float64(s.resources), name)
	}
	if !s.judged {
		return
	}
	p.gauge(d.coverage, float64(s.complete), name, strconv.FormatBool(true))
	p.gauge(d.coverage, float64(s.incomplete), name, strconv.FormatBool(false))
	p.gauge(d.unchecked, float64(s.tally.unchecked), name)
	p.gauge(d.flapping, float64(s.tally.flapping), name)
	p.gauge(d.accepted, float64(s.tally.accepted), name)
	p.gauge(d.hidden, float64(s.tally.hidden), name)
	for severity, first := range s.tally.oldest {
		p.timestamp(d.oldestFinding, first, name, string(severity))
	}
}

func (r *receiver) render(d *descriptions, p sink, name string) {
	if !r.known {
		return
	}
	p.gauge(d.queued, float64(r.status.Queued), name)
	p.timestamp(d.oldestQueued, r.status.Oldest, name)
	p.gauge(d.held, float64(r.status.Untold), name)
	p.gauge(d.stopped, number(r.status.Stopped), name)
}

// A sink converts values to metrics and sends them to a channel.
type sink struct{ ch chan<- prometheus.Metric }

func (p sink) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	p.ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// timestamp renders a time as Unix seconds. It renders nothing for the zero time.
func (p sink) timestamp(desc *prometheus.Desc, at time.Time, labels ...string) {
	if !at.IsZero() {
		p.gauge(desc, float64(at.Unix()), labels...)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
