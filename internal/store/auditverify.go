package store

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// An AuditReport is the result of verifying the audit log, and the findings and decisions against
// it.
type AuditReport struct {
	audit.Report

	// Doubt is why the log is in doubt; nil if it is not.
	Doubt *Doubt
}

// VerifyAudit compares the audit log with its head, with the head in the head file,
// and with witnessed heads, and the stored findings and decisions with the log. It changes nothing.
func (s *Store) VerifyAudit(witnessed []audit.Witnessed) (AuditReport, error) {
	var r AuditReport
	err := s.viewAudit("verify the audit log", func(t *txn) error {
		witnessed, err := s.withKept(witnessed)
		if err != nil {
			return err
		}
		r, _, err = s.compareAudit(t, witnessed)
		return err
	})
	return r, err
}

// compareAudit compares the log with its heads, and the content of the database with the log. It
// also returns the faults of the content.
func (s *Store) compareAudit(t *txn, witnessed []audit.Witnessed) (r AuditReport, faults []string, err error) {
	log := t.auditLog()
	r.Report = log.Verify(witnessed)
	if r.Doubt, err = t.readDoubt(); err != nil {
		return r, nil, err
	}
	if what := s.foreign(t); what != "" && r.OK() && r.Doubt == nil {
		r.Add(what)
	}
	if r.Head.Size == 0 {
		// Without a head there is nothing to compare the content with.
		return r, nil, nil
	}
	c := content{txn: t, doubted: -1, log: log, versions: map[string]recorded{}, decisions: map[string]recorded{}, resealed: -1, pruned: -1}
	if err := c.read(r.Head.Size); err != nil {
		return r, nil, err
	}
	if err := c.compare(); err != nil {
		return r, nil, err
	}
	if c.doubted >= 0 && r.Doubt == nil {
		c.fault("entry %d records a doubt about the log that no entry settles", c.doubted)
	}
	r.Add(c.faults...)
	return r, c.faults, nil
}

// content compares the findings and decisions of the database with the log.
type content struct {
	*txn
	log *audit.Log
	// versions are the recorded versions of findings by their keys, decisions the recorded
	// decisions by their IDs.
	versions, decisions map[string]recorded
	// begun is the time of the first entry that was not dropped. resealed and pruned are the last entries that explain
	// other versions and missing ones; -1 for none.
	begun            time.Time
	resealed, pruned int64
	// doubted is the last entry that records a doubt which no later entry settles; -1 for none.
	doubted int64
	// unlisted reports whether the list of a scan's findings is gone or was edited.
	unlisted bool
	faults   []string
}

// recorded is what an entry records.
type recorded struct {
	index int64
	sum   digest
	data  decisionData
	ended bool
}

func (c *content) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *content) read(size int64) error {
	for i := range size {
		e, err := c.log.Entry(i)
		if errors.Is(err, audit.ErrDropped) {
			continue
		}
		if err != nil {
			return err
		}
		if c.begun.IsZero() {
			c.begun = e.Time
		}
		raw, ok := e.Data.(json.RawMessage)
		if !ok {
			continue
		}
		if err := c.entry(&e, raw); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

func (c *content) entry(e *audit.Entry, raw json.RawMessage) error {
	switch e.Kind {
	case audit.KindPrune:
		c.pruned = e.Index
	case audit.KindReseal:
		c.resealed = e.Index
	case audit.KindDoubt:
		c.doubted = e.Index
	case audit.KindTrust:
		// Records that were written without an entry before it are settled too.
		c.doubted, c.begun = -1, e.Time
	case audit.KindScan, audit.KindSettle:
		return c.scan(e.Index, raw)
	case audit.KindDecision:
		var d decisionData
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		c.decisions[d.ID] = recorded{index: e.Index, data: d}
	case audit.KindRevoke:
		var d revokeData
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		was := c.decisions[d.ID]
		was.ended = true
		c.decisions[d.ID] = was
	}
	return nil
}

// scan reads the versions of findings that a scan wrote. The list is right if its root is the one
// in the entry.
func (c *content) scan(index int64, raw json.RawMessage) error {
	var d scanData
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	packed := c.log.Attachment(index)
	if packed == nil {
		c.unlisted = true
		c.fault("the list of the findings that entry %d records is gone", index)
		return nil
	}
	list, err := c.parseAttachment(packed)
	if err != nil || len(list) != d.Changed || list.root() != d.Root {
		c.unlisted = true
		c.fault("the list of the findings that entry %d records was edited", index)
		return nil //nolint:nilerr // the list is foreign input here
	}
	for i := range list {
		v := &list[i]
		c.versions[string(findingKey(v.id, v.at))] = recorded{index: index, sum: v.sum}
	}
	return nil
}

// compare compares what the database has with what was recorded.
func (c *content) compare() error {
	err := each(c.findings, nil, func(k, v []byte) error {
		id, at := string(k[:len(k)-9]), momentAt(k[len(k)-8:])
		was, ok := c.versions[string(k)]
		delete(c.versions, string(k))
		if !ok {
			if c.resealed < 0 && !c.unlisted && at.time().After(c.begun) {
				c.fault("finding %s has a version of %s that no entry records", id, at.time().Format(time.RFC3339))
			}
			return nil
		}
		if len(v) < 8 {
			return fmt.Errorf("%w: version of %d bytes", errCorrupt, len(v))
		}
		body, err := c.unpack(v[8:])
		if err == nil && sha256.Sum256(body) != was.sum && was.index > c.resealed {
			c.fault("finding %s was edited after entry %d recorded it", id, was.index)
		}
		return err
	})
	if err != nil {
		return err
	}
	for k, was := range c.versions {
		if was.index > c.pruned {
			c.fault("finding %s is gone, entry %d records it", k[:len(k)-9], was.index)
		}
	}
	return c.compareDecisions()
}

func (c *content) compareDecisions() error {
	list, err := c.allDecisions()
	if err != nil {
		return err
	}
	stored := map[string]bool{}
	for i := range list {
		d := &list[i]
		stored[d.ID] = true
		was, ok := c.decisions[d.ID]
		switch {
		case !ok && d.At.After(c.begun):
			c.fault("decision %s of %s is recorded by no entry", d.ID, d.By)
		case ok && was.ended && d.From == "":
			c.fault("decision %s is in force, and an entry records that it was revoked", d.ID)
		case ok && !c.same(d, &was):
			c.fault("decision %s was edited after entry %d recorded it", d.ID, was.index)
		}
	}
	for id, was := range c.decisions {
		if !stored[id] && !was.ended && was.index > c.pruned {
			c.fault("decision %s is gone, entry %d records it", id, was.index)
		}
	}
	return nil
}

// same reports whether a stored decision is the one that was recorded. Its basis may differ if the
// findings were sealed anew meanwhile.
func (c *content) same(d *model.Decision, was *recorded) bool {
	now := dataOf(d)
	if !c.log.Matches(was.data.By, d.By) || !c.log.Matches(was.data.Owner, d.Owner) {
		return false
	}
	now.By, now.Owner = was.data.By, was.data.Owner
	if was.index < c.resealed {
		now.Basis = was.data.Basis
	}
	return now.Until.Equal(was.data.Until) && withoutUntil(now) == withoutUntil(was.data)
}

func withoutUntil(d decisionData) decisionData {
	d.Until = time.Time{}
	return d
}
