package kubernetes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/secret"
)

// fieldManager is the field manager of the dry runs.
const fieldManager = "driftd"

// Canonicalize implements collectors.Canonicalizer. If the settings enable it, it returns the
// claims as a dry-run server-side apply would store them, so that changes by webhooks and
// conversions are not drift. Claims with secrets keep their values, because driftd has only digests
// of the secrets.
func (c *cluster) Canonicalize(ctx context.Context, claims []model.Claim) ([]model.Claim, error) {
	if c.config.Canonicalize != DryRun {
		return claims, nil
	}
	r, err := c.reader()
	if err != nil {
		return claims, err
	}
	served, err := c.served(ctx, r)
	if err != nil {
		return claims, err
	}
	out, errs := slices.Clone(claims), make([]error, len(claims))
	free := make(chan struct{}, c.config.Concurrency)
	var wait conc.WaitGroup
	for i := range out {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			errs[i] = c.canonicalize(ctx, r, served, &out[i])
		})
	}
	wait.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return out, c.fail(ctx, r, fmt.Errorf("dry-run apply of %s %s: %w", out[i].Kind, out[i].ID, errs[i]))
	}
	return out, nil
}

// served returns the catalog of the last scan, or requests a new one.
func (c *cluster) served(ctx context.Context, r *reader) (*catalog, error) {
	if last := c.lastScan(); last != nil {
		return last.catalog, nil
	}
	found, err := discover(ctx, r.client)
	if err != nil {
		return nil, c.fail(ctx, r, err)
	}
	return found, nil
}

// canonicalize updates one claim. A claim that the API server rejects keeps its value.
func (c *cluster) canonicalize(ctx context.Context, r *reader, served *catalog, claim *model.Claim) error {
	a, ok := served.find(claim.Kind)
	if !ok || claim.Unchecked != "" || secret.HasMark(claim.Value) || !isSegment(claim.Name) {
		return nil
	}
	a.version = claim.Version[strings.LastIndex(claim.Version, "/")+1:]
	stored, err := r.dryRun(ctx, a, claim)
	if code := httpclient.Code(err); code != 0 && code != http.StatusUnauthorized {
		c.env.Log.DebugContext(ctx, "dry-run apply rejected", "kind", claim.Kind, "resource", claim.ID, "code", code)
		return nil
	}
	if err != nil {
		return err
	}
	var schema *model.Schema
	if kind := c.kind(claim.Kind); kind != nil {
		schema = kind.Schema
	}
	written := claim.Value
	claim.Written, claim.Value = &written, withStored(claim.Value, stored, schema)
	return nil
}

func (c *cluster) kind(name string) *model.Kind {
	if last := c.lastScan(); last != nil {
		return last.kinds[name]
	}
	return nil
}

// dryRun returns the object that the API server would store.
func (r *reader) dryRun(ctx context.Context, a api, claim *model.Claim) (model.Value, error) {
	namespace := ""
	if a.namespaced {
		namespace = claim.Place
	}
	req := request{
		method:      http.MethodPatch,
		path:        a.path(namespace) + "/" + claim.Name,
		query:       url.Values{"dryRun": {"All"}, "fieldManager": {fieldManager}, "force": {"true"}},
		contentType: "application/apply-patch+yaml",
		body:        manifest(a, claim, namespace).AppendJSON(nil),
		maxBody:     min(maxDocument, r.config.MaxPageSize, r.config.MaxObjectSize),
	}
	ctx, settle := budget.Part(ctx)
	var stored model.Resource
	defer func() { settle(stored.Weight()) }()
	err := r.do(ctx, req, func(body io.Reader) error {
		data, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		stored, err = r.object(a, data)
		if err != nil {
			return &httpclient.Unexpected{Reason: printable.Text(err.Error())}
		}
		return nil
	})
	return stored.Value, err
}

// manifest returns the claim's value with the fields that the value lacks: API version,
// kind, name and namespace.
func manifest(a api, claim *model.Claim, namespace string) model.Value {
	metadata := claim.Value.At("metadata").With("name", model.StringOf(claim.Name))
	if namespace != "" {
		metadata = metadata.With("namespace", model.StringOf(namespace))
	}
	fields := append(slices.Clone(claim.Value.Without("metadata").Fields()),
		model.Field{Name: "apiVersion", Value: model.StringOf(a.apiVersion())},
		model.Field{Name: "kind", Value: model.StringOf(a.object)},
		model.Field{Name: "metadata", Value: model.MapOf(metadata.Fields()...)})
	return model.MapOf(fields...)
}

// withStored returns the declared value with the stored values of its fields. It drops
// fields that are only stored, and declared fields that are not stored, except empty ones.
func withStored(declared, stored model.Value, s *model.Schema) model.Value {
	switch {
	case declared.Kind() == model.Map && stored.Kind() == model.Map:
		return withStoredFields(declared, stored, s)
	case declared.Kind() == model.List && stored.Kind() == model.List:
		return withStoredItems(declared, stored, s)
	case declared.IsEmpty() && stored.IsNull():
		return declared
	}
	return stored
}

func withStoredFields(declared, stored model.Value, s *model.Schema) model.Value {
	fields := make([]model.Field, 0, len(declared.Fields()))
	for _, f := range declared.Fields() {
		value, ok := stored.Get(f.Name)
		switch {
		case ok:
			fields = append(fields, model.Field{Name: f.Name, Value: withStored(f.Value, value, s.Field(f.Name))})
		case f.Value.IsEmpty():
			fields = append(fields, f)
		}
	}
	return model.MapOf(fields...)
}

func withStoredItems(declared, stored model.Value, s *model.Schema) model.Value {
	if s != nil && s.List == model.Set {
		return declared
	}
	keyed := s != nil && s.List == model.Keyed
	if !keyed && len(declared.Items()) != len(stored.Items()) {
		return stored
	}
	items := slices.Clone(declared.Items())
	for i, item := range items {
		if !keyed {
			items[i] = withStored(item, stored.Items()[i], s.Element())
			continue
		}
		at := slices.IndexFunc(stored.Items(), func(v model.Value) bool { return sameKeys(item, v, s.Keys) })
		if at >= 0 {
			items[i] = withStored(item, stored.Items()[at], s.Element())
		}
	}
	return model.ListOf(items...)
}

// sameKeys reports whether two elements of a keyed list have the same keys. It ignores keys
// that are not declared: the server sets them.
func sameKeys(declared, stored model.Value, keys []string) bool {
	for _, key := range keys {
		if v, ok := declared.Get(key); ok && !v.Equal(stored.At(key)) {
			return false
		}
	}
	return true
}
