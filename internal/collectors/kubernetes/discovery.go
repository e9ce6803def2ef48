package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/printable"
)

// An api is a kind of the API server, in the version that the server prefers.
type api struct {
	// kind is the name of the kind in findings, object the field kind of its objects.
	kind, object string
	group        string
	version      string
	// resource is the name of the kind in paths.
	resource   string
	namespaced bool
	listable   bool
	watchable  bool
}

func (a api) apiVersion() string { return groupVersion(a.group, a.version) }

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// path returns the path of the kind's objects in a namespace, or in all if it is "".
func (a api) path(namespace string) string {
	root := versionPath(a.group, a.version)
	if namespace != "" {
		root += "/namespaces/" + namespace
	}
	return root + "/" + a.resource
}

func versionPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// A catalog is the result of discovery.
type catalog struct {
	// apis are the kinds, sorted by name. Some of them cannot be listed.
	apis []api
	// failed holds the reason for each API group whose server does not answer.
	failed map[string]string
}

func (c *catalog) find(kind string) (api, bool) {
	i, ok := slices.BinarySearchFunc(c.apis, kind, func(a api, kind string) int { return cmp.Compare(a.kind, kind) })
	if !ok {
		return api{}, false
	}
	return c.apis[i], true
}

// A served is one version of one API group in discovery.
type served struct {
	group, version string
	resources      []servedResource
	// fault is the reason why resources is empty, or "".
	fault string
}

type servedResource struct {
	name, kind string
	namespaced bool
	verbs      []string
}

// aggregated is the Accept header of aggregated discovery (KEP-3352), which returns all
// groups in one answer. Servers before 1.26 return a list of groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + jsonType

// discover returns the kinds that the API server serves.
func discover(ctx context.Context, c *client) (*catalog, error) {
	var all []served
	for _, root := range []string{"/api", "/apis"} {
		found, err := discoverRoot(ctx, c, root)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return newCatalog(all), nil
}

// newCatalog returns a catalog that contains each kind in the first version that can be listed. The
// versions must be in the server's order of preference.
func newCatalog(all []served) *catalog {
	c := &catalog{failed: map[string]string{}}
	kinds := map[string]api{}
	for _, v := range all {
		if v.fault != "" {
			c.failed[v.group] = v.fault
		}
		for _, r := range v.resources {
			a := newAPI(v, r)
			if known, ok := kinds[a.kind]; !ok || (!known.listable && a.listable) {
				kinds[a.kind] = a
			}
		}
	}
	c.apis = slices.SortedFunc(maps.Values(kinds), func(a, b api) int { return cmp.Compare(a.kind, b.kind) })
	return c
}

func newAPI(v served, r servedResource) api {
	return api{
		kind:       kube.KindName(groupVersion(v.group, v.version), r.kind),
		object:     r.kind,
		group:      v.group,
		version:    v.version,
		resource:   r.name,
		namespaced: r.namespaced,
		listable:   slices.Contains(r.verbs, "list"),
		watchable:  slices.Contains(r.verbs, "watch"),
	}
}

// A discovery is an answer to a request for /api or /apis, of any of its types.
type discovery struct {
	Kind string `json:"kind"`
	// Items of an APIGroupDiscoveryList.
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []versionDiscovery `json:"versions"`
	} `json:"items"`
	// Versions of the core group (APIVersions).
	Versions []string `json:"versions"`
	// Groups of an APIGroupList.
	Groups []struct {
		Name     string `json:"name"`
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
		Preferred struct {
			Version string `json:"version"`
		} `json:"preferredVersion"`
	} `json:"groups"`
}

type versionDiscovery struct {
	Version   string `json:"version"`
	Freshness string `json:"freshness"`
	Resources []struct {
		Resource     string `json:"resource"`
		ResponseKind struct {
			Kind string `json:"kind"`
		} `json:"responseKind"`
		Scope string   `json:"scope"`
		Verbs []string `json:"verbs"`
	} `json:"resources"`
}

