package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// newestChange returns the greatest ID in the changelog, which increases with each change. It
// returns 0 if the changelog cannot be read or is empty.
func (sc *scan) newestChange(ctx context.Context) int64 {
	if sc.probeOnly {
		return 0
	}
	q := url.Values{"limit": {"1"}, "ordering": {"-id"}}
	if !sc.version.Before(normalize.Version{Major: 4}) {
		q.Set("fields", "id")
	}
	for _, path := range changePaths(sc.version) {
		p, err := readPage(ctx, sc.session, path, q, func(row model.Value) (int64, error) { return number(row.At("id")) })
		if err == nil && len(p.rows) > 0 {
			return p.rows[0]
		}
		if httpclient.Code(err) != http.StatusNotFound {
			break
		}
	}
	return 0
}

// positions returns the positions of the data: the greatest ID in the changelog or, if the token is
// not permitted to read all of it, the last change of each kind.
func (sc *scan) positions() []model.Position {
	if position := sc.logPosition(); position != nil {
		return position
	}
	var all []model.Position
	for _, k := range sc.kinds {
		p := model.Position{Scope: model.Scope{Kind: k.Name}, Name: "the newest last_updated of " + k.Model, Asked: sc.taken}
		for i := range sc.lists[k.Name] {
			p.Raise(sc.lists[k.Name][i].Updated, sc.lists[k.Name][i].ID)
		}
		if p.Object != "" {
			all = append(all, p)
		}
	}
	return all
}

// logPosition returns the greatest id of the changelog; nil if the token may not read all of it.
func (sc *scan) logPosition() []model.Position {
	if sc.first == 0 || !sc.visibility.all && !sc.visibility.full[sc.changelogModel()] {
		return nil
	}
	id := sc.first
	if sc.last > 0 {
		id = min(id, sc.last)
	}
	return []model.Position{{Name: "the greatest id of NetBox's changelog", Value: id, Asked: sc.taken}}
}

// markStale marks a snapshot as stale if a cache answered, or the changelog went back.
func (sc *scan) markStale(s *model.Snapshot) {
	if reason := sc.session.HTTP.Cached("NetBox"); reason != "" {
		s.Doubt(model.Scope{}, reason)
	}
	if sc.last > 0 && sc.last < sc.first {
		s.Doubt(model.Scope{}, fmt.Sprintf("the greatest id of NetBox's changelog went back from %d to %d while it was read, so that one of its "+
			"databases is an old copy: let driftd read the primary", sc.first, sc.last))
	}
}
