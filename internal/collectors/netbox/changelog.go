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

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const (
	// overlap is how far an entry may lag behind a newer one: one that is
	// committed late has an earlier time and a lower id.
	overlap = 10 * time.Minute
	// rereadAfter is when the changelog is read in full again, for entries that
	// lagged longer.
	rereadAfter = 24 * time.Hour
)

// A changelog keeps what was read of NetBox's, between looks. It is safe for
// concurrent use.
type changelog struct {
	mu      sync.Mutex
	entries map[int64]change
	// newest is the time of the newest entry, readAt when all was last read.
	newest, readAt time.Time
	// cut tells that there is more than max_changes.
	cut    bool
	models normalize.Models
}

// A change is what one entry tells.
type change struct {
	id     int64
	at     time.Time
	traces []entry
}

// An entry is a trace, with what the edit left in some of its fields.
type entry struct {
	model.AuditEvent
	written []normalize.Written
}

// A telling is what the changelog says at one moment.
type telling struct {
	entries []entry
	// silent says why it could not be read; "" when it could.
	silent string
	// reach is how far back it was read.
	reach time.Duration
}

// old tells whether all of it has to be read.
func (c *changelog) old(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isOld(now)
}

func (c *changelog) isOld(now time.Time) bool {
	return c.readAt.IsZero() || now.Sub(c.readAt) >= rereadAfter
}

// read brings the changelog up to date and returns what it says. One that just
// failed to be read is not tried again.
func (c *changelog) read(ctx context.Context, l *look, err error) telling {
	if err == nil {
		err = c.update(ctx, l)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := telling{entries: c.told(), reach: c.reach(l)}
	if err != nil {
		t.silent = l.silence(err)
	}
	return t
}

// update reads what is new, or all of it where that is due. After an error what
// was known before is still known, and what came before the error.
func (c *changelog) update(ctx context.Context, l *look) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, all := l.taken.Add(-l.config.Changes), c.isOld(l.taken)
	from := since
	if !all && c.newest.Add(-overlap).After(since) {
		from = c.newest.Add(-overlap)
	}
	if all {
		c.readModels(ctx, l)
	}
	found, cut, err := c.fetch(ctx, l, from)
	if all && err == nil {
		c.entries, c.readAt, c.cut = make(map[int64]change, len(found)), l.taken, cut
	}
	c.note(found, err == nil)
	c.prune(since, l.config.MaxChanges)
	return err
}

// note takes up entries; what lies between them and those of before is known
// only where all of them could be read.
func (c *changelog) note(found []change, whole bool) {
	if c.entries == nil {
		c.entries = make(map[int64]change, len(found))
	}
	for _, e := range found {
		c.entries[e.id] = e
		if whole && e.at.After(c.newest) {
			c.newest = e.at
		}
	}
}

// prune drops what is too old, or too much.
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

// reach is how far back the entries go.
func (c *changelog) reach(l *look) time.Duration {
	if !c.cut {
		return l.config.Changes
	}
	oldest := l.taken
	for _, e := range c.entries {
		if e.at.Before(oldest) {
			oldest = e.at
		}
	}
	return l.taken.Sub(oldest)
}

// told returns what the entries tell, sorted as a snapshot wants it.
func (c *changelog) told() []entry {
	count := 0
	for _, e := range c.entries {
		count += len(e.traces)
	}
	if count == 0 {
		return nil
	}
	traces := make([]entry, 0, count)
	for _, e := range c.entries {
		traces = append(traces, e.traces...)
	}
	slices.SortFunc(traces, func(a, b entry) int { return compareTraces(a.AuditEvent, b.AuditEvent) })
	return traces
}

// fetch reads the entries since from, the newest first; cut tells that there are
// more than are wanted. An entry that comes meanwhile moves the others on, so
// that some are read twice and none is skipped.
func (c *changelog) fetch(ctx context.Context, l *look, from time.Time) (found []change, cut bool, err error) {
	q := url.Values{"limit": {strconv.Itoa(l.config.PageSize)}, "time_after": {from.UTC().Format(time.RFC3339)}}
	if !l.version.Before(normalize.Version{Major: 4}) {
		q.Set("fields", "id,time,user,user_name,request_id,action,changed_object_type,changed_object_id,message,prechange_data,postchange_data")
	}
	take := c.taker(l)
	for offset, pages := int64(0), 0; pages < maxPages; pages++ {
		p, err := c.page(ctx, l, q, take)
		if err != nil {
			return found, false, err
		}
		found = append(found, p.rows...)
		// A server that does not know the filter would go on to its beginning.
		if p.next == "" || len(p.rows) == 0 || p.rows[len(p.rows)-1].at.Before(from) {
			return found, false, nil
		}
		if len(found) >= l.config.MaxChanges {
			return found, true, nil
		}
		next, ok := parameter(p.next, "offset")
		if !ok || next <= offset {
			return found, false, &movedError{"its pages do not move on"}
		}
		offset, q = next, queryOf(p.next)
	}
	return found, true, nil
}

