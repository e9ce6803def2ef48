package kubernetes

import (
	"context"
	"net/http"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/printable"
)

// Probe implements collectors.Prober. It returns the version of the API server, the user of the
// credentials, and the coverage of listing one object of each kind.
func (c *cluster) Probe(ctx context.Context) (collectors.Probe, error) {
	r, err := c.reader()
	if err != nil {
		return collectors.Probe{}, err
	}
	r.config.PageSize = 1
	found := &scan{source: c.env.Name, taken: c.now()}
	if found.catalog, err = discover(ctx, r.client); err != nil {
		return collectors.Probe{}, c.fail(ctx, r, err)
	}
	found.listings = r.readAll(ctx, c.choose(found), r.first)
	if err := found.failure(); err != nil || collectors.Void(ctx, true) {
		return collectors.Probe{}, c.fail(ctx, r, err)
	}
	r.recheck(ctx, found.listings)
	return collectors.Probe{
		Version:  r.version(ctx),
		Identity: r.identity(ctx),
		Endpoint: r.server(),
		Coverage: found.snapshot().Coverage,
	}, nil
}

// first lists the first page of the target.
func (r *reader) first(ctx context.Context, t target) listing {
	p, err := r.page(ctx, t, "")
	return listing{target: t, unreadable: p.unreadable, err: err}
}

// identity returns the user of the credentials, using a SelfSubjectReview (Kubernetes 1.28 and
// later); "unknown" if the server does not return it.
func (r *reader) identity(ctx context.Context) string {
	var review struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := r.getJSON(ctx, request{
		method:      http.MethodPost,
		path:        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		contentType: jsonType,
		body:        []byte(`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`),
	}, &review)
	if err != nil || review.Status.UserInfo.Username == "" {
		return "unknown"
	}
	return printable.Text(review.Status.UserInfo.Username)
}
