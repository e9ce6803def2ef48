package awsapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// maxPages bounds the pages of a list.
const maxPages = 20_000

// errRepeated is the error of a list whose pages repeat.
var errRepeated = errors.New("the list does not end: the server repeats a page")

// Pages sends a call to a region, and again for each further page. It calls begin before the
// first page, and page with each answer. If the token of a page expires, it starts again
// once, and calls begin again.
func (c *Client) Pages(ctx context.Context, region string, call *Call, begin func(), page func(model.Value) error) error {
	tokenExpired, err := c.pages(ctx, region, call, begin, page)
	if tokenExpired {
		_, err = c.pages(ctx, region, call, begin, page)
	}
	return err
}

func (c *Client) pages(ctx context.Context, region string, call *Call, begin func(), page func(model.Value) error) (tokenExpired bool, err error) {
	begin()
	next, seen := call, map[[sha256.Size]byte]bool{}
	for n := range maxPages {
		v, err := c.Do(ctx, region, next)
		if err != nil {
			return n > 0 && expiredToken(err), err
		}
		if err := page(v); err != nil {
			return false, err
		}
		token := call.next(v)
		if token == nil {
			return false, nil
		}
		sum := sha256.Sum256(fmt.Append(nil, token))
		if seen[sum] {
			return false, errRepeated
		}
		seen[sum] = true
		next = call.with(token)
	}
	return false, fmt.Errorf("the list has more than %d pages", maxPages)
}

// next returns the parameters that request the page after an answer; nil if it is the last
// one.
func (c *Call) next(v model.Value) map[string]any {
	var token map[string]any
	if more, ok := v.Get("IsTruncated"); ok && more.Text() == "false" {
		return nil
	}
	for _, t := range c.Page {
		if text := v.At(t.Field).Text(); text != "" {
			if token == nil {
				token = map[string]any{}
			}
			token[t.Param] = text
		}
	}
	return token
}
