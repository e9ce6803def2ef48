package netbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/collectors/netbox/shape"
	"github.com/driftd/driftd/internal/model"
)

// A newest is the greatest id of the changelog at one moment; 0 where it could not be
// read, or has no entry.
type newest struct {
	id    int64
	asked time.Time
}

// newestChange reads the greatest id of the changelog, whatever entries are wanted
// else: NetBox counts it up with each change, and deletes the oldest entries alone.
func (l *look) newestChange(ctx context.Context, asked time.Time) newest {
	if l.brief {
		return newest{}
	}
	q := url.Values{"limit": {"1"}, "ordering": {"-id"}}
	if !l.version.Before(shape.Version{Major: 4}) {
		q.Set("fields", "id")
	}
	paths := changePaths(l.version)
	for _, path := range paths {
		p, err := readPage(ctx, l.session, path, q, func(row model.Value) (int64, error) { return number(row.At("id")) })
		if err == nil && len(p.rows) > 0 {
			return newest{p.rows[0], asked}
		}
		if codeOf(err) != http.StatusNotFound {
			break
		}
	}
	return newest{}
}

// positions returns how far NetBox had come: by its changelog, or, where the token may
// not read all of that, by the last change of each kind.
func (l *look) positions() []model.Position {
	if changes := l.changes(); l.first.id > 0 && (l.sight.all || l.sight.whole[changes]) {
		id := l.first.id
		if l.last.id > 0 {
			id = min(id, l.last.id)
		}
		return []model.Position{{Name: "the greatest id of NetBox's changelog", Value: id, Asked: l.first.asked}}
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
	if reason := l.session.copies.Reason("NetBox"); reason != "" {
		s.Doubt(model.Scope{}, reason)
	}
	if l.last.id > 0 && l.last.id < l.first.id {
		s.Doubt(model.Scope{}, fmt.Sprintf("the greatest id of NetBox's changelog went back from %d to %d while it was read, so that one of its "+
			"databases is an old copy: let driftd read the primary", l.first.id, l.last.id))
	}
}
