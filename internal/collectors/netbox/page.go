package netbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A page is a part of a list, with its rows in the form that the reader wants.
type page[T any] struct {
	rows []T
	// count is how long the whole list is, -1 where NetBox does not count.
	count int
	// next is the address of the next page, "" after the last.
	next string
	// weight is about what the rows take of memory, in bytes.
	weight int64
}

// readPage reads one page of a list, row by row: take makes of a row what is
// kept of it.
func readPage[T any](ctx context.Context, s *session, path string, query url.Values, take func(row model.Value) (T, error)) (page[T], error) {
	ctx, settle := budget.Part(ctx)
	var p page[T]
	defer func() { settle(p.weight) }()
	r, err := s.request(ctx, path, query)
	if err != nil {
		return p, err
	}
	err = s.http.Read(r, func(answer *http.Response) error {
		p = page[T]{count: -1}
		return p.read(answer.Body, take)
	})
	return p, err
}

// read reads {"count": …, "next": …, "previous": …, "results": […]}. All of it
// has to be there: an answer that was cut off, or of somebody else, is none.
func (p *page[T]) read(body io.Reader, take func(model.Value) (T, error)) error {
	dec := jsontext.NewDecoder(body)
	if err := expect(dec, '{'); err != nil {
		return err
	}
	var seen parts
	for dec.PeekKind() == '"' {
		if err := p.readPart(dec, &seen, take); err != nil {
			return malformed(err)
		}
	}
	if err := expect(dec, '}'); err != nil {
		return err
	}
	if !seen.count || !seen.next || !seen.results {
		return &httpclient.Unexpected{Reason: "the answer is no list of NetBox"}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &httpclient.Unexpected{Reason: "something follows the list"}
	}
	return nil
}

// parts are those of a list that were there.
type parts struct{ count, next, results bool }

func (p *page[T]) readPart(dec *jsontext.Decoder, seen *parts, take func(model.Value) (T, error)) error {
	name, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch name.String() {
	case "count":
		seen.count = true
		return p.readCount(dec)
	case "next":
		seen.next = true
		return p.readNext(dec)
	case "results":
		seen.results = true
		return p.readRows(dec, take)
	}
	return dec.SkipValue()
}

// expect reads one bracket.
func expect(dec *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := dec.ReadToken()
	if err != nil {
		return malformed(err)
	}
	if token.Kind() != kind {
		return &httpclient.Unexpected{Reason: "the answer is no list of NetBox"}
	}
	return nil
}

// malformed says that an answer is not what was asked for, without quoting it.
func malformed(err error) error {
	var (
		syntax *jsontext.SyntacticError
		known  *httpclient.Unexpected
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &httpclient.Unexpected{Reason: "the answer ends in the middle"}
	case errors.As(err, &syntax):
		return &httpclient.Unexpected{Reason: fmt.Sprintf("the answer is no JSON, at byte %d", syntax.ByteOffset)}
	}
	return err
}

func (p *page[T]) readCount(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if p.count, err = strconv.Atoi(string(raw)); err != nil || p.count < 0 {
		return &httpclient.Unexpected{Reason: "the answer's count is no number"}
	}
	return nil
}

func (p *page[T]) readNext(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	switch {
	case err != nil || token.Kind() == 'n':
		return err
	case token.Kind() != '"':
		return &httpclient.Unexpected{Reason: "the answer's next page is no address"}
	}
	p.next = token.String()
	return nil
}

func (p *page[T]) readRows(dec *jsontext.Decoder, take func(model.Value) (T, error)) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		row, err := p.readRow(raw, take)
		if err != nil {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("row %d of the answer cannot be read: %v", len(p.rows)+1, err)}
		}
		p.rows = append(p.rows, row)
	}
	return expect(dec, ']')
}

// readRow decodes a row, within bounds.
func (p *page[T]) readRow(raw []byte, take func(model.Value) (T, error)) (T, error) {
	row, err := decode.JSON(bytes.TrimSpace(raw))
	if err != nil {
		var none T
		return none, err
	}
	p.weight += row.Weight()
	return take(row)
}
