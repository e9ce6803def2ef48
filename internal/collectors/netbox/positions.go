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

// newestChange returns the greatest id of the changelog, which NetBox raises with each
// change; 0 where it cannot be read, or has no entry.
func (l *look) newestChange(ctx context.Context) int64 {
	if l.brief {
		return 0
	}
	q := url.Values{"limit": {"1"}, "ordering": {"-id"}}
	if !l.version.Before(normalize.Version{Major: 4}) {
		q.Set("fields", "id")
	}
	for _, path := range changePaths(l.version) {
		p, err := readPage(ctx, l.session, path, q, func(row model.Value) (int64, error) { return number(row.At("id")) })
		if err == nil && len(p.rows) > 0 {
			return p.rows[0]
		}
		if httpclient.Code(err) != http.StatusNotFound {
			break
		}
	}
	return 0
}

// positions returns how far NetBox had come: by its changelog, or, where the token may
// not read all of that, by the last change of each kind.
func (l *look) positions() []model.Position {
	if changes := l.changes(); l.first > 0 && (l.sight.all || l.sight.whole[changes]) {
		id := l.first
		if l.last > 0 {
			id = min(id, l.last)
		}
		return []model.Position{{Name: "the greatest id of NetBox's changelog", Value: id, Asked: l.taken}}
	}
	var all []model.Position
	for _, k := range l.kinds {
		p := model.Position{Scope: model.Scope{Kind: k.Name}, Name: "the newest last_updated of " + k.Model, Asked: l.taken}
		for i := range l.lists[k.Name] {
			p.Raise(l.lists[k.Name][i].Updated, l.lists[k.Name][i].ID)
		}
		if p.Object != "" {
			all = append(all, p)
		}
	}
	return all
}

// doubtCopies doubts a snapshot in which a cache answered, or the changelog went back.
func (l *look) doubtCopies(s *model.Snapshot) {
	if reason := l.session.http.Cached("NetBox"); reason != "" {
		s.Doubt(model.Scope{}, reason)
	}
	if l.last > 0 && l.last < l.first {
		s.Doubt(model.Scope{}, fmt.Sprintf("the greatest id of NetBox's changelog went back from %d to %d while it was read, so that one of its "+
			"databases is an old copy: let driftd read the primary", l.first, l.last))
	}
}
