package netbox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
)

const (
	// overlap is how much earlier the time of an entry may be than that of an entry that was
	// read before: a late commit has an earlier time and a lower id.
	overlap = 10 * time.Minute
	// rereadAfter is the interval between full reads of the changelog, for entries that are
	// later than overlap.
	rereadAfter = 24 * time.Hour
)

// A changelog keeps the entries that were read, between scans. It is safe for concurrent use.
type changelog struct {
	mu      sync.Mutex
	entries map[int64]change
	// newest is the time of the newest entry, and readAt that of the last full read.
	newest, readAt time.Time
	// cut reports whether there are more than max_changes entries.
	cut    bool
	models normalize.Models
}

// A change is one entry of the changelog, with the audit events that follow from it.
type change struct {
	id     int64
	at     time.Time
	events []entry
}

// An entry is an audit event with the values that the edit left in some of its fields.
type entry struct {
	model.AuditEvent
	written []normalize.Written
}

// A logReading is the content of the changelog at one time.
type logReading struct {
	entries []entry
	// failure is why it could not be read; "" if it was read.
	failure string
	// depth is how far back it was read.
	depth time.Duration
}

// needsFullRead reports whether all of it must be read.
func (c *changelog) needsFullRead(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.needsFullReadLocked(now)
}

func (c *changelog) needsFullReadLocked(now time.Time) bool {
	return c.readAt.IsZero() || now.Sub(c.readAt) >= rereadAfter
}

// read updates the changelog and returns its content. If err is not nil, the update failed a
// moment ago and is not tried again.
func (c *changelog) read(ctx context.Context, sc *scan, err error) logReading {
	if err == nil {
		err = c.update(ctx, sc)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := logReading{entries: c.auditEvents(), depth: c.depth(sc)}
	if err != nil {
		t.failure = sc.unreadReason(err)
	}
	return t
}

// update reads the new entries, or all entries if a full read is due. After an error, it keeps the
// earlier entries and adds those that were read.
func (c *changelog) update(ctx context.Context, sc *scan) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, all := sc.taken.Add(-sc.config.Changes), c.needsFullReadLocked(sc.taken)
	from := since
	if !all && c.newest.Add(-overlap).After(since) {
		from = c.newest.Add(-overlap)
	}
	if all {
		c.readModels(ctx, sc)
	}
	found, cut, err := c.fetch(ctx, sc, from)
	if all && err == nil {
		c.entries, c.readAt, c.cut = make(map[int64]change, len(found)), sc.taken, cut
	}
	c.add(found, err == nil, sc.taken)
	c.prune(since, sc.config.MaxChanges)
	return err
}

// add adds entries. newest moves only if complete is set: otherwise entries before it may be
// missing. It is not later than now: an entry from the future, made before NetBox's clock was
// corrected, would hide those that follow it.
func (c *changelog) add(found []change, complete bool, now time.Time) {
	if c.entries == nil {
		c.entries = make(map[int64]change, len(found))
	}
	for _, e := range found {
		c.entries[e.id] = e
		if complete && e.at.After(c.newest) {
			c.newest = e.at
		}
		if c.newest.After(now) {
			c.newest = now
		}
	}
}

