package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

const (
	// maxManifest bounds the manifests of a release, and maxDocument one object in them, in bytes.
	maxManifest = 8 << 20
	maxDocument = 2 << 20
	// maxObjects bounds the objects of a release, and maxRemembered those of all releases that are
	// remembered.
	maxObjects    = 10000
	maxRemembered = 500000
)

// A releaseRecord is what the record of a release contains.
type releaseRecord struct {
	// objects are those of the release. Objects of kinds without a namespace are in its namespace here.
	objects []ref
	// unread is why the record, or a part of it, could not be read; "" if it was.
	unread string
}

// A releaseCache remembers what records contain. Records are large, and Helm changes little more of them
// than their status.
type releaseCache struct {
	mu sync.Mutex
	// records are by namespace, name and version. size is the number of their objects, and of themselves.
	records map[[3]string]releaseRecord
	size    int
}

func newReleaseCache() *releaseCache { return &releaseCache{records: map[[3]string]releaseRecord{}} }

func (r *release) key() [3]string { return [3]string{r.namespace, r.secret, r.version} }

func (s *releaseCache) get(r *release) (releaseRecord, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record, ok := s.records[r.key()]
	return record, ok
}

// forget forgets all records but those of the given releases.
func (s *releaseCache) forget(all []release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.records
	s.records, s.size = make(map[[3]string]releaseRecord, len(before)), 0
	for i := range all {
		if record, ok := before[all[i].key()]; ok {
			s.put(&all[i], record)
		}
	}
}

func (s *releaseCache) put(r *release, record releaseRecord) {
	if s.size += 1 + len(record.objects); s.size > maxRemembered {
		clear(s.records)
		s.size = 1 + len(record.objects)
	}
	s.records[r.key()] = record
}

// read reads and remembers the record of a release. The error is one of the connection, of the API server,
// or of ctx.
func (s *releaseCache) read(ctx context.Context, c *client, r *release) (releaseRecord, error) {
	if err := checkName(r.namespace, r.secret); err != nil {
		return releaseRecord{}, err
	}
	secret, err := c.get(ctx, "/api/v1/namespaces/"+r.namespace+"/secrets/"+r.secret)
	if isMissing(err) {
		return releaseRecord{}, nil // it was removed since
	}
	if err != nil {
		return releaseRecord{}, err
	}
	record, err := decodeRelease(ctx, secret.At("data", "release").Str(), r.namespace)
	if err != nil {
		return releaseRecord{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(r, record)
	return record, nil
}

const noRelease = "it is not the record of a release: delete it if Helm does not need it"

// decodeRelease returns what the record of a release contains: JSON that is compressed and encoded twice
// (https://github.com/helm/helm/blob/main/pkg/storage/driver/util.go). It does not quote the record, which
// holds the values of the release. The error is that of ctx.
func decodeRelease(ctx context.Context, data, namespace string) (releaseRecord, error) {
	text, err := kube.UnpackRelease(data)
	if err != nil {
		return releaseRecord{unread: err.Error()}, nil //nolint:nilerr // the result has the reason
	}
	// The fields that Helm reads, as it reads them.
	var record struct {
		Namespace string
		Info      struct{ Status string }
		Manifest  string
		Hooks     []struct{ Manifest string }
	}
	if err := json.Unmarshal(text, &record); err != nil {
		return releaseRecord{unread: noRelease}, nil //nolint:nilerr // the result has the reason
	}
	if record.Info.Status == "uninstalled" {
		return releaseRecord{}, nil
	}
	if record.Namespace != "" {
		namespace = record.Namespace
	}
	m := manifests{namespace: namespace}
	err = m.add(ctx, record.Manifest)
	for i := 0; err == nil && i < len(record.Hooks); i++ {
		err = m.add(ctx, record.Hooks[i].Manifest)
	}
	return m.releaseRecord, err
}

// manifests are the manifests of a release.
type manifests struct {
	releaseRecord

	// namespace is that of objects that name none.
	namespace string
	size      int
}

// add adds the objects of a manifest. The error is that of ctx.
func (m *manifests) add(ctx context.Context, manifest string) error {
	if m.size += len(manifest); m.size > maxManifest {
		m.unread = fmt.Sprintf("its manifests are larger than %d MiB", maxManifest>>20)
		return nil
	}
	for manifest != "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		var document string
		if document, manifest = kube.CutDocument(manifest); len(document) > maxDocument {
			m.unread = fmt.Sprintf("an object of it is larger than %d MiB", maxDocument>>20)
			continue
		}
		read, err := decode.YAML(strings.NewReader(document))
		if err != nil {
			m.unread = "its manifest is not valid YAML"
		}
		for i := range read {
			m.object(read[i].Value)
		}
		if len(m.objects) > maxObjects {
			m.unread = fmt.Sprintf("it has more than %d objects", maxObjects)
			return nil
		}
	}
	return nil
}

// object adds an object, or those of a list, as Helm applies them.
func (m *manifests) object(v model.Value) {
	kind := v.At("kind").Str()
	if items, ok := v.Get("items"); ok && strings.HasSuffix(kind, "List") {
		for _, item := range items.Items() {
			m.object(item)
		}
		return
	}
	group, _, hasGroup := strings.Cut(v.At("apiVersion").Str(), "/")
	if !hasGroup {
		group = ""
	}
	o := ref{group, kind, v.At("metadata", "namespace").Str(), v.At("metadata", "name").Str()}
	if o.namespace == "" {
		o.namespace = m.namespace
	}
	m.objects = append(m.objects, o)
}
