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

	"github.com/driftd/driftd/internal/lazyregexp"
)

// maxResemble bounds how much is read of a file to find out whether it is a manifest, in bytes.
const maxResemble = 1 << 20

// These match objects of Flux and of Argo CD, in YAML and in JSON.
var (
	ofFlux     = lazyregexp.New(`["']?apiVersion["']?\s*:\s*["']?((kustomize|helm|source)\.toolkit|source\.extensions)\.fluxcd\.io/`)
	ofArgoCD   = lazyregexp.New(`["']?apiVersion["']?\s*:\s*["']?argoproj\.io/`)
	argoCDKind = lazyregexp.New(`["']?kind["']?\s*:\s*["']?(Application|ApplicationSet|AppProject)\b`)
)

// A Resemblance reports what a file appears to declare, judged by its name and its content.
type Resemblance struct {
	// Manifest reports whether the file has the extension and the fields of a manifest, or is a
	// kustomization, which needs neither an apiVersion nor a kind. Kustomization reports whether it is a
	// kustomization.
	Manifest, Kustomization bool
	// Flux and ArgoCD report whether a manifest contains an object that Flux or Argo CD acts on.
	Flux, ArgoCD bool
}

// Resembles returns what the named file appears to declare. It reads at most the first MiB of the file.
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
	if isObject(text) {
		has := func(group string, expressions ...*regexp.Regexp) bool {
			return bytes.Contains(text, []byte(group)) && !slices.ContainsFunc(expressions, func(e *regexp.Regexp) bool { return !e.Match(text) })
		}
		r = Resemblance{Manifest: true, Flux: has("fluxcd.io/", ofFlux()), ArgoCD: has("argoproj.io/", ofArgoCD(), argoCDKind())}
	}
	return r, err
}

// isObject reports whether a text has the fields of an object of Kubernetes. The configuration of a
// program, such as kubelet or Talos, has a version and a kind, and no metadata. A list has items.
func isObject(text []byte) bool {
	return hasField(text, "apiVersion") && hasField(text, "kind") && (hasField(text, "metadata") || hasField(text, "items"))
}

// hasField reports whether a text in YAML or JSON has a field with the name, at any depth.
func hasField(text []byte, name string) bool {
	for from := 0; ; {
		at := bytes.Index(text[from:], []byte(name))
		if at < 0 {
			return false
		}
		before, after := text[:from+at], text[from+at+len(name):]
		if mayPrecede(before) && mayFollow(after) {
			return true
		}
		from += at + len(name)
	}
}

// mayPrecede reports whether the name of a field may follow a text: at the beginning of a line, of an
// object or of an element of a list.
func mayPrecede(text []byte) bool {
	if last := len(text) - 1; last >= 0 && isQuote(text[last]) {
		text = text[:last]
	}
	text = bytes.TrimRight(text, " \t")
	return len(text) == 0 || strings.IndexByte("\n{,-", text[len(text)-1]) >= 0
}

// mayFollow reports whether a text may follow the name of a field.
func mayFollow(text []byte) bool {
	if len(text) > 0 && isQuote(text[0]) {
		text = text[1:]
	}
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(":"))
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }
