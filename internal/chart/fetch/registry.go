package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/driftd/driftd/internal/httpclient"
)

// maxManifest bounds the manifest of an artifact, in bytes.
const maxManifest = 1 << 20

// chartLayer is the media type of the archive of a chart. https://helm.sh/docs/topics/registries/
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// fromRegistry fetches the archive from an OCI registry.
func (s *Source) fromRegistry(ctx context.Context) (string, error) {
	if manifest, ok := s.cached(s.want()); ok {
		if layer, err := layerOf(manifest); err == nil {
			s.manifest = s.settings.Digest
			if _, ok := s.cached(layer.Digest.Encoded()); ok {
				return layer.Digest.Encoded(), nil
			}
		}
	}
	from, err := s.registry()
	if err != nil {
		return "", err
	}
	// Tags have no plus sign, for which Helm writes an underscore.
	described, body, err := from.Manifests().FetchReference(ctx, cmp.Or(strings.ReplaceAll(s.settings.Version, "+", "_"), s.settings.Digest))
	if err != nil {
		return "", s.settings.registryError(err)
	}
	defer body.Close() //nolint:errcheck // it was read as a whole, or the error is that of reading
	if s.settings.Digest != "" && described.Digest.String() != s.settings.Digest {
		return "", problem("the registry has version %s with another digest than the setting: find out who moved the tag", s.settings.Version)
	}
	if described.Size > maxManifest {
		return "", problem("the manifest is larger than %d bytes", maxManifest)
	}
	manifest, err := content.ReadAll(body, described)
	if err != nil {
		return "", s.settings.registryError(err)
	}
	layer, err := layerOf(manifest)
	if err != nil {
		return "", err
	}
	if s.settings.Digest != "" {
		if _, err := s.keep(manifest); err != nil {
			return "", err
		}
	}
	s.manifest = described.Digest.String()
	return s.layer(ctx, from, layer)
}

// layer fetches the archive, unless the cache has it.
func (s *Source) layer(ctx context.Context, from *remote.Repository, layer ocispec.Descriptor) (string, error) {
	if _, ok := s.cached(layer.Digest.Encoded()); ok {
		return layer.Digest.Encoded(), nil
	}
	if layer.Size > s.settings.Limit {
		return "", problem("the archive is larger than %d bytes; raise max_file_size", s.settings.Limit)
	}
	data, err := content.FetchAll(ctx, from, layer)
	if err != nil {
		return "", s.settings.registryError(err)
	}
	return s.keep(data)
}

// registry returns the repository of the chart in the registry.
func (s *Source) registry() (*remote.Repository, error) {
	password, err := s.password()
	if err != nil {
		return nil, err
	}
	from, err := remote.NewRepository(s.base.Host + s.base.Path)
	if err != nil {
		return nil, problem("oci is no URL of a chart, such as oci://registry.example.org/charts/blog")
	}
	from.PlainHTTP = httpclient.Loopback(s.base.Hostname())
	from.Client = &auth.Client{Client: s.client, Cache: auth.NewCache(), Credential: auth.StaticCredential(s.base.Host, auth.Credential{Username: s.settings.Username, Password: password})}
	return from, nil
}

// layerOf returns the archive of the chart in a manifest.
func layerOf(manifest []byte) (ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return ocispec.Descriptor{}, problem("the manifest is malformed")
	}
	for _, layer := range m.Layers {
		if layer.MediaType == chartLayer && pinned().MatchString(layer.Digest.String()) && layer.Size >= 0 {
			return layer, nil
		}
	}
	return ocispec.Descriptor{}, problem("the artifact is not a chart")
}
