package netbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
)

// maxPages limits the pages of one list, and maxRows its objects.
const (
	maxPages = 20_000
	maxRows  = 2_000_000
)

// maxListReads is how often a list is read if its pages are inconsistent.
const maxListReads = 3

// cursors returns the first version whose lists can be paged by id.
func cursors() normalize.Version { return normalize.Version{Major: 4, Minor: 6} }

// A list is a list to request.
type list struct {
	path   string
	fields string
	size   int
	// cursor reports whether the list can be paged by id.
	cursor bool
	// filter selects rows; nil selects all.
	filter url.Values
}

// A numbered row has an id, by which pages are merged.
type numbered interface{ number() int64 }

// readList reads a whole list. Since version 4.6, a page begins at an ID, so that no row is skipped
// if others are added or removed during the read. Earlier versions page by offset: each page begins
// with the last row of the preceding page, which proves that no row before it was removed.
func readList[T numbered](ctx context.Context, s *netboxapi.Session, l list, parse func(model.Value) (T, error)) ([]T, error) {
	if l.cursor {
		rows, err := readByCursor(ctx, s, l, parse)
		if !errors.Is(err, errNoCursor) && !isInconsistent(err) {
			return rows, err
		}
	}
	for try := 1; ; try++ {
		rows, err := readByOffset(ctx, s, l, pageOverlap, parse)
		if errors.Is(err, errNoOverlap) {
			rows, err = readByOffset(ctx, s, l, 0, parse)
		}
		if !isInconsistent(err) || try == maxListReads {
			return rows, err
		}
	}
}

// pageOverlap is how many rows a page shares with the page before.
const pageOverlap = 1

// errNoOverlap is returned for a server that ignores the offset, such as a cache: it returns
// only the pages that its own links name.
var errNoOverlap = errors.New("no overlap")

func isInconsistent(err error) bool {
	var moved *collectors.InconsistentError
	return errors.As(err, &moved)
}

// errNoCursor is returned for a server that ignores or rejects the parameter start.
var errNoCursor = errors.New("no cursor")

func (l list) query() url.Values {
	q := url.Values{"limit": {strconv.Itoa(l.size)}}
	maps.Copy(q, l.filter)
	if l.fields != "" {
		q.Set("fields", l.fields)
	}
	return q
}

func readByCursor[T numbered](ctx context.Context, s *netboxapi.Session, l list, parse func(model.Value) (T, error)) ([]T, error) {
	var all []T
	q := l.query()
	for start, pages := int64(0), 0; pages < maxPages; pages++ {
		q.Set("start", strconv.FormatInt(start, 10))
		p, err := readPage(ctx, s, l.path, q, parse)
		if httpclient.Code(err) == http.StatusBadRequest {
			return nil, errNoCursor
		}
		if err != nil {
			return nil, err
		}
		// A server that ignores the cursor pages by offset, or returns the same page again.
		next, moves := parameter(p.next, "start")
		if slices.ContainsFunc(p.rows, func(row T) bool { return row.number() < start }) || p.next != "" && !moves {
			return nil, errNoCursor
		}
		if all = append(all, p.rows...); len(all) > maxRows {
			return nil, fmt.Errorf("read list: it holds more than %d objects; leave the kind out with exclude_kinds", maxRows)
		}
		if p.next == "" {
			return distinct(all), p.checkCount(len(all))
		}
		if next <= start {
			return nil, &collectors.InconsistentError{Text: "its pages do not advance"}
		}
		start = next
	}
	return nil, &collectors.InconsistentError{Text: fmt.Sprintf("it has more than %d pages", maxPages)}
}

func readByOffset[T numbered](ctx context.Context, s *netboxapi.Session, l list, overlap int64, parse func(model.Value) (T, error)) ([]T, error) {
	var all []T
	q := l.query()
	q.Set("ordering", "id")
	for offset, pages := int64(0), 0; pages < maxPages; pages++ {
		p, err := readPage(ctx, s, l.path, q, parse)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && overlap > 0 {
			if err := checkOverlap(p.rows, all); err != nil {
				return nil, err
			}
			p.rows = p.rows[overlap:]
		}
		if all = append(all, p.rows...); len(all) > maxRows {
			return nil, fmt.Errorf("read list: it holds more than %d objects; leave the kind out with exclude_kinds", maxRows)
		}
		if p.next == "" {
			all = distinct(all)
			return all, p.checkCount(len(all))
		}
		next, ok := parameter(p.next, "offset")
		if !ok || next-overlap <= offset {
			return nil, &collectors.InconsistentError{Text: "its pages do not advance"}
		}
		offset, q = next-overlap, queryOf(p.next)
		q.Set("offset", strconv.FormatInt(offset, 10))
	}
	return nil, &collectors.InconsistentError{Text: fmt.Sprintf("it has more than %d pages", maxPages)}
}

// checkOverlap returns an error unless the page begins with the last row that was read.
func checkOverlap[T numbered](rows, all []T) error {
	switch {
	case len(rows) > 0 && rows[0].number() == all[len(all)-1].number():
		return nil
	case len(rows) > 0 && rows[0].number() == all[0].number():
		return errNoOverlap
	}
	return &collectors.InconsistentError{Text: "its pages changed while they were read"}
}

// queryOf returns the query of the URL of the next page. The rest of the URL is ignored: behind
// a proxy it may name any host.
func queryOf(address string) url.Values {
	u, err := url.Parse(address)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}

// parameter parses a number in the query of the URL of the next page.
func parameter(address, name string) (int64, bool) {
	n, err := strconv.ParseInt(queryOf(address).Get(name), 10, 64)
	return n, err == nil && n >= 0
}

// checkCount returns an error if the count of the list is not the number of rows that were
// read.
func (p *page[T]) checkCount(rows int) error {
	if p.count < 0 || p.count == rows {
		return nil
	}
	return &collectors.InconsistentError{Text: fmt.Sprintf("NetBox counts %d objects, and %d were read", p.count, rows)}
}

// distinct returns each row once, sorted by ID. Of several rows with one ID, it keeps the last one,
// which was read later.
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