// page reads a page of the changelog, which moved with 4.1.
func (*changelog) page(ctx context.Context, l *look, q url.Values, take func(model.Value) (change, error)) (page[change], error) {
	var p page[change]
	var err error
	for _, path := range changePaths(l.version) {
		if p, err = readPage(ctx, l.session, path, q, take); httpclient.Code(err) != http.StatusNotFound {
			break
		}
	}
	return p, err
}

// changePaths returns where the changelog may be, the likely place first.
func changePaths(version normalize.Version) []string {
	paths := []string{"core/object-changes/", "extras/object-changes/"}
	if version.Before(normalize.Version{Major: 4, Minor: 1}) {
		slices.Reverse(paths)
	}
	return paths
}

// readModels reads the numbers that entries have for models. Without them some
// entries tell of one object less.
func (c *changelog) readModels(ctx context.Context, l *look) {
	type numberedModel struct {
		change
		name string
	}
	for _, path := range []string{"core/object-types/", "extras/object-types/"} {
		rows, err := readList(ctx, l.session, list{path: path, size: l.config.PageSize, fields: "id,app_label,model", cursor: l.cursor},
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

// taker returns what makes changes of rows.
func (c *changelog) taker(l *look) func(model.Value) (change, error) {
	kinds := make(map[string]*normalize.Kind, len(l.kinds))
	for _, k := range l.kinds {
		kinds[k.Model] = k
	}
	return func(row model.Value) (change, error) { return takeChange(kinds, c.models, row) }
}

// silence says why the changelog could not be read, and what to do.
func (l *look) silence(err error) string {
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden && !refused(err):
		return "the token may not read the changelog: " + grant(l.changes())
	case code == http.StatusNotFound:
		return "NetBox " + l.release + " shows no changelog"
	}
	return "the changelog could not be read: " + l.config.because(err)
}

// changes is what NetBox calls the model of the changelog.
func (l *look) changes() string {
	if l.version.Before(normalize.Version{Major: 4, Minor: 1}) {
		return "extras.objectchange"
	}
	return "core.objectchange"
}

// unsigned returns why the changelog may lack who changed an object of a kind, or
// deleted one, and what to do.
func (l *look) unsigned(k *normalize.Kind) string {
	return cmp.Or(l.unlogged(k), fmt.Sprintf("the changelog of the last %s (object-changes) tells nothing of it: it was before that (raise %s), or past the changelog, as scripts can",
		span(l.told.reach), l.bound()))
}

// unsignedYounger is unsigned for an object that was created since the changelog was
// read from: an older part of it cannot tell more.
func (l *look) unsignedYounger(k *normalize.Kind) string {
	return cmp.Or(l.unlogged(k), fmt.Sprintf("the changelog of the last %s (object-changes) tells nothing of it, and the object is younger: it was changed without an entry, as scripts and upgrades can",
		span(l.told.reach)))
}

// unlogged returns why the changelog has no entries of a kind, or not all of them, and
// what to do; "" if it has.
func (l *look) unlogged(k *normalize.Kind) string {
	if k.Unlogged && l.config.logged() {
		return "NetBox keeps no changelog of users, groups, permissions and tokens"
	}
	return l.logUnread()
}

// logUnread returns why the changelog was not read, or not in full, and what to do; ""
// if it was.
func (l *look) logUnread() string {
	switch {
	case !l.config.logged():
		return "the changelog is not read: changes, or max_changes, is 0; set them to be told who changed things"
	case l.told.silent != "":
		return l.told.silent
	case !l.sight.all && !l.sight.whole[l.changes()] && l.sight.part[l.changes()]:
		return fmt.Sprintf("what the token may see of the changelog of the last %s (object-changes) tells nothing of it: %s", span(l.told.reach), grant(l.changes()))
	}
	return ""
}

// bound is the setting that ends the changelog.
func (l *look) bound() string {
	if l.told.reach < l.config.Changes {
		return "max_changes"
	}
	return "changes"
}

// span writes a duration as people do.
func span(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", (d+12*time.Hour)/(24*time.Hour))
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
