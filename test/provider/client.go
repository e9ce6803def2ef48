package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// errGone reports that the API has no such object.
var errGone = errors.New("no such object")

// A client is a client of the API, without timeouts.
type client struct {
	http            *http.Client
	endpoint, token string
}

func newClient(endpoint, token string) *client {
	return &client{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, endpoint, token}
}

func (c *client) create(ctx context.Context, kind string, fields map[string]any) (map[string]any, error) {
	return c.do(ctx, http.MethodPost, kind, fields)
}

func (c *client) read(ctx context.Context, kind, id string) (map[string]any, error) {
	return c.do(ctx, http.MethodGet, kind+"/"+url.PathEscape(id), nil)
}

func (c *client) update(ctx context.Context, kind, id string, fields map[string]any) (map[string]any, error) {
	return c.do(ctx, http.MethodPut, kind+"/"+url.PathEscape(id), fields)
}

func (c *client) remove(ctx context.Context, kind, id string) error {
	_, err := c.do(ctx, http.MethodDelete, kind+"/"+url.PathEscape(id), nil)
	return err
}

func (c *client) do(ctx context.Context, method, path string, fields map[string]any) (map[string]any, error) {
	var body bytes.Buffer
	if fields != nil {
		if err := json.NewEncoder(&body).Encode(fields); err != nil {
			return nil, fmt.Errorf("encode %s: %w", path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint+"/v1/"+path, &body)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	flood(resp.Header.Get("X-Lab-Flood"))
	return read(resp)
}

// read decodes the object of a response. An error has the text of the API.
func read(resp *http.Response) (map[string]any, error) {
	switch resp.StatusCode {
	case http.StatusNotFound:
		return nil, errGone
	case http.StatusNoContent:
		return map[string]any{}, nil
	case http.StatusOK:
	default:
		body, err := io.ReadAll(resp.Body)
		return nil, errors.Join(fmt.Errorf("%s: %s", resp.Status, body), err)
	}
	decoder := json.NewDecoder(resp.Body)
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	return fields, nil
}

// flood writes as many bytes to stderr as the API requests.
func flood(size string) {
	n, err := strconv.Atoi(size)
	if err != nil {
		return
	}
	line := strings.Repeat("x", 1023) + "\n"
	for range n / len(line) {
		fmt.Fprint(os.Stderr, line)
	}
}
