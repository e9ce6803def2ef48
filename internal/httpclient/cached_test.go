package httpclient

import (
	"net/http"
	"testing"
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
		if got := cached(tc.header); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
