package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/credential"
)

// An organization is an organization of Terraform Cloud, Terraform Enterprise, or a server with the
// same API.
type organization struct {
	settings Remote
	name     string
	host     *url.URL
	api      *fetcher
	// archive fetches states from the URLs that the API returns.
	archive *fetcher
}

func openRemote(rest string, s Settings) (site, error) {
	host, rest, _ := strings.Cut(rest, "/")
	name, workspace, _ := strings.Cut(rest, "/")
	endpoint, err := parseEndpoint("https://" + host)
	if err != nil || name == "" || workspace == "" || strings.Contains(workspace, "/") {
		return site{}, errors.New("want remote://app.terraform.io/organization/workspace, without credentials")
	}
	return openOrganization(endpoint, name, workspace, s)
}

func openOrganization(endpoint *url.URL, name, workspace string, s Settings) (_ site, err error) {
	if len(s.Workspaces) > 0 {
		return site{}, errors.New("the location contains the workspaces; remove backend.workspaces")
	}
	o := &organization{settings: s.Remote, name: name, host: endpoint}
	if o.api, err = newFetcher(s.Remote.CAFile, o.sign); err != nil {
		return site{}, err
	}
	if o.archive, err = newFetcher(s.Remote.CAFile, o.signOwn); err != nil {
		return site{}, err
	}
	return site{
		place: o, root: "remote://" + endpoint.Host + "/" + name + "/", name: func(string) string { return workspace },
		access: "check backend.remote.token_file: the token needs to read state versions",
	}, nil
}

func (o *organization) sign(r *http.Request) error {
	if err := checkSecure(r.URL); err != nil {
		return err
	}
	token, err := credential.Read(o.settings.TokenFile)
	r.Header.Set("Authorization", "Bearer "+token)
	return err
}

// signOwn adds the token to requests to the organization's own host only. URLs on other hosts are
// signed.
func (o *organization) signOwn(r *http.Request) error {
	if r.URL.Host != o.host.Host {
		return nil
	}
	return o.sign(r)
}

// ask calls the API. Parts of the path come from its responses; a part that would change the path
// is an error.
func (o *organization) ask(ctx context.Context, query url.Values, into any, path ...string) error {
	for _, part := range path {
		if part == "" || strings.Contains(part, "/") || leadsElsewhere(part) {
			return fmt.Errorf("the API returned %q, which is not a workspace", part)
		}
	}
	u, err := at(o.host, "/api/v2/"+escape(strings.Join(path, "/")), query)
	if err != nil {
		return err
	}
	return o.api.decode(ctx, u, json.Unmarshal, into)
}

func (o *organization) open(ctx context.Context, workspace string) (io.ReadCloser, error) {
	var found struct {
		Data struct{ ID string }
	}
	if err := o.ask(ctx, nil, &found, "organizations", o.name, "workspaces", workspace); err != nil {
		return nil, err
	}
	var version struct {
		Data struct {
			Attributes struct {
				URL string `json:"hosted-state-download-url"`
			}
		}
	}
	if err := o.ask(ctx, nil, &version, "workspaces", found.Data.ID, "current-state-version"); err != nil {
		return nil, err
	}
	u, err := url.Parse(version.Data.Attributes.URL)
	if err != nil || u.Host == "" || checkSecure(u) != nil {
		return nil, errors.New("the API returned no usable URL of the state")
	}
	return o.archive.get(ctx, u)
}

func (o *organization) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(token string) (page, error) {
		if token == "" {
			token = "1"
		}
		var answer struct {
			Data []struct {
				Attributes struct{ Name string }
			}
			Meta struct {
				Pagination struct {
					Next *int `json:"next-page"`
				}
			}
		}
		query := url.Values{"page[number]": {token}, "page[size]": {"100"}}
		if err := o.ask(ctx, query, &answer, "organizations", o.name, "workspaces"); err != nil {
			return page{}, fmt.Errorf("list workspaces: %w", err)
		}
		var found page
		for _, w := range answer.Data {
			found.names = append(found.names, w.Attributes.Name)
		}
		if next := answer.Meta.Pagination.Next; next != nil {
			found.next = strconv.Itoa(*next)
		}
		return found, nil
	})
}