// prune removes entries before since, and the oldest ones above the limit.
func (c *changelog) prune(since time.Time, limit int) {
	maps.DeleteFunc(c.entries, func(_ int64, e change) bool { return e.at.Before(since) })
	if len(c.entries) <= limit {
		return
	}
	c.cut = true
	byAge := slices.SortedFunc(maps.Values(c.entries), func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	for _, e := range byAge[:len(byAge)-limit] {
		delete(c.entries, e.id)
	}
}

// depth returns how far back the entries go.
func (c *changelog) depth(sc *scan) time.Duration {
	if !c.cut {
		return sc.config.Changes
	}
	oldest := sc.taken
	for _, e := range c.entries {
		if e.at.Before(oldest) {
			oldest = e.at
		}
	}
	return sc.taken.Sub(oldest)
}

// auditEvents returns the audit events of the entries, in the order of model.Snapshot.
func (c *changelog) auditEvents() []entry {
	count := 0
	for _, e := range c.entries {
		count += len(e.events)
	}
	if count == 0 {
		return nil
	}
	events := make([]entry, 0, count)
	for _, e := range c.entries {
		events = append(events, e.events...)
	}
	slices.SortFunc(events, func(a, b entry) int { return compareEvents(a.AuditEvent, b.AuditEvent) })
	return events
}

// fetch returns the entries since from, newest first. cut reports whether there are more than
// max_changes. A new entry shifts the others to later pages, so that some are read twice but none
// is skipped.
func (c *changelog) fetch(ctx context.Context, sc *scan, from time.Time) (found []change, cut bool, err error) {
	q := url.Values{"limit": {strconv.Itoa(sc.config.PageSize)}, "time_after": {from.UTC().Format(time.RFC3339)}}
	if !sc.version.Before(normalize.Version{Major: 4}) {
		q.Set("fields", "id,time,user,user_name,request_id,action,changed_object_type,changed_object_id,message,prechange_data,postchange_data")
	}
	parse := c.parser(sc)
	for offset, pages := int64(0), 0; pages < maxPages; pages++ {
		p, err := c.page(ctx, sc, q, parse)
		if err != nil {
			return found, false, err
		}
		found = append(found, p.rows...)
		// A server that ignores the filter would return entries from the beginning.
		if p.next == "" || len(p.rows) == 0 || p.rows[len(p.rows)-1].at.Before(from) {
			return found, false, nil
		}
		if len(found) >= sc.config.MaxChanges {
			return found, true, nil
		}
		next, ok := parameter(p.next, "offset")
		if !ok || next <= offset {
			return found, false, &collectors.InconsistentError{Text: "its pages do not advance"}
		}
		offset, q = next, queryOf(p.next)
	}
	return found, true, nil
}

// page reads a page of the changelog, whose path changed in 4.1.
func (*changelog) page(ctx context.Context, sc *scan, q url.Values, parse func(model.Value) (change, error)) (page[change], error) {
	var p page[change]
	var err error
	for _, path := range changePaths(sc.version) {
		if p, err = readPage(ctx, sc.session, path, q, parse); httpclient.Code(err) != http.StatusNotFound {
			break
		}
	}
	return p, err
}

// changePaths returns the possible paths of the changelog, the likely one first.
func changePaths(version normalize.Version) []string {
	paths := []string{"core/object-changes/", "extras/object-changes/"}
	if version.Before(normalize.Version{Major: 4, Minor: 1}) {
		slices.Reverse(paths)
	}
	return paths
}

// readModels reads the content type IDs of models, by which entries refer to them. Without them,
// some entries result in one audit event less.
func (c *changelog) readModels(ctx context.Context, sc *scan) {
	type numberedModel struct {
		change
		name string
	}
	for _, path := range []string{"core/object-types/", "extras/object-types/"} {
		rows, err := readList(ctx, sc.session, list{path: path, size: sc.config.PageSize, fields: "id,app_label,model", cursor: sc.cursor},
			func(row model.Value) (numberedModel, error) {
				id, err := number(row.At("id"))
				return numberedModel{change{id: id}, row.At("app_label").Str() + "." + row.At("model").Str()}, err
			})
		if err != nil {
			continue
		}
		c.models = normalize.Models{}
		for _, r := range rows {
			c.models[strconv.FormatInt(r.id, 10)] = r.name
		}
		return
	}
}

func (c change) number() int64 { return c.id }

// parser returns a function that parses rows of the changelog.
func (c *changelog) parser(sc *scan) func(model.Value) (change, error) {
	kinds := make(map[string]*normalize.Kind, len(sc.kinds))
	for _, k := range sc.kinds {
		kinds[k.Model] = k
	}
	return func(row model.Value) (change, error) { return parseChange(kinds, c.models, row) }
}

// unreadReason returns why the changelog could not be read, and the next step.
func (sc *scan) unreadReason(err error) string {
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden && !netboxapi.TokenRejected(err):
		return "the token may not read the changelog: " + grant(sc.changelogModel())
	case code == http.StatusNotFound:
		return "NetBox " + sc.release + " does not serve the changelog"
	}
	return "the changelog could not be read: " + sc.config.errorReason(err)
}

// changelogModel returns NetBox's name of the model of the changelog.
func (sc *scan) changelogModel() string {
	if sc.version.Before(normalize.Version{Major: 4, Minor: 1}) {
		return "extras.objectchange"
	}
	return "core.objectchange"
}

// writerUnknown returns why the changelog may not contain who changed or deleted an object of a
// kind, and the next step.
func (sc *scan) writerUnknown(k *normalize.Kind) string {
	return cmp.Or(sc.noLogReason(k), fmt.Sprintf("the changelog of the last %s (object-changes) has no entry for this change: it is older (raise %s), or it was made without an entry, as scripts can",
		span(sc.changes.depth), sc.limitSetting()))
}

// writerUnknownRecent is writerUnknown for an object that was created within the depth of the
// changelog: older entries cannot concern it.
func (sc *scan) writerUnknownRecent(k *normalize.Kind) string {
	return cmp.Or(sc.noLogReason(k), fmt.Sprintf("the changelog of the last %s (object-changes) has no entry for this change, and the object is younger: it was changed without an entry, as scripts and upgrades can",
		span(sc.changes.depth)))
}

// noLogReason returns why the changelog has no entries of a kind, or not all of them, and the
// next step; "" if it has all.
func (sc *scan) noLogReason(k *normalize.Kind) string {
	if k.Unlogged && sc.config.logged() {
		return "NetBox keeps no changelog of users, groups, permissions and tokens"
	}
	return sc.logUnread()
}

// logUnread returns why the changelog was not read, or not in full, and the next step; "" if it
// was.
func (sc *scan) logUnread() string {
	switch {
	case !sc.config.logged():
		return "the changelog is not read because changes or max_changes is 0: set both to see who made changes"
	case sc.changes.failure != "":
		return sc.changes.failure
	case !sc.visibility.all && !sc.visibility.full[sc.changelogModel()] && sc.visibility.partial[sc.changelogModel()]:
		return fmt.Sprintf("the visible part of the changelog of the last %s (object-changes) has no entry for this change: %s", span(sc.changes.depth), grant(sc.changelogModel()))
	}
	return ""
}

// limitSetting returns the name of the setting that limits the depth of the changelog.
func (sc *scan) limitSetting() string {
	if sc.changes.depth < sc.config.Changes {
		return "max_changes"
	}
	return "changes"
}

// span formats a duration in days, or in hours and minutes below 48 hours.
func span(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", (d+12*time.Hour)/(24*time.Hour))
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
