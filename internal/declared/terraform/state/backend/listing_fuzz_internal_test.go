package backend

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
)

// An answering is a transport that returns the same body for every request, and records the
// requests.
type answering struct {
	body  []byte
	asked []*http.Request
}

// RoundTrip implements http.RoundTripper.
func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, r)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(a.body)), Header: http.Header{}, Request: r}, nil
}

// A listed is a place whose listing is fuzzed, and the location of all its requests.
type listed struct {
	location string
	under    []string
	fetchers func(place) []*fetcher
}

func listedPlaces() []listed {
	return []listed{
		{"consul://127.0.0.1/app/", []string{"/v1/kv/app/"}, func(p place) []*fetcher { return []*fetcher{p.(*consul).fetcher} }},
		{"gs://bucket/app/", []string{"/storage/v1/b/bucket/o"}, func(p place) []*fetcher { return []*fetcher{p.(*objects).fetcher} }},
		{"azurerm://shop/states/app/", []string{"/states"}, func(p place) []*fetcher { return []*fetcher{p.(*container).fetcher} }},
		{"remote://127.0.0.1/shop/app-", []string{"/api/v2/organizations/shop/workspaces", "/api/v2/workspaces/"},
			func(p place) []*fetcher { return []*fetcher{p.(*organization).api, p.(*organization).archive} }},
	}
}

// FuzzListing returns the same body for every request of a store. It checks that listed names, and
// all further requests, are inside the location.
func FuzzListing(f *testing.F) {
	for i, seed := range []string{
		`["app/","app/a.tfstate","app/a.tfstate/.lock","app/b.tfstate-env:prod","app/../../acl/tokens.tfstate"]`,
		`{"items":[{"name":"app/default.tfstate"},{"name":"app/a b.tfstate"},{"name":"other/x.tfstate"}],"nextPageToken":"2"}`,
		`<?xml version="1.0"?><EnumerationResults><Blobs><Blob><Name>app/a.tfstate</Name></Blob><Blob><Name>app/../x.tfstate</Name></Blob></Blobs><NextMarker/></EnumerationResults>`,
		`{"data":[{"id":"ws-1","attributes":{"name":"app-web"}},{"id":"ws-2","attributes":{"name":"app-x/../../y"}}],"meta":{"pagination":{"next-page":null}}}`,
		`{"data":{"id":"../../account","attributes":{"hosted-state-download-url":"https://archivist.example.org/v1/object"}}}`,
		`{"current-hash":"1","chunks":["app/a/tfstate.1/0","app/a/tfstate.1/../../../x"]}`,
	} {
		f.Add(uint8(i), "**", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, kind uint8, wild string, body []byte) {
		at := listedPlaces()[int(kind)%len(listedPlaces())]
		if wild == "" || len(wild) > 20 || strings.ContainsAny(wild, "/:") || strings.HasPrefix(wild, ".") {
			return // the operator chooses the location
		}
		s := Defaults()
		s.GS.Anonymous = true
		source, err := Open(at.location+wild, s)
		if err != nil || len(source.patterns) == 0 {
			return
		}
		answers, p := &answering{body: body}, source.patterns[0]
		for _, fetcher := range at.fetchers(source.place) {
			fetcher.client.Transport, fetcher.sign = answers, nil
		}
		names, err := source.list(t.Context(), p)
		if err != nil && names != nil {
			t.Errorf("got names and an error: %q, %v", names, err)
		}
		if len(names) > maxStates {
			t.Errorf("got %d names", len(names))
		}
		for _, name := range names {
			if !p.match(name) {
				t.Errorf("%q does not match %q", name, p)
			}
		}
		for _, name := range names[:min(len(names), 10)] {
			readSome(t.Context(), source.place, name)
		}
		at.check(t, answers.asked)
	})
}

// readSome reads a state until an error.
func readSome(ctx context.Context, p place, name string) {
	body, err := p.open(ctx, name)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20))
	_ = body.Close()
}

// check checks that all requests are inside the location, also after a server or a proxy has
// cleaned their paths. The states of an organization are at other URLs.
func (l listed) check(t *testing.T, asked []*http.Request) {
	t.Helper()
	for _, r := range asked {
		if strings.HasPrefix(l.location, "remote:") && r.URL.Scheme == "https" && !strings.HasPrefix(r.URL.Path, "/api/") {
			continue
		}
		found := false
		for _, under := range l.under {
			found = found || strings.HasPrefix(path.Clean(r.URL.Path)+"/", under)
		}
		if !found {
			t.Errorf("asked for %s, which is not below %q", r.URL, l.under)
		}
	}
}
