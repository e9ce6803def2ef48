package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/driftd/driftd/internal/credential"
)

// objects is a bucket of Google Cloud Storage.
type objects struct {
	settings GS
	name     string
	endpoint *url.URL
	fetcher  *fetcher
	tokens   once[oauth2.TokenSource]
}

// openGS reads a location that ends with .tfstate, or that is a pattern, as the name of objects.
// Any other location is the prefix of the backend.
func openGS(rest string, s Settings) (site, error) {
	name, key, slash := strings.Cut(rest, "/")
	if name == "" || strings.ContainsAny(name, "@?*:") {
		return site{}, errors.New("want gs://bucket/prefix")
	}
	endpoint, err := parseEndpoint(cmp.Or(s.GS.Endpoint, "https://storage.googleapis.com"))
	if err != nil {
		return site{}, err
	}
	o := &objects{settings: s.GS, name: name, endpoint: endpoint}
	if o.fetcher, err = newFetcher("", o.sign); err != nil {
		return site{}, err
	}
	folder, object := key, defaultWorkspace+".tfstate"
	switch {
	case slash && (key == "" || strings.HasSuffix(key, "/")):
		object = "**.tfstate"
	case strings.HasSuffix(key, ".tfstate") || !pattern(key).literal():
		folder, object = path.Split(key)
	}
	named := func(workspace string) string {
		if workspace == defaultWorkspace {
			return path.Join(folder, object)
		}
		return path.Join(folder, workspace+".tfstate")
	}
	return site{
		place: o, root: "gs://" + name + "/", name: named,
		access: "grant roles/storage.objectViewer on the bucket; set backend.gs.credentials_file",
		forget: o.tokens.forget,
	}, nil
}

func (o *objects) sign(r *http.Request) error {
	if o.settings.Anonymous {
		return nil
	}
	if err := checkSecure(r.URL); err != nil {
		return err
	}
	source, err := o.tokens.get(func() (oauth2.TokenSource, error) { return o.source(r.Context()) })
	if err != nil {
		return err
	}
	token, err := source.Token()
	if err != nil {
		return fmt.Errorf("find Google credentials: %w; set backend.gs.credentials_file", firstLine(err))
	}
	token.SetAuthHeader(r)
	return nil
}

// source returns a token source that is not bound to the lifetime of ctx.
func (o *objects) source(ctx context.Context) (oauth2.TokenSource, error) {
	const scope = "https://www.googleapis.com/auth/devstorage.read_only"
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Timeout: time.Minute})
	if o.settings.CredentialsFile == "" {
		found, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, fmt.Errorf("find Google credentials: %w; set backend.gs.credentials_file", err)
		}
		return found.TokenSource, nil
	}
	content, err := credential.Read(o.settings.CredentialsFile)
	if err != nil {
		return nil, err
	}
	var file struct{ Type google.CredentialsType }
	if json.Unmarshal([]byte(content), &file) != nil {
		return nil, fmt.Errorf("read %s: not a file of Google credentials", o.settings.CredentialsFile)
	}
	found, err := google.CredentialsFromJSONWithType(ctx, []byte(content), file.Type, scope)
	if err != nil {
		return nil, fmt.Errorf("read %s: not a file of Google credentials", o.settings.CredentialsFile)
	}
	return found.TokenSource, nil
}

func (o *objects) address(object string, query url.Values) (*url.URL, error) {
	escaped := "/storage/v1/b/" + escape(o.name) + "/o"
	if object != "" {
		escaped += "/" + strings.ReplaceAll(escape(object), "/", "%2F")
	}
	return at(o.endpoint, escaped, query)
}

func (o *objects) open(ctx context.Context, name string) (io.ReadCloser, error) {
	u, err := o.address(name, url.Values{"alt": {"media"}})
	if err != nil {
		return nil, err
	}
	return o.fetcher.get(ctx, u)
}

func (o *objects) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(token string) (page, error) {
		query := url.Values{"prefix": {p.prefix()}, "fields": {"items(name),nextPageToken"}}
		if token != "" {
			query.Set("pageToken", token)
		}
		u, err := o.address("", query)
		if err != nil {
			return page{}, err
		}
		var answer struct {
			NextPageToken string
			Items         []struct{ Name string }
		}
		err = o.fetcher.decode(ctx, u, json.Unmarshal, &answer)
		found := page{next: answer.NextPageToken}
		for _, item := range answer.Items {
			found.names = append(found.names, item.Name)
		}
		return found, err
	})
}
