package backend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/credential"
)

// consul is the key/value store of a Consul server.
type consul struct {
	settings Consul
	endpoint *url.URL
	fetcher  *fetcher
}

func openConsul(rest string, s Settings) (site, error) {
	host, key, _ := strings.Cut(rest, "/")
	endpoint, err := parseEndpoint(s.Consul.Scheme + "://" + cmp.Or(host, "127.0.0.1:8500"))
	if err != nil || key == "" || strings.ContainsAny(host, "?*") {
		return site{}, errors.New("want consul://host:port/path, without credentials, and backend.consul.scheme http or https")
	}
	c := &consul{settings: s.Consul, endpoint: endpoint}
	if c.fetcher, err = newFetcher(s.Consul.CAFile, c.sign); err != nil {
		return site{}, err
	}
	named := func(workspace string) string {
		if workspace == defaultWorkspace {
			return below(key)
		}
		return key + "-env:" + workspace
	}
	return site{
		place: c, root: "consul://" + endpoint.Host + "/", name: named,
		access: "check backend.consul.token_file: the token needs key_prefix read on the path",
	}, nil
}

func (c *consul) sign(r *http.Request) error {
	if c.settings.TokenFile == "" {
		return nil
	}
	if err := checkSecure(r.URL); err != nil {
		return err
	}
	token, err := credential.Read(c.settings.TokenFile)
	r.Header.Set("X-Consul-Token", token)
	return err
}

func (c *consul) get(ctx context.Context, key, form string) (io.ReadCloser, error) {
	query := url.Values{form: {""}}
	if c.settings.Datacenter != "" {
		query.Set("dc", c.settings.Datacenter)
	}
	u, err := at(c.endpoint, "/v1/kv/"+escape(key), query)
	if err != nil {
		return nil, err
	}
	return c.fetcher.get(ctx, u)
}

// open reads a value, or the chunks that the value lists: Consul limits a value to 512 KiB.
func (c *consul) open(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := c.get(ctx, key, "raw")
	if err != nil {
		return nil, err
	}
	content, err := readAll(body)
	if err != nil {
		return nil, err
	}
	listed := chunksOf(content)
	if listed == nil {
		return io.NopCloser(bytes.NewReader(content)), nil
	}
	return &chunks{next: func() (io.ReadCloser, error) {
		if len(listed) == 0 {
			return nil, io.EOF
		}
		chunk := listed[0]
		listed = listed[1:]
		return c.chunk(ctx, key, chunk)
	}}, nil
}

// chunksOf returns the chunks that a value lists, or nil if the value is a state.
func chunksOf(value []byte) []string {
	var index struct {
		Hash   string   `json:"current-hash"`
		Chunks []string `json:"chunks"`
	}
	if err := json.Unmarshal(value, &index); err != nil || index.Hash == "" {
		return nil
	}
	return index.Chunks
}

func (c *consul) chunk(ctx context.Context, key, chunk string) (io.ReadCloser, error) {
	if !strings.HasPrefix(chunk, strings.TrimRight(key, "/")+"/tfstate.") {
		return nil, errors.New("the value lists a chunk outside of its own path")
	}
	body, err := c.get(ctx, chunk, "raw")
	if errors.Is(err, errAbsent) {
		return nil, fmt.Errorf("chunk %s is missing: the state was probably written during the read; try again", chunk)
	}
	return body, err
}

// list leaves out the keys that Terraform stores in addition to the state.
func (c *consul) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(string) (page, error) {
		body, err := c.get(ctx, p.prefix(), "keys")
		if err != nil {
			return page{}, err
		}
		content, err := readAll(body)
		if err != nil {
			return page{}, err
		}
		var keys []string
		if json.Unmarshal(content, &keys) != nil {
			return page{}, errors.New("the response is not a list of keys: check that the server is a Consul agent")
		}
		var found page
		for _, key := range keys {
			if !strings.Contains(key, "/.lock") && !strings.Contains(key, "/tfstate.") {
				found.names = append(found.names, key)
			}
		}
		return found, nil
	})
}
