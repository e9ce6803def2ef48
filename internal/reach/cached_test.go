package reach_test

import (
	"net/http"
	"testing"

	"github.com/driftd/driftd/internal/reach"
)

func TestCached(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header http.Header
		want   string
	}{
		"the server itself":        {http.Header{"Content-Type": {"application/json"}}, ""},
		"a cache that asked anew":  {http.Header{"Age": {"0"}, "X-Cache": {"MISS"}}, ""},
		"a copy":                   {http.Header{"Age": {"120"}}, "Age: 120"},
		"no number":                {http.Header{"Age": {"old"}}, ""},
		"Squid":                    {http.Header{"X-Cache": {"HIT from proxy"}}, "X-Cache: HIT from proxy"},
		"CloudFront":               {http.Header{"X-Cache": {"Hit from cloudfront"}}, "X-Cache: Hit from cloudfront"},
		"nginx":                    {http.Header{"X-Cache-Status": {"HIT"}}, "X-Cache-Status: HIT"},
		"nginx, asked anew":        {http.Header{"X-Cache-Status": {"EXPIRED"}}, ""},
		"RFC 9211":                 {http.Header{"Cache-Status": {"edge; fwd=miss, shield; hit; ttl=30"}}, "Cache-Status: shield; hit; ttl=30"},
		"RFC 9211, a miss":         {http.Header{"Cache-Status": {"edge; fwd=uri-miss; stored"}}, ""},
		"RFC 9211, a cache's name": {http.Header{"Cache-Status": {"hit; fwd=miss"}}, ""},
	} {
		if got := reach.Cached(tc.header); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	var c reach.Copies
	c.Note(http.Header{"Age": {"0"}})
	if got := c.Reason("NetBox"); got != "" {
		t.Errorf("no cache answered: %q", got)
	}
	c.Note(http.Header{"Age": {"7"}})
	c.Note(http.Header{"Age": {"9"}})
	if got, want := c.Reason("NetBox"), "a cache before NetBox answered from its own copy (Age: 7): let driftd's requests pass it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
