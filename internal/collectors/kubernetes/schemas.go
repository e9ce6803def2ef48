package kubernetes

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// schemas returns the schemas of kinds: built-in ones, and those in the API server's OpenAPI
// documents. It fetches a document again only if the server returns another hash for it, and
// caches documents in memory and in the cache folder.
type schemas struct {
	cache cache
	log   *slog.Logger

	mu sync.Mutex
	// parsed holds documents by address. The address includes the hash.
	parsed map[string]parsedDocument
}

// A parsedDocument contains the kinds of a document and their approximate memory use in bytes.
type parsedDocument struct {
	kinds  map[string]*model.Kind
	weight int64
}

func newSchemas(env collectors.Env) *schemas {
	s := &schemas{log: env.Log, parsed: map[string]parsedDocument{}}
	if env.CacheDir != "" {
		s.cache = cache(filepath.Join(env.CacheDir, "openapi"))
	}
	return s
}

// kinds returns the kinds of apis by name. A kind has no schema if its document is not
// available.
func (s *schemas) kinds(ctx context.Context, r *reader, apis []api) map[string]*model.Kind {
	kinds := make(map[string]*model.Kind, len(apis))
	builtin, err := kube.Builtin()
	if err != nil {
		s.log.WarnContext(ctx, "built-in schemas cannot be used", "err", err)
	}
	foreign := map[string][]api{}
	for _, a := range apis {
		kinds[a.kind] = a.as(builtin[a.kind])
		if kinds[a.kind].Schema == nil {
			foreign[a.apiVersion()] = append(foreign[a.apiVersion()], a)
		}
	}
	if len(foreign) == 0 {
		return kinds
	}
	documents := s.fetch(ctx, r, foreign)
	for apiVersion, apis := range foreign {
		for _, a := range apis {
			kinds[a.kind] = a.as(documents[apiVersion][a.kind])
		}
	}
	return kinds
}

// as returns the known kind for the served version and scope. It returns a kind without a
// schema if known is nil or of an incompatible version.
func (a api) as(known *model.Kind) *model.Kind {
	if known == nil || known.Version != a.apiVersion() && !slices.Contains(known.CompatibleVersions, a.apiVersion()) {
		return kube.NewKind(a.kind, a.apiVersion(), a.namespaced)
	}
	if known.Namespaced == a.namespaced && known.Version == a.apiVersion() {
		return known
	}
	kind := *known
	kind.Namespaced, kind.Version = a.namespaced, a.apiVersion()
	return &kind
}

// fetch returns the kinds of each requested version whose document is available.
func (s *schemas) fetch(ctx context.Context, r *reader, versions map[string][]api) map[string]map[string]*model.Kind {
	addresses, err := r.openapi(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "custom resources are compared without their schemas", "err", err)
		return nil
	}
	s.forget(addresses)
	var wait conc.WaitGroup
	var mu sync.Mutex
	found := map[string]map[string]*model.Kind{}
	free := make(chan struct{}, maxDocuments)
	for apiVersion := range versions {
		address, ok := addresses[apiVersion]
		if !ok {
			continue
		}
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			kinds, err := s.document(ctx, r, address)
			if err != nil {
				s.log.WarnContext(ctx, "kinds are compared without their schemas", "api_version", apiVersion, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[apiVersion] = kinds
		})
	}
	wait.Wait()
	return found
}

// maxDocuments bounds the documents that are read at once: decoding one needs much memory.
const maxDocuments = 2

// openapi returns the address of each version's document, by "group/version".
func (r *reader) openapi(ctx context.Context) (map[string]string, error) {
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := r.getJSON(ctx, request{path: "/openapi/v3"}, &index); err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	for path, item := range index.Paths {
		_, apiVersion, ok := strings.Cut(path, "/")
		if ok && item.ServerRelativeURL != "" {
			addresses[apiVersion] = item.ServerRelativeURL
		}
	}
	return addresses, nil
}

// document returns the kinds of one document from memory, from the cache folder, or from the
// server. A document whose address has no hash is always read from the server.
func (s *schemas) document(ctx context.Context, r *reader, address string) (map[string]*model.Kind, error) {
	hashed := strings.Contains(address, "hash=")
	if p, ok := s.known(address); ok && hashed {
		return p.kinds, budget.Take(ctx, p.weight)
	}
	ctx, settle := budget.Part(ctx)
	var p parsedDocument
	defer func() { settle(p.weight) }()
	if data := s.cache.get(address); data != nil && hashed {
		// The writer counts the memory use of decoding.
		if _, err := budget.Writer(ctx, io.Discard).Write(data); err != nil {
			return nil, err
		}
		if kinds, err := kube.KindsFromOpenAPI(data); err == nil {
			p = s.store(address, kinds)
			return kinds, nil
		}
	}
	data, err := r.document(ctx, address)
	if err != nil {
		return nil, err
	}
	kinds, err := kube.KindsFromOpenAPI(data)
	if err != nil {
		return nil, err
	}
	if err := s.cache.put(address, data); err != nil {
		s.log.WarnContext(ctx, "schema cannot be cached for the next scan", "err", err)
	}
	p = s.store(address, kinds)
	return kinds, nil
}

func (s *schemas) known(address string) (parsedDocument, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.parsed[address]
	return p, ok
}

func (s *schemas) store(address string, kinds map[string]*model.Kind) parsedDocument {
	p := parsedDocument{kinds, model.KindsWeight(kinds)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parsed[address] = p
	return p
}

// forget drops the documents that the server no longer serves.
func (s *schemas) forget(served map[string]string) {
	current := map[string]bool{}
	for _, address := range served {
		current[address] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.parsed, func(address string, _ parsedDocument) bool { return !current[address] })
	s.cache.keep(current)
}

// document returns the document at an address of the OpenAPI index.
func (r *reader) document(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var data []byte
	err = r.do(ctx, request{path: u.Path, query: u.Query()}, func(body io.Reader) error {
		data, err = io.ReadAll(body)
		return err
	})
	return data, err
}
