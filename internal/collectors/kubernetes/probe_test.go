package kubernetes

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/httpclient"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.before = at(deployments, forbid)
	p, err := newTestCluster(t, f, nil).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "v1.36.3" || p.Identity != "alice" || p.Endpoint != "https://api.example.org:6443" {
		t.Errorf("Probe() = %+v", p)
	}
	reasons := map[string]string{}
	for _, c := range p.Coverage {
		reasons[c.Kind] = c.Reason
	}
	if !strings.Contains(reasons[deployment], `user "bob" has no permission to list it`) || reasons["kubernetes/ConfigMap"] != "" {
		t.Errorf("coverage: %v", reasons)
	}
}

func TestProbeWithoutIdentity(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.before = at("/apis/authentication.k8s.io/v1/selfsubjectreviews", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "") })
	p, err := newTestCluster(t, f, nil).Probe(t.Context())
	if err != nil || p.Identity != "unknown" {
		t.Errorf("Probe() of an old server = %+v, %v", p, err)
	}
}

func TestProbeFails(t *testing.T) {
	t.Parallel()
	_, err := newTestCluster(t, unauthorized(), nil).Probe(t.Context())
	var access *httpclient.Error
	if !errors.As(err, &access) {
		t.Errorf("Probe() = %v", err)
	}
}

func TestClientSendsNoWrites(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := newTestCluster(t, f, nil)
	r, err := c.reader()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		req    request
	}{
		"delete":      {reason: "a deletion is a write", req: request{method: http.MethodDelete, path: "/api/v1/namespaces/shop"}},
		"create":      {reason: "only SelfSubjectReviews are created", req: request{method: http.MethodPost, path: "/api/v1/namespaces"}},
		"apply":       {reason: "the request is not a dry run", req: request{method: http.MethodPatch, path: deployments}},
		"dryRun=None": {reason: "a dry run has dryRun=All", req: request{method: http.MethodPatch, path: deployments, query: map[string][]string{"dryRun": {"None"}}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := r.getJSON(t.Context(), tt.req, &struct{}{}); err == nil || !strings.Contains(err.Error(), "not sent") {
				t.Errorf("%s: %s %s = %v", tt.reason, tt.req.method, tt.req.path, err)
			}
		})
	}
}
