package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	// maxExpired bounds how often a list is started that expires between two pages (410).
	maxExpired = 3
	// maxPages bounds the pages of a list that does not end.
	maxPages = 100_000
)

// A target is the scope of a list or watch: a kind in one namespace, or in all namespaces.
type target struct {
	api
	namespace string
}

// path returns the path of the target's objects.
func (t target) path() string { return t.api.path(t.namespace) }

// A listing is the result of listing a target.
type listing struct {
	target
	resources []model.Resource
	// progress holds the resourceVersion from which a watch continues.
	progress
	// unreadable are objects that could not be decoded.
	unreadable []unreadable
	// err is the error that ended the list; nil if every page was read.
	err error
	// replaced reports that single namespaces are listed instead.
	replaced bool
}

// list reads every page of the target. It keeps the pages before an error.
func (r *reader) list(ctx context.Context, t target) listing {
	var l listing
	for range maxExpired {
		l = r.pages(ctx, t)
		if httpclient.Code(l.err) != http.StatusGone {
			break
		}
	}
	return l
}

func (r *reader) pages(ctx context.Context, t target) listing {
	l := listing{target: t, progress: progress{asked: r.now()}}
	next := ""
	for range maxPages {
		p, err := r.page(ctx, t, next)
		if err != nil {
			l.err = err
			return l
		}
		l.add(p)
		if p.next == "" {
			return l
		}
		if p.next == next {
			break
		}
		next = p.next
	}
	l.err = &httpclient.Unexpected{Reason: "the list does not end"}
	return l
}

// add adds a page. It keeps the resourceVersion of the first page: a watch from there returns
// all later changes.
func (l *listing) add(p page) {
	if l.version == "" {
		l.version = p.version
	}
	l.resources = append(l.resources, p.resources...)
	l.unreadable = append(l.unreadable, p.unreadable...)
}

// sort sorts the resources by key and removes duplicates.
func (l *listing) sort() {
	byKey := func(a, b model.Resource) int { return a.Compare(b.Key) }
	if !slices.IsSortedFunc(l.resources, byKey) {
		slices.SortStableFunc(l.resources, byKey)
	}
	l.resources = slices.CompactFunc(l.resources, func(a, b model.Resource) bool { return a.Key == b.Key })
}

// A page is one answer to a list request.
type page struct {
	resources     []model.Resource
	unreadable    []unreadable
	version, next string
}

func (r *reader) page(ctx context.Context, t target, next string) (page, error) {
	req := request{path: t.path(), query: url.Values{"limit": {strconv.Itoa(r.config.PageSize)}}, maxBody: r.config.MaxPageSize}
	if next != "" {
		req.query.Set("continue", next)
	}
	ctx, settle := budget.Part(ctx)
	var p page
	err := r.do(ctx, req, func(body io.Reader) error {
		p = page{}
		return r.readPage(body, t.api, &p)
	})
	settle(p.weight())
	return p, err
}

// readPage decodes the items as they arrive. It holds the text of a few batches of small items,
// or of one large item.
func (r *reader) readPage(body io.Reader, a api, p *page) error {
	s := newStream(body, r.config.MaxObjectSize)
	items := newBatcher(r, a)
	doc, err := s.document(func(_ *document, raw jsontext.Value) { items.add(raw) })
	items.wait(p)
	if err != nil {
		return truncated(err)
	}
	return p.finish(doc)
}

// decode adds one object to p.
func (r *reader) decode(a api, raw jsontext.Value, p *page) {
	resource, err := r.object(a, raw)
	if err != nil {
		p.unreadable = append(p.unreadable, unreadable{labelOf(raw), err})
		return
	}
	p.resources = append(p.resources, resource)
}

// weight returns the approximate memory use of an undecodable object, in bytes.
func (u *unreadable) weight() int64 {
	return 512 + int64(len(u.Metadata.Name)+len(u.Metadata.Namespace))
}

// weight returns the approximate memory use of the page, in bytes.
func (p *page) weight() int64 {
	total := weigh(p.resources)
	for i := range p.unreadable {
		total += p.unreadable[i].weight()
	}
	return total
}

// weigh returns the approximate memory use of resources, in bytes.
func weigh(resources []model.Resource) int64 {
	var total int64
	for i := range resources {
		total += resources[i].Weight()
	}
	return total
}

// truncated returns io.ErrUnexpectedEOF for io.EOF, because an empty answer is not a list.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// finish sets the metadata of the page. Some servers send null for an empty list of items.
func (p *page) finish(doc *document) error {
	kind := doc.text("kind")
	if items := doc.field("items"); items != nil && items.Kind() == 'n' {
		doc.isList = true
	}
	if !doc.isList || !strings.HasSuffix(kind, "List") {
		return &httpclient.Unexpected{Reason: fmt.Sprintf("the answer has kind %q and is not a list", printable.Text(kind))}
	}
	var meta struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	}
	if err := json.Unmarshal(doc.field("metadata"), &meta); err != nil {
		return &httpclient.Unexpected{Reason: "the list has no metadata"}
	}
	p.version, p.next = meta.ResourceVersion, meta.Continue
	return nil
}
