package openstack

import (
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
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
