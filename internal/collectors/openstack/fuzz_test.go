package openstack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// FuzzPage tests that a page is read completely or is an error, and that the next page is given
// by a marker.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"networks":[{"id":"a"},{"id":"b"}],"networks_links":[{"rel":"next","href":"http://h/v2.0/networks?marker=b"}]}`,
		`{"networks":[{"id":"a"},{"id":"a"}]}`, `{"networks":[],"next":"/v2/images?marker=%zz"}`, `{"networks":[null]}`, `{"networks":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answer, err := decode.JSON([]byte(text))
		if err != nil {
			return
		}
		normalizer := normalize.New()
		kind := &normalize.Kind{Name: normalize.Network, Rows: "networks"}
		p := &pager{kind: kind, seen: map[string]bool{}, parse: func(row model.Value) (normalize.Object, error) { return normalizer.Object(kind, row) }}
		at, err := p.nextByMarker(answer)
		if err == nil && len(p.objects) != len(answer.At("networks").Items()) {
			t.Errorf("%d objects of %s", len(p.objects), text)
		}
		if err == nil && at != nil && at.Get("marker") == "" {
			t.Errorf("the page after %s begins nowhere", text)
		}
	})
}

// FuzzClouds tests that no error of a clouds.yaml contains a password.
func FuzzClouds(f *testing.F) {
	const secret = "hunter2-hunter2"
	f.Add("clouds:\n  web: {auth: {auth_url: 'https://k', user_id: u, project_id: p, password: " + secret + "}}\n")
	f.Add("clouds:\n  web: {auth: {password: " + secret + "}, regions: [{name: a}]}\n")
	f.Add("clouds: [" + secret)
	f.Add("clouds: {web: {auth: {password: [" + secret + "]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "clouds.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Config{CloudsFile: file, Cloud: "web"}.readLogin()
		if err == nil && (l.auth.IdentityEndpoint == "" || l.trust == nil) {
			t.Errorf("a login without an address: %q", text)
		}
		if err != nil && strings.Contains(err.Error(), secret) && strings.Count(text, secret) == 1 && strings.Contains(text, "password: "+secret) {
			t.Errorf("%v", err)
		}
	})
}