func discoverRoot(ctx context.Context, c *client, root string) ([]served, error) {
	var answer discovery
	if err := c.getJSON(ctx, request{path: root, accept: aggregated}, &answer); err != nil {
		return nil, err
	}
	switch answer.Kind {
	case "APIGroupDiscoveryList":
		return answer.aggregated(), nil
	case "APIVersions", "APIGroupList":
		return discoverEach(ctx, c, answer.groupVersions())
	}
	return nil, &httpclient.Unexpected{Reason: fmt.Sprintf("%s answers with kind %q: this is not a Kubernetes API server", root, printable.Text(answer.Kind))}
}

func (d *discovery) aggregated() []served {
	var all []served
	for _, group := range d.Items {
		for _, v := range group.Versions {
			all = append(all, v.served(group.Metadata.Name))
		}
	}
	return all
}

func (v *versionDiscovery) served(group string) served {
	s := served{group: group, version: v.Version}
	if v.Freshness == "Stale" {
		s.fault = unavailable(group, v.Version)
		return s
	}
	for _, r := range v.Resources {
		if r.ResponseKind.Kind != "" {
			s.resources = append(s.resources, servedResource{r.Resource, r.ResponseKind.Kind, r.Scope == "Namespaced", r.Verbs})
		}
	}
	return s
}

func unavailable(group, version string) string {
	return fmt.Sprintf("the server behind the API group %s does not answer; see kubectl describe apiservice %s.%s", group, version, group)
}

// groupVersions returns the versions of every group, the preferred one first.
func (d *discovery) groupVersions() []served {
	var all []served
	for _, v := range d.Versions {
		all = append(all, served{version: v})
	}
	for _, group := range d.Groups {
		all = append(all, served{group: group.Name, version: group.Preferred.Version})
		for _, v := range group.Versions {
			if v.Version != group.Preferred.Version {
				all = append(all, served{group: group.Name, version: v.Version})
			}
		}
	}
	return all
}

// discoverEach requests each version of each group. It records a failure in the version concerned,
// and returns an error only if all requests fail.
func discoverEach(ctx context.Context, c *client, all []served) ([]served, error) {
	if err := budget.Take(ctx, versionWeight*int64(len(all))); err != nil {
		return nil, err
	}
	errs := make([]error, len(all))
	collectors.Parallel(maxDiscoveries, len(all), func(i int) {
		all[i].resources, errs[i] = discoverVersion(ctx, c, all[i])
	})
	failed := 0
	for i, err := range errs {
		if err != nil {
			failed++
			all[i].fault = unavailable(all[i].group, all[i].version) + ": " + printable.Text(err.Error())
		}
	}
	if failed == len(all) && failed > 0 {
		return nil, errs[0]
	}
	return all, nil
}

// versionWeight is the approximate memory use of the request for one version and of the
// reason of its failure, in bytes.
const versionWeight = 2 << 10

// maxDiscoveries bounds the concurrent requests for versions.
const maxDiscoveries = 8

func discoverVersion(ctx context.Context, c *client, v served) ([]servedResource, error) {
	var answer struct {
		Resources []struct {
			Name       string   `json:"name"`
			Kind       string   `json:"kind"`
			Namespaced bool     `json:"namespaced"`
			Verbs      []string `json:"verbs"`
		} `json:"resources"`
	}
	if err := c.getJSON(ctx, request{path: versionPath(v.group, v.version)}, &answer); err != nil {
		return nil, err
	}
	var found []servedResource
	for _, r := range answer.Resources {
		if !strings.Contains(r.Name, "/") {
			found = append(found, servedResource{r.Name, r.Kind, r.Namespaced, r.Verbs})
		}
	}
	return found, nil
}

// getJSON sends a request and decodes the answer into the given value.
func (c *client) getJSON(ctx context.Context, req request, into any) error {
	return c.do(ctx, req, func(body io.Reader) error {
		data, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return notJSON(err)
		}
		return nil
	})
}

// notJSON returns io.ErrUnexpectedEOF for a truncated answer, and an httpclient.Unexpected
// for other text.
func notJSON(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		return io.ErrUnexpectedEOF
	}
	return &httpclient.Unexpected{Reason: "the answer is not the JSON of a Kubernetes API server"}
}

// isMissing reports whether the error is an answer with status 404.
func isMissing(err error) bool { return httpclient.Code(err) == http.StatusNotFound }
