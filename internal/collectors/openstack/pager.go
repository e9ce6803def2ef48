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

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
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

// A pager reads the list of one kind.
type pager struct {
	session *session
	kind    *normalize.Kind
	query   url.Values
	size    int
	take    func(row model.Value) (normalize.Object, error)

	// objects are those that were read so far, seen their ids.
	objects []normalize.Object
	seen    map[string]bool
}

// read returns the whole list. Services give a page after the object that a marker
// names, so that nothing is skipped when others come and go; where that object is
// gone, or pages repeat, the list is read anew.
func (p *pager) read(ctx context.Context) ([]normalize.Object, error) {
	for reading := 1; ; reading++ {
		p.objects, p.seen = nil, map[string]bool{}
		err := p.readOnce(ctx)
		if !errors.As(err, new(*movedError)) || reading == readings {
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
	turn := p.following
	if p.kind.Counted {
		turn = p.overlapping
	}
	at := url.Values{}
	for pages := range maxPages {
		answer, err := p.page(ctx, query, at)
		if code := httpclient.Code(err); pages > 0 && (code == http.StatusBadRequest || code == http.StatusNotFound) {
			return &movedError{"the object that a page begins after is gone"}
		}
		if err != nil {
			return err
		}
		if at, err = turn(answer); err != nil || at == nil {
			return err
		}
		if len(p.objects) > maxRows {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("it has more than %d objects", maxRows)}
		}
	}
	return &httpclient.Unexpected{Reason: fmt.Sprintf("it has more than %d pages", maxPages)}
}

// page asks for the page of a list that begins at a place.
func (p *pager) page(ctx context.Context, list, at url.Values) (model.Value, error) {
	query := url.Values{}
	for _, more := range []url.Values{list, p.query, {"limit": {strconv.Itoa(p.size)}}, at} {
		maps.Copy(query, more)
	}
	answer, err := p.session.ask(ctx, p.kind.Service, p.kind.Microversion, p.kind.Path, query)
	if err != nil {
		return model.Value{}, err
	}
	if rows, ok := answer.Get(p.kind.Rows); !ok || rows.Kind() != model.List {
		return model.Value{}, &httpclient.Unexpected{Reason: "the answer has no list " + p.kind.Rows}
	}
	return answer, nil
}

// following takes a page whose service says where the next one begins; nil after
// the last. Of that address the marker alone counts: behind a proxy the rest may
// name any host.
func (p *pager) following(answer model.Value) (url.Values, error) {
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
		return nil, &httpclient.Unexpected{Reason: "the answer does not say where the next page begins"}
	}
	if rows := answer.At(p.kind.Rows).Items(); len(rows) == 0 {
		return nil, &movedError{"its pages do not move on"}
	}
	return url.Values{"marker": {address.Query().Get("marker")}}, nil
}

// overlapping takes a page of a list that counts positions and does not say
// whether another one follows: each begins with the last object of the one
// before, and the last one holds nothing else.
func (p *pager) overlapping(answer model.Value) (url.Values, error) {
	rows := answer.At(p.kind.Rows).Items()
	if last := len(p.objects) - 1; last >= 0 {
		if len(rows) == 0 || rows[0].At("id").Str() != p.objects[last].ID {
			return nil, &movedError{"its pages changed while they were read"}
		}
		rows = rows[1:]
	}
	if err := p.add(rows); err != nil || len(rows) == 0 {
		return nil, err
	}
	return url.Values{"offset": {strconv.Itoa(len(p.objects) - 1)}}, nil
}

// add takes the rows of a page up.
func (p *pager) add(rows []model.Value) error {
	p.objects = slices.Grow(p.objects, len(rows))
	for i, row := range rows {
		o, err := p.take(row)
		if err != nil {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("row %d of the answer cannot be read: %v", i+1, err)}
		}
		if p.seen[o.ID] {
			return &movedError{"its pages repeat"}
		}
		p.seen[o.ID] = true
		p.objects = append(p.objects, o)
	}
	return nil
}
