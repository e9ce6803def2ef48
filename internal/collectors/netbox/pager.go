package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// maxPages bounds the pages of one list, and maxRows its objects.
const (
	maxPages = 20_000
	maxRows  = 2_000_000
)

// readings is how often a list is read whose pages do not fit together.
const readings = 3

// cursors is the first version whose lists can be read from an id on.
func cursors() normalize.Version { return normalize.Version{Major: 4, Minor: 6} }

// A list is what is asked for.
type list struct {
	path   string
	fields string
	size   int
	// cursor tells that the list may be read from an id on.
	cursor bool
}

// A numbered row has an id, by which the pages of a list are put together.
type numbered interface{ number() int64 }

// readList reads a whole list. Since 4.6 a page begins at an id, so that nothing
// is skipped when rows come and go meanwhile. Before, it begins at a position:
// each page begins with the last row of the one before, which shows that no row
// in front of it was taken away.
func readList[T numbered](ctx context.Context, s *session, l list, take func(model.Value) (T, error)) ([]T, error) {
	if l.cursor {
		rows, err := readByCursor(ctx, s, l, take)
		if !errors.Is(err, errNoCursor) && !isMoved(err) {
			return rows, err
		}
	}
	for try := 1; ; try++ {
		rows, err := readByOffset(ctx, s, l, overlapping, take)
		if errors.Is(err, errNoOverlap) {
			rows, err = readByOffset(ctx, s, l, 0, take)
		}
		if !isMoved(err) || try == readings {
			return rows, err
		}
	}
}

// overlapping is how many rows a page has in common with the one before.
const overlapping = 1

// errNoOverlap tells a server that knows no other pages than those that it names
// itself.
var errNoOverlap = errors.New("no overlap")

func isMoved(err error) bool {
	var moved *movedError
	return errors.As(err, &moved)
}

// errNoCursor tells a server that knows no start: it ignores it, or refuses it.
var errNoCursor = errors.New("no cursor")

func (l list) query() url.Values {
	q := url.Values{"limit": {strconv.Itoa(l.size)}}
	if l.fields != "" {
		q.Set("fields", l.fields)
	}
	return q
}

func readByCursor[T numbered](ctx context.Context, s *session, l list, take func(model.Value) (T, error)) ([]T, error) {
	var all []T
	q := l.query()
	for start, pages := int64(0), 0; pages < maxPages; pages++ {
		q.Set("start", strconv.FormatInt(start, 10))
		p, err := readPage(ctx, s, l.path, q, take)
		if httpclient.Code(err) == http.StatusBadRequest {
			return nil, errNoCursor
		}
		if err != nil {
			return nil, err
		}
		// A server that ignores the cursor counts, and does not move on.
		next, moves := parameter(p.next, "start")
		if slices.ContainsFunc(p.rows, func(row T) bool { return row.number() < start }) || p.next != "" && !moves {
			return nil, errNoCursor
		}
		if all = append(all, p.rows...); len(all) > maxRows {
			return nil, fmt.Errorf("read list: it holds more than %d objects; leave the kind out with exclude_kinds", maxRows)
		}
		if p.next == "" {
			return distinct(all), p.whole(len(all))
		}
		if next <= start {
			return nil, &movedError{"its pages do not move on"}
		}
		start = next
	}
	return nil, &movedError{fmt.Sprintf("it has more than %d pages", maxPages)}
}

func readByOffset[T numbered](ctx context.Context, s *session, l list, overlap int64, take func(model.Value) (T, error)) ([]T, error) {
	var all []T
	q := l.query()
	q.Set("ordering", "id")
	for offset, pages := int64(0), 0; pages < maxPages; pages++ {
		p, err := readPage(ctx, s, l.path, q, take)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && overlap > 0 {
			if err := follows(p.rows, all); err != nil {
				return nil, err
			}
			p.rows = p.rows[overlap:]
		}
		if all = append(all, p.rows...); len(all) > maxRows {
			return nil, fmt.Errorf("read list: it holds more than %d objects; leave the kind out with exclude_kinds", maxRows)
		}
		if p.next == "" {
			all = distinct(all)
			return all, p.whole(len(all))
		}
		next, ok := parameter(p.next, "offset")
		if !ok || next-overlap <= offset {
			return nil, &movedError{"its pages do not move on"}
		}
		offset, q = next-overlap, queryOf(p.next)
		q.Set("offset", strconv.FormatInt(offset, 10))
	}
	return nil, &movedError{fmt.Sprintf("it has more than %d pages", maxPages)}
}

// follows checks that a page begins with the last row that was read.
func follows[T numbered](rows, all []T) error {
	switch {
	case len(rows) > 0 && rows[0].number() == all[len(all)-1].number():
		return nil
	case len(rows) > 0 && rows[0].number() == all[0].number():
		return errNoOverlap
	}
	return &movedError{"its pages changed while they were read"}
}

// queryOf returns what the address of the next page asks for. Nothing else of it
// counts: behind a proxy it may name any host.
func queryOf(address string) url.Values {
	u, err := url.Parse(address)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}

// parameter reads a number out of the address of the next page.
func parameter(address, name string) (int64, bool) {
	n, err := strconv.ParseInt(queryOf(address).Get(name), 10, 64)
	return n, err == nil && n >= 0
}

// whole is the error of a list that says of itself that it holds another number
// of rows than were read.
func (p *page[T]) whole(rows int) error {
	if p.count < 0 || p.count == rows {
		return nil
	}
	return &movedError{fmt.Sprintf("it should hold %d objects, and %d were read", p.count, rows)}
}

// distinct returns each row once, sorted by id. Of several the last counts: it
// was read later.
func distinct[T numbered](rows []T) []T {
	slices.SortStableFunc(rows, func(a, b T) int {
		switch x, y := a.number(), b.number(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	kept := rows[:0]
	for i := range rows {
		if i+1 < len(rows) && rows[i+1].number() == rows[i].number() {
			continue
		}
		kept = append(kept, rows[i])
	}
	clear(rows[len(kept):])
	return kept
}
