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
	"github.com/driftd/driftd/internal/netboxapi"
)

// A page is a part of a list, with its parsed rows.
type page[T any] struct {
	rows []T
	// count is the length of the whole list; -1 if NetBox does not return it.
	count int
	// next is the URL of the next page; "" on the last page.
	next string
	// weight is the approximate memory of the decoded rows, in bytes.
	weight int64
}

// readPage reads one page of a list. It decodes and parses row by row, so that only the parsed
// rows are kept.
func readPage[T any](ctx context.Context, s *netboxapi.Session, path string, query url.Values, parse func(row model.Value) (T, error)) (page[T], error) {
	ctx, settle := budget.Part(ctx)
	var p page[T]
	defer func() { settle(p.weight) }()
	r, err := s.Request(ctx, path, query)
	if err != nil {
		return p, err
	}
	err = s.HTTP.Read(r, func(answer *http.Response) error {
		p = page[T]{count: -1}
		return p.read(answer.Body, parse)
	})
	return p, err
}

// read decodes {"count": …, "next": …, "previous": …, "results": […]}. It returns an error
// if the response is truncated or lacks count, next or results.
func (p *page[T]) read(body io.Reader, parse func(model.Value) (T, error)) error {
	dec := jsontext.NewDecoder(body)
	if err := expect(dec, '{'); err != nil {
		return err
	}
	var seen parts
	for dec.PeekKind() == '"' {
		if err := p.readPart(dec, &seen, parse); err != nil {
			return decodeError(err)
		}
	}
	if err := expect(dec, '}'); err != nil {
		return err
	}
	if !seen.count || !seen.next || !seen.results {
		return &httpclient.Unexpected{Reason: "the answer is not a list of NetBox"}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &httpclient.Unexpected{Reason: "the answer continues after the list"}
	}
	return nil
}

// parts are the members of a list that were present.
type parts struct{ count, next, results bool }

func (p *page[T]) readPart(dec *jsontext.Decoder, seen *parts, parse func(model.Value) (T, error)) error {
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
		return p.readRows(dec, parse)
	}
	return dec.SkipValue()
}

// expect reads one token of the kind.
func expect(dec *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := dec.ReadToken()
	if err != nil {
		return decodeError(err)
	}
	if token.Kind() != kind {
		return &httpclient.Unexpected{Reason: "the answer is not a list of NetBox"}
	}
	return nil
}

// decodeError returns the reason why a response cannot be decoded, without quoting it.
func decodeError(err error) error {
	var (
		syntax *jsontext.SyntacticError
		known  *httpclient.Unexpected
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &httpclient.Unexpected{Reason: "the answer is truncated"}
	case errors.As(err, &syntax):
		return &httpclient.Unexpected{Reason: fmt.Sprintf("the answer is not valid JSON at byte %d", syntax.ByteOffset)}
	}
	return err
}

func (p *page[T]) readCount(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if p.count, err = strconv.Atoi(string(raw)); err != nil || p.count < 0 {
		return &httpclient.Unexpected{Reason: "the answer's count is not a number"}
	}
	return nil
}

func (p *page[T]) readNext(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	switch {
	case err != nil || token.Kind() == 'n':
		return err
	case token.Kind() != '"':
		return &httpclient.Unexpected{Reason: "the answer's next page is not a string"}
	}
	p.next = token.String()
	return nil
}

func (p *page[T]) readRows(dec *jsontext.Decoder, parse func(model.Value) (T, error)) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		row, err := p.readRow(raw, parse)
		if err != nil {
			return &httpclient.Unexpected{Reason: fmt.Sprintf("row %d of the answer cannot be read: %v", len(p.rows)+1, err)}
		}
		p.rows = append(p.rows, row)
	}
	return expect(dec, ']')
}

// readRow decodes and parses a row.
func (p *page[T]) readRow(raw []byte, parse func(model.Value) (T, error)) (T, error) {
	row, err := decode.JSON(bytes.TrimSpace(raw))
	if err != nil {
		var none T
		return none, err
	}
	p.weight += row.Weight()
	return parse(row)
}
