package manifests

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxResemble bounds how much is read of a file to find out whether it is a manifest, in bytes.
const maxResemble = 1 << 20

// These match fields of manifests, in YAML and in JSON.
var (
	hasVersion = regexp.MustCompile(`(?m)(^|[{,-])\s*["']?apiVersion["']?\s*:`)
	hasKind    = regexp.MustCompile(`(?m)(^|[{,-])\s*["']?kind["']?\s*:`)
	// The configuration of a program, such as kubelet or Talos, has a version and a kind, and no metadata. A list has items.
	hasObject  = regexp.MustCompile(`(?m)(^|[{,-])\s*["']?(metadata|items)["']?\s*:`)
	ofFlux     = regexp.MustCompile(`["']?apiVersion["']?\s*:\s*["']?((kustomize|helm|source)\.toolkit|source\.extensions)\.fluxcd\.io/`)
	ofArgoCD   = regexp.MustCompile(`["']?apiVersion["']?\s*:\s*["']?argoproj\.io/`)
	argoCDKind = regexp.MustCompile(`["']?kind["']?\s*:\s*["']?(Application|ApplicationSet|AppProject)\b`)
)

// A Resemblance reports what a file appears to declare, judged by its name and its content.
type Resemblance struct {
	// Manifest is set for a file with the extension and the fields of a manifest, and for a kustomization, which needs
	// neither an apiVersion nor a kind.
	Manifest, Kustomization bool
	// Flux and ArgoCD are set for a manifest with an object that Flux or Argo CD acts on.
	Flux, ArgoCD bool
}

// Resembles returns what a file looks like. It reads the first MiB of it.
func Resembles(files fs.FS, name string) (r Resemblance, err error) {
	switch extension := path.Ext(name); {
	case strings.EqualFold(strings.TrimSuffix(path.Base(name), extension), "kustomization"):
		return Resemblance{Manifest: true, Kustomization: true}, nil
	case !slices.Contains([]string{".yaml", ".yml", ".json"}, extension):
		return r, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxResemble))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if hasVersion.Match(text) && hasKind.Match(text) && hasObject.Match(text) {
		r = Resemblance{Manifest: true, Flux: ofFlux.Match(text), ArgoCD: ofArgoCD.Match(text) && argoCDKind.Match(text)}
	}
	return r, err
}
