package kubernetes

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	// releaseType is the type of the Secrets in which Helm records its releases, and releasePrefix
	// what their names begin with.
	releaseType   = "helm.sh/release.v1"
	releasePrefix = "sh.helm.release.v1."
	// onlyMetadata is the Accept header of a list without the content of its objects.
	onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	// maxManifest bounds the record of a release, in bytes.
	maxManifest = 64 << 20
	// maxReleases bounds the records that are remembered.
	maxReleases = 4096
)

// A release is one recorded revision of a release of Helm.
type release struct {
	// secret and namespace are those of the record, and version is its resourceVersion.
	secret, namespace, version string
	name                       string
	revision                   int
	deployed                   bool
}

// A releaseCache remembers which objects recorded releases consist of. Records are large, and Helm
// changes little more of them than their status.
type releaseCache struct {
	mu sync.Mutex
	// objects are those of each record, by its namespace, name and version.
	objects map[[3]string][]ref
}

func newReleaseCache() *releaseCache { return &releaseCache{objects: map[[3]string][]ref{}} }

// checkHelm refuses objects that are part of a release of Helm, according to the manifest of the
// last revision or of one that is deployed. It reads the records that Helm keeps in Secrets, which
// is its default.
func (a *Actuator) checkHelm(ctx context.Context, c *client, s *subject) *reconcile.Refusal {
	records, err := c.list(ctx, "/api/v1/secrets", url.Values{"fieldSelector": {"type=" + releaseType}}, onlyMetadata)
	if err != nil {
		if httpclient.Code(err) == http.StatusForbidden {
			return refuse(guardDeclarer, "Helm may apply it: the credentials for reading may not list secrets of type %s in all namespaces: grant get and list on secrets", releaseType)
		}
		return refuse(guardDeclarer, "Helm may apply it: list its releases: %s", c.explain(err))
	}
	for _, r := range current(records) {
		objects, err := a.releases.read(ctx, c, &r)
		if err != nil {
			return refuse(guardDeclarer, "Helm may apply it: read the release in Secret %s/%s: %s", r.namespace, r.secret, c.explain(err))
		}
		for _, o := range objects {
			if !s.namespaced {
				o.namespace = ""
			}
			if o == s.ref() {
				return refuse(guardDeclarer, "it is part of release %s of Helm in namespace %s: run helm upgrade %s --namespace=%s with its chart and its values", r.name, r.namespace, r.name, r.namespace)
			}
		}
	}
	return nil
}

// current returns the last revision of each release, and those that are deployed.
func current(records []model.Value) []release {
	last := map[[2]string]int{}
	var all []release
	for _, record := range records {
		metadata := record.At("metadata")
		r := release{secret: metadata.At("name").Str(), namespace: metadata.At("namespace").Str(), version: metadata.At("resourceVersion").Str(),
			deployed: metadata.At("labels", "status").Str() == "deployed"}
		name, revision, _ := strings.Cut(strings.TrimPrefix(r.secret, releasePrefix), ".v")
		if i := strings.LastIndex(r.secret, ".v"); i >= len(releasePrefix) {
			name, revision = r.secret[len(releasePrefix):i], r.secret[i+2:]
		}
		n, err := strconv.Atoi(revision)
		if err != nil {
			// It is not named by Helm, and may be anything.
			r.deployed = true
		}
		r.name, r.revision = name, n
		all = append(all, r)
		key := [2]string{r.namespace, r.name}
		last[key] = max(last[key], n)
	}
	return slices.DeleteFunc(all, func(r release) bool {
		return !r.deployed && r.revision < last[[2]string{r.namespace, r.name}]
	})
}

// read returns the objects of a release.
func (s *releaseCache) read(ctx context.Context, c *client, r *release) ([]ref, error) {
	key := [3]string{r.namespace, r.secret, r.version}
	s.mu.Lock()
	objects, ok := s.objects[key]
	s.mu.Unlock()
	if ok {
		return objects, nil
	}
	if err := checkName(r.namespace, r.secret); err != nil {
		return nil, err
	}
	record, err := c.get(ctx, "/api/v1/namespaces/"+r.namespace+"/secrets/"+r.secret)
	if isMissing(err) {
		return nil, nil // it was removed since
	}
	if err != nil {
		return nil, err
	}
	objects, err = releaseObjects(record.At("data", "release").Str(), r.namespace)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.objects) >= maxReleases {
		clear(s.objects)
	}
	s.objects[key] = objects
	return objects, nil
}

var errNoRelease = errors.New("it is not the record of a release")

// releaseObjects returns the objects of a release from its record, JSON that is compressed and
// encoded twice: https://github.com/helm/helm/blob/main/pkg/storage/driver/util.go. Errors do not
// quote the record, which holds the values of the release.
func releaseObjects(data, namespace string) ([]ref, error) {
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errNoRelease
	}
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, errNoRelease
	}
	plain := packed
	if bytes.HasPrefix(packed, []byte{0x1f, 0x8b, 0x08}) {
		if plain, err = unzipped(packed); err != nil {
			return nil, err
		}
	}
	record, err := decode.JSON(plain)
	if err != nil {
		return nil, errNoRelease
	}
	if record.At("info", "status").Str() == "uninstalled" {
		return nil, nil
	}
	if own := record.At("namespace").Str(); own != "" {
		namespace = own
	}
	manifests := []string{record.At("manifest").Str()}
	for _, hook := range record.At("hooks").Items() {
		manifests = append(manifests, hook.At("manifest").Str())
	}
	return objectsOf(manifests, namespace)
}

func unzipped(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errNoRelease
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxManifest+1))
	switch {
	case err != nil:
		return nil, errNoRelease
	case len(plain) > maxManifest:
		return nil, fmt.Errorf("it is larger than %d bytes", maxManifest)
	}
	return plain, nil
}

// objectsOf returns the objects of manifests. Those without a namespace are in the given one.
func objectsOf(manifests []string, namespace string) (objects []ref, err error) {
	for _, manifest := range manifests {
		docs, err := decode.YAML(strings.NewReader(manifest))
		if err != nil {
			return nil, errors.New("its manifest is not valid YAML")
		}
		for _, d := range docs {
			group, _, hasGroup := strings.Cut(d.Value.At("apiVersion").Str(), "/")
			if !hasGroup {
				group = ""
			}
			r := ref{group, d.Value.At("kind").Str(), d.Value.At("metadata", "namespace").Str(), d.Value.At("metadata", "name").Str()}
			if r.namespace == "" {
				r.namespace = namespace
			}
			objects = append(objects, r)
		}
	}
	return objects, nil
}
