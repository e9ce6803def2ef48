package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// saveFindings stores findings. Most of them differ from the stored ones only in LastSeen, which
// they share with their source: that time is stored once per source, so that an unchanged finding
// is not written.
func (t *txn) saveFindings(all []model.Finding, at moment) error {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b model.Finding) int { return cmp.Compare(a.ID, b.ID) })
	ledger, err := t.openLedger(sorted, at)
	if err != nil {
		return err
	}
	for i := range sorted {
		if err := ledger.save(&sorted[i]); err != nil {
			return fmt.Errorf("finding %s: %w", sorted[i].ID, err)
		}
	}
	return ledger.close()
}

// A ledger stores the findings of one record.
type ledger struct {
	*txn
	at moment
	// before and now are the times at which the sources' findings were last seen, before and after
	// this record.
	before, now map[string]moment
	// written is the number of new versions.
	written int
}

// openLedger computes when the findings of each source were last seen. If an open finding shares
// the time of its source but is not in the record, the previous time is written to its head.
func (t *txn) openLedger(sorted []model.Finding, at moment) (*ledger, error) {
	l := &ledger{txn: t, at: at, before: map[string]moment{}, now: map[string]moment{}}
	for i := range sorted {
		if f := &sorted[i]; f.Resolved.IsZero() {
			l.now[f.Source] = max(momentOf(f.LastSeen), l.seenNow(f.Source))
		}
	}
	for source := range l.now {
		l.before[source] = t.sourceSeen(source)
	}
	var pinned []entry
	err := each(t.open, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		if err != nil || h.seen != withSource || l.seenNow(h.source) == l.before[h.source] || holds(sorted, id) {
			return err
		}
		if _, ok := l.now[h.source]; ok {
			h.seen = l.before[h.source]
			pinned = append(pinned, entry{bytes.Clone(id), h.encode()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, putAll(t.open, pinned)
}

// amend returns a ledger for changes of open findings that do not change when they were seen.
func (t *txn) amend(open []model.Finding, now time.Time) *ledger {
	seen := map[string]moment{}
	for i := range open {
		seen[open[i].Source] = t.sourceSeen(open[i].Source)
	}
	return &ledger{txn: t, at: momentOf(now), before: seen, now: seen}
}

func (l *ledger) seenNow(source string) moment {
	if seen, ok := l.now[source]; ok {
		return seen
	}
	return never
}

func holds(sorted []model.Finding, id []byte) bool {
	_, ok := slices.BinarySearchFunc(sorted, id, func(f model.Finding, id []byte) int {
		return cmp.Compare(f.ID, string(id))
	})
	return ok
}

// sourceSeen returns the time at which the source's findings were last seen.
func (t *txn) sourceSeen(source string) moment {
	if v := t.seen.get(prefixOf(source)); len(v) == 8 {
		return momentAt(v)
	}
	return never
}

// close writes the times of the sources.
func (l *ledger) close() error {
	for source, seen := range l.now {
		if seen == l.before[source] {
			continue
		}
		if err := l.seen.put(prefixOf(source), seen.append(nil)); err != nil {
			return fmt.Errorf("write last seen: %w", err)
		}
	}
	return nil
}

// save stores one finding. It writes a new version if any field other than LastSeen and
// Change.Names changed. If only names changed, it writes them to the last version.
func (l *ledger) save(f *model.Finding) error {
	if f.ID == "" || strings.Contains(f.ID, "\x00") {
		return fmt.Errorf("id %q: want a non-empty ID without NUL bytes", f.ID)
	}
	was, home, err := l.head(f.ID)
	if err != nil {
		return err
	}
	body, err := encodeFinding(*f)
	if err != nil {
		return err
	}
	now := head{at: was.at, seen: l.seenFor(f), sum: sha256.Sum256(body), source: f.Source, outline: encodeOutline(f)}
	if now.sum == was.sum && now.outline != was.outline && l.signer != nil {
		// The next line overwrites what was edited.
		if err := l.doubt("the outline of finding "+f.ID+" was edited: lists showed it otherwise than it is", l.at.time()); err != nil {
			return err
		}
	}
	if now.sum != was.sum {
		seen, err := l.begin(f, &was, &now)
		if err != nil {
			return err
		}
		packed, err := l.pack(body)
		if err != nil {
			return err
		}
		if err := l.findings.put(findingKey(f.ID, now.at), append(seen, packed...)); err != nil {
			return fmt.Errorf("write version: %w", err)
		}
	}
	return l.move(f, home, &was, &now)
}

// begin begins a new version of a finding, unless only names changed. It sets the time of the
// version to write, and returns the encoded time at which the finding was last seen.
func (l *ledger) begin(f *model.Finding, was, now *head) (seen []byte, err error) {
	last := l.findings.get(findingKey(f.ID, was.at))
	same, err := l.onlyShownDiffers(last, f)
	switch {
	case err != nil:
		return nil, err
	case same:
		return bytes.Clone(last[:8]), nil
	}
	if err := l.supersede(f.ID, was); err != nil {
		return nil, err
	}
	now.at = max(l.at, momentOf(f.Resolved)).after(was.at)
	l.written++
	return momentOf(f.LastSeen).append(nil), nil
}

// onlyShownDiffers reports whether a finding differs from its last version only in what helps to
// read it and is no part of the drift. A version that does not exist or cannot be read differs in
// more.
func (l *ledger) onlyShownDiffers(last []byte, f *model.Finding) (bool, error) {
	stored, err := l.parseFinding(last)
	if err != nil {
		return false, nil //nolint:nilerr // supersede reports a damaged version
	}
	before, err := encodeFinding(withoutShown(stored))
	if err != nil {
		return false, err
	}
	after, err := encodeFinding(withoutShown(*f))
	return bytes.Equal(before, after), err
}

// withoutShown returns a finding without the names of objects, and without the links and the
// positions of declarations, which move with each commit above them.
func withoutShown(f model.Finding) model.Finding {
	f.Links, f.Position = nil, ""
	f.Changes, f.Ignored = slices.Clone(f.Changes), slices.Clone(f.Ignored)
	for i := range f.Changes {
		f.Changes[i] = changeWithoutShown(f.Changes[i])
	}
	for i := range f.Ignored {
		f.Ignored[i].Change = changeWithoutShown(f.Ignored[i].Change)
	}
	return f
}

func changeWithoutShown(c model.Change) model.Change {
	c.Names, c.Claims = nil, slices.Clone(c.Claims)
	for i := range c.Claims {
		c.Claims[i].Position, c.Claims[i].URL = "", ""
	}
	return c
}

// move writes the head to the bucket of open or of resolved findings, unless it is already stored
// there.
func (l *ledger) move(f *model.Finding, home *bucket, was, now *head) error {
	to := l.open
	if !f.Resolved.IsZero() {
		to = l.resolved
	}
	if home == to && *was == *now {
		return nil
	}
	if home != nil && home != to {
		if err := home.remove([]byte(f.ID)); err != nil {
			return fmt.Errorf("move: %w", err)
		}
	}
	return to.put([]byte(f.ID), now.encode())
}

// seenFor returns the value of head.seen for a finding.
func (l *ledger) seenFor(f *model.Finding) moment {
	seen := momentOf(f.LastSeen)
	if f.Resolved.IsZero() && seen == l.seenNow(f.Source) {
		return withSource
	}
	return seen
}

// supersede writes into the last version the time at which it was last seen. It must run before
// close updates the times of the sources.
func (l *ledger) supersede(id string, was *head) error {
	key := findingKey(id, was.at)
	v := l.findings.get(key)
	if v == nil {
		return nil
	}
	if len(v) < 8 {
		return fmt.Errorf("%w: version of %d bytes", errCorrupt, len(v))
	}
	return l.findings.put(key, append(l.lastSeen(was).append(nil), v[8:]...))
}

// head returns the head of a finding and its bucket; the bucket is nil if the finding is not
// stored.
func (t *txn) head(id string) (head, *bucket, error) {
	for _, b := range []*bucket{t.open, t.resolved} {
		if v := b.get([]byte(id)); v != nil {
			h, err := parseHead(v)
			return h, b, err
		}
	}
	return head{at: never}, nil, nil
}

// findingKey returns the key of the version of a finding at a moment.
func findingKey(id string, at moment) []byte { return at.append(prefixOf(id)) }

// encodeFinding returns the JSON of a finding without LastSeen and with times in UTC.
func encodeFinding(f model.Finding) ([]byte, error) {
	f.LastSeen = time.Time{}
	f.FirstSeen, f.Resolved, f.Actor.At = f.FirstSeen.UTC(), f.Resolved.UTC(), f.Actor.At.UTC()
	f.Was = f.Was.UTC()
	f.Flips = slices.Clone(f.Flips)
	for i := range f.Flips {
		f.Flips[i].At = f.Flips[i].At.UTC()
	}
	if f.Decision != nil {
		d := *f.Decision
		d.At, d.Until = d.At.UTC(), d.Until.UTC()
		f.Decision = &d
	}
	f.Changes = slices.Clone(f.Changes)
	for i := range f.Changes {
		f.Changes[i].Actor = inUTC(f.Changes[i].Actor)
	}
	f.Ignored = slices.Clone(f.Ignored)
	for i := range f.Ignored {
		f.Ignored[i].Actor = inUTC(f.Ignored[i].Actor)
	}
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return body, nil
}

func inUTC(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	utc := *a
	utc.At = a.At.UTC()
	return &utc
}
