package awsapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// request returns the unsigned request of the call to an endpoint, and its body.
func (c *Call) request(ctx context.Context, endpoint string) (*http.Request, []byte, error) {
	method, path, header, body, err := c.encode()
	if err != nil {
		return nil, nil, fmt.Errorf("encode %s: %w", c.Action, err)
	}
	var reader io.Reader = http.NoBody
	if len(body) > 0 {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, endpoint+path, reader)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return r, body, nil
}

func (c *Call) encode() (method, path string, header map[string]string, body []byte, err error) {
	switch c.Service.Protocol {
	case EC2, Query:
		form := c.form()
		form.Set("Action", c.Action)
		form.Set("Version", c.Service.Version)
		return http.MethodPost, "/", map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}, []byte(form.Encode()), nil
	case JSON:
		body, err = json.Marshal(c.Input)
		if c.Input == nil {
			body = []byte("{}")
		}
		return http.MethodPost, "/", map[string]string{
			"Content-Type": "application/x-amz-json-" + c.Service.Version, "X-Amz-Target": c.Service.Target + "." + c.Action,
		}, body, err
	case RESTJSON, RESTXML:
	}
	path, rest := c.path()
	if query := rest.form(); len(query) > 0 {
		path += "?" + query.Encode()
	}
	return http.MethodGet, path, nil, nil, nil
}

// path returns the path with the parameters in it, and a call with the others.
func (c *Call) path() (string, *Call) {
	rest := *c
	rest.Input = maps.Clone(c.Input)
	path := c.Path
	for name, value := range c.Input {
		label := "{" + name + "}"
		if strings.Contains(path, label) {
			path = strings.ReplaceAll(path, label, url.PathEscape(fmt.Sprint(value)))
			delete(rest.Input, name)
		}
	}
	return path, &rest
}

// form returns the parameters as a form. The elements of lists are numbered.
func (c *Call) form() url.Values {
	form := url.Values{}
	infix := "."
	if c.Service.Protocol == Query {
		infix = ".member."
	}
	for _, name := range slices.Sorted(maps.Keys(c.Input)) {
		switch v := c.Input[name].(type) {
		case []string:
			for i, text := range v {
				form.Set(name+infix+strconv.Itoa(i+1), text)
			}
		default:
			form.Set(name, fmt.Sprint(v))
		}
	}
	return form
}

// with returns the call with further parameters.
func (c *Call) with(params map[string]any) *Call {
	changed := *c
	changed.Input = maps.Clone(c.Input)
	if changed.Input == nil {
		changed.Input = map[string]any{}
	}
	maps.Copy(changed.Input, params)
	return &changed
}
