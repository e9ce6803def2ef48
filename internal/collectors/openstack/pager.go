package openstack

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
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// maxPages limits the pages of one list, and maxRows its objects.
const (
	maxPages = 20_000
	maxRows  = 2_000_000
)

// maxListReads is how often a list is read if its pages are inconsistent.
const maxListReads = 3

// A pager reads the list of one kind.
type pager struct {
	session *openstackapi.Session
	kind    *normalize.Kind
	query   url.Values
	// size is the number of objects of a page; 0 is that of the server.
	size  int
	parse func(row model.Value) (normalize.Object, error)

	// objects are the objects that were read, and seen their ids.
	objects []normalize.Object
	seen    map[string]bool
}

// read returns the whole list. A page begins after the object that a marker names, so no object
// is skipped if others are added or removed meanwhile. If that object was removed, or pages
// repeat, it reads the list again.
func (p *pager) read(ctx context.Context) ([]normalize.Object, error) {
	for listReader := 1; ; listReader++ {
		p.objects, p.seen = nil, map[string]bool{}
		err := p.readOnce(ctx)
		if !errors.As(err, new(*collectors.InconsistentError)) || listReader == maxListReads {
			return p.objects, err
		}
	}
}

func (p *pager) readOnce(ctx context.Context) error {
	for _, query := range p.kind.Queries() {
		if err := p.readList(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

func (p *pager) readList(ctx context.Context, query url.Values) error {
	next := p.nextByMarker
	if p.kind.OffsetPaged {
		next = p.nextByOffset
	}
	at := url.Values{}
	for pages := range maxPages {
		answer, err := p.page(ctx, query, at)
		if code := httpclient.Code(err); pages > 0 && (code == http.StatusBadRequest || code == http.StatusNotFound) {
			return &collectors.InconsistentError{Text: "the marker of a page was deleted"}
		}
		if err != nil {
			return err
		}
		if at, err = next(answer); err != nil || at == nil {
			return err
		}
		if len(p.objects) > maxRows {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("it has more than %d objects", maxRows)}
		}
	}
	return &httpclient.Unexpected{Reason: fmt.Sprintf("it has more than %d pages", maxPages)}
}

// page requests one page of a list.
func (p *pager) page(ctx context.Context, list, at url.Values) (model.Value, error) {
	query := url.Values{}
	if p.size > 0 {
		query.Set("limit", strconv.Itoa(p.size))
	}
	for _, more := range []url.Values{list, p.query, at} {
		maps.Copy(query, more)
	}
	answer, err := p.session.ObjectIn(ctx, p.kind.Service, p.kind.Microversion, p.kind.Path, query)
	if err != nil {
		return model.Value{}, err
	}
	if rows, ok := answer.Get(p.kind.Rows); !ok || rows.Kind() != model.List {
		return model.Value{}, &httpclient.Unexpected{Reason: "the answer has no list " + p.kind.Rows}
	}
	return answer, nil
}

// nextByMarker adds a page whose response links to the next one, and returns the query parameters
// of the next page; nil after the last one. It uses only the marker in the link, since behind a
// proxy the link may refer to any host.
func (p *pager) nextByMarker(answer model.Value) (url.Values, error) {
	if err := p.add(answer.At(p.kind.Rows).Items()); err != nil {
		return nil, err
	}
	next := answer.At("next")
	for _, link := range answer.At(p.kind.Rows + "_links").Items() {
		if link.At("rel").Str() == "next" {
			next = link.At("href")
		}
	}
	if next.IsNull() {
		return nil, nil
	}
	address, err := url.Parse(next.Str())
	if err != nil || address.Query().Get("marker") == "" {
		return nil, &httpclient.Unexpected{Reason: "the answer has no marker of the next page"}
	}
	if rows := answer.At(p.kind.Rows).Items(); len(rows) == 0 {
		return nil, &collectors.InconsistentError{Text: "its pages do not advance"}
	}
	return url.Values{"marker": {address.Query().Get("marker")}}, nil
}

// nextByOffset adds a page of a list that is paged by offset, without a link to the next page.
// Each page begins with the last object of the page before, and the last page contains no
// other.
func (p *pager) nextByOffset(answer model.Value) (url.Values, error) {
	rows := answer.At(p.kind.Rows).Items()
	if last := len(p.objects) - 1; last >= 0 {
		if len(rows) == 0 || rows[0].At("id").Str() != p.objects[last].ID {
			return nil, &collectors.InconsistentError{Text: "its pages changed while they were read"}
		}
		rows = rows[1:]
	}
	if err := p.add(rows); err != nil || len(rows) == 0 {
		return nil, err
	}
	return url.Values{"offset": {strconv.Itoa(len(p.objects) - 1)}}, nil
}

// add adds the rows of a page.
func (p *pager) add(rows []model.Value) error {
	p.objects = slices.Grow(p.objects, len(rows))
	for i, row := range rows {
		o, err := p.parse(row)
		if err != nil {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("row %d of the answer cannot be read: %v", i+1, err)}
		}
		if p.seen[o.ID] {
			return &collectors.InconsistentError{Text: "its pages repeat"}
		}
		p.seen[o.ID] = true
		p.objects = append(p.objects, o)
	}
	return nil
}
