package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// witnessEvery is the minimum time between two heads that are sent to the witnesses.
const witnessEvery = time.Minute

// keepWitnesses sends the head of the audit log to the witnesses after it changed, at most once in
// witnessEvery, until ctx ends. A head that a witness did not take is sent again.
func (s *service) keepWitnesses(ctx context.Context) {
	ticker := time.NewTicker(witnessEvery)
	defer ticker.Stop()
	before := taken{}
	for {
		s.witness(ctx, before)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// witness sends the head to the witnesses that do not have it.
func (s *service) witness(ctx context.Context, before taken) {
	head, err := s.store.AuditHead()
	if errors.Is(err, audit.ErrEmpty) {
		return
	}
	var failed []string
	if err == nil {
		failed, err = s.send(ctx, head, before)
	}
	if err != nil {
		failed = append(failed, err.Error())
	}
	if ctx.Err() != nil {
		return
	}
	s.metrics.AuditWitnessed(len(failed) == 0)
	if len(failed) == 0 {
		s.unwitnessed.Store(nil)
		return
	}
	text := strings.ReplaceAll(strings.Join(failed, "; "), "\n", "; ")
	problem := "the head of the audit log was not kept by all witnesses: " + text
	if was := s.unwitnessed.Swap(&problem); was == nil || *was != problem {
		s.log.Error("send the head of the audit log to the witnesses", "err", text)
	}
}

// send sends the head to the witnesses that do not have it, and returns the errors of those that did
// not take it.
func (s *service) send(ctx context.Context, head audit.Head, before taken) (failed []string, err error) {
	results, err := s.auditor().publish(ctx, head, before)
	for _, r := range results {
		if r.Error != "" {
			failed = append(failed, r.Name+": "+r.Error)
		}
	}
	return failed, err
}

// auditor returns the audit log with the witnesses of the current configuration.
func (s *service) auditor() auditor { return auditor{s.store, s.settings, s.build.Version, s.log} }

// verifyAudit verifies the audit log, and puts it in doubt if it has faults. It reports whether the
// log was compared with all heads of the witnesses.
func (s *service) verifyAudit(ctx context.Context) (whole bool) {
	h, err := s.checkAudit(ctx)
	if err != nil {
		s.log.Error("verify audit log", "err", err)
		return false
	}
	unread := len(h.Unread()) > 0
	if h.OK() && !unread {
		s.log.Info("verified the audit log", "entries", h.Size)
	}
	return !unread
}

// allowActing lets actions be carried out, after it has compared the database with the audit log: while no daemon ran,
// someone may have written approvals into the database. It does not wait for witnesses.
func (s *service) allowActing() {
	defer s.acting.Release()
	report, err := s.store.VerifyAudit(nil)
	if err != nil {
		report.Add("it could not be verified at the start: " + err.Error())
	}
	if report.OK() {
		return
	}
	if err := s.store.PutInDoubt(report.Faults[0]); err != nil {
		s.log.Error("put the audit log in doubt", "err", err)
	}
}

// checkAudit is Check of the auditor. It puts the log in doubt if it has faults, and reports the result.
func (s *service) checkAudit(ctx context.Context) (server.AuditHealth, error) {
	h, compared, err := s.auditor().check(ctx)
	if err == nil {
		err = s.store.SetCompared(compared)
	}
	if err != nil {
		return h, err
	}
	for _, fault := range h.Faults {
		s.log.Error("the audit log does not verify", "fault", fault)
	}
	if len(h.Faults) > 0 && h.Doubt == nil {
		if err := s.store.PutInDoubt(h.Faults[0]); err != nil {
			s.log.Error("put the audit log in doubt", "err", err)
		}
		if h.Doubt, err = s.store.Doubt(); err != nil {
			return h, err
		}
	}
	s.metrics.AuditCompared(!s.reportUnread(h.Unread()))
	s.metrics.AuditInDoubt(h.Doubt != nil)
	s.verified.Store(&verification{time.Now(), h})
	s.news.Notify()
	return h, nil
}

// A verification is the last one of the audit log.
type verification struct {
	at     time.Time
	health server.AuditHealth
}

// A watchedLog is the audit log for requests to the daemon: what a verification finds for a person is
// what the daemon reports.
type watchedLog struct {
	auditor
	s *service
}

// Check verifies the log, and puts it in doubt if it has faults.
func (w watchedLog) Check(ctx context.Context) (server.AuditHealth, error) {
	return w.s.checkAudit(ctx)
}

// Settle lets the log continue, and verifies it anew.
func (w watchedLog) Settle(ctx context.Context, by, reason string) (audit.Trust, error) {
	t, err := w.auditor.Settle(ctx, by, reason)
	if err == nil {
		w.s.verifyAudit(ctx)
	}
	return t, err
}

// State returns the state of the log with the result of the last verification.
func (w watchedLog) State() (server.AuditState, error) {
	state, err := w.auditor.State()
	last := w.s.verified.Load()
	if err != nil || last == nil {
		return state, err
	}
	state.Verified, state.Faults, state.Settled = last.at.UTC(), len(last.health.Faults)+last.health.More, len(last.health.Settled)
	unread := map[string]string{}
	for _, health := range last.health.Unread() {
		unread[health.Name] = health.Error
	}
	for i := range state.Witnesses {
		state.Witnesses[i].Error = unread[state.Witnesses[i].Name]
	}
	return state, nil
}

// reportUnread reports the witnesses whose heads were not all compared, and whether there are any.
func (s *service) reportUnread(all []server.WitnessHealth) bool {
	if len(all) == 0 {
		s.uncompared.Store(nil)
		return false
	}
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i] = w.Name + ": " + strings.ReplaceAll(w.Error, "\n", "; ")
	}
	problem := "the audit log was not compared with all heads of its witnesses: " + strings.Join(texts, "; ")
	if was := s.uncompared.Swap(&problem); was == nil || *was != problem {
		s.log.Warn("compare the audit log with its witnesses", "err", strings.Join(texts, "; "))
	}
	return true
}

// inDoubt begins the problem of an audit log that does not continue.
const inDoubt = "the audit log is in doubt"

// doubts returns the problem of an audit log in doubt; nil if it is not.
func doubts(st *store.Store) []string {
	d, err := st.Doubt()
	switch {
	case err != nil:
		return []string{err.Error()}
	case d == nil:
		return nil
	}
	return []string{fmt.Sprintf(inDoubt+" since %s: %s; driftd audit verify lists the differences, and driftd audit trust --reason … lets the log continue",
		d.Since.UTC().Format(time.RFC3339), d.What)}
}

// startData is the data of an entry that records a start of the daemon or another configuration.
type startData struct {
	Version string `json:"version,omitempty"`
	File    string `json:"file,omitempty"`
	// Config is a keyed digest of the configuration in force.
	Config string `json:"config"`
}

// recordConfig records that the daemon uses the configuration of a generation. A reload that changed
// nothing is not recorded.
func (s *service) recordConfig(kind audit.Kind, g *generation) error {
	text, err := json.Marshal(g.config)
	if err != nil {
		return fmt.Errorf("encode the configuration: %w", err)
	}
	d := startData{File: filepath.Base(g.config.File), Config: s.sealer.Seal(string(text)).Text()}
	if kind == audit.KindStart {
		d.Version = s.build.Version
	} else if d.Config == s.recorded {
		return nil
	}
	s.recorded = d.Config
	return s.store.Record(audit.Entry{Kind: kind, Time: time.Now(), Data: d})
}
