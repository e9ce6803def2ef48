package discipline

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/lazyregexp"
)

var (
	hasVersion = lazyregexp.New(`(?m)(^|[{,-])\s*["']?apiVersion["']?\s*:`)
	hasKind    = lazyregexp.New(`(?m)(^|[{,-])\s*["']?kind["']?\s*:`)
)

// objects are what is known of the objects of all files: some are only judged once all files were read, because a kustomization may
// set what they leave open.
type objects struct {
	images   []image
	releases []release
	// replaced are the names of images of which a kustomization sets the tag, and patched the names of releases of which a
	// patch sets the version. everyRelease is set by a patch whose targets are unknown.
	replaced, patched map[string]bool
	everyRelease      bool
}

// manifests checks the objects of Kubernetes, Flux and Argo CD, and kustomizations.
func (c *checker) manifests(ctx context.Context, s *survey) error {
	o := &objects{replaced: map[string]bool{}, patched: map[string]bool{}}
	for _, name := range s.manifests {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !s.inChart(name) {
			c.manifestFile(o, name)
		}
	}
	for i := range o.images {
		c.judgeImage(o, &o.images[i])
	}
	for i := range o.releases {
		c.judgeRelease(o, &o.releases[i])
	}
	return nil
}

func (c *checker) manifestFile(o *objects, name string) {
	if c.isForeign(name) {
		return
	}
	text, ok := c.load(name)
	isKustomization := isKustomization(path.Base(name))
	if ok && hasAcceptances().Match(text) {
		c.acceptances(name, text)
	}
	if !ok || !isKustomization && !(hasVersion().Match(text) && hasKind().Match(text)) {
		return
	}
	c.note(name, text)
	for _, p := range split(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		if !isKustomization && !(hasVersion().Match(p.text) && hasKind().Match(p.text)) {
			continue
		}
		docs, err := parseYAML(p.text, p.above)
		for _, doc := range docs {
			c.document(o, name, doc, isKustomization)
		}
		if err != nil {
			c.invalid(name, p.above, err)
		}
	}
}

// invalid adds that a document, which begins after some lines, is not valid YAML.
func (c *checker) invalid(file string, above int, err error) {
	line, reason := above+1, err
	if syntax, isSyntax := errors.AsType[*decode.SyntaxError](err); isSyntax {
		line, reason = above+syntax.Line, syntax.Err
	}
	c.gap(file, line, reason.Error())
}

// isForeign reports whether a file is too large to be read and has no objects at its beginning, such as a data set in JSON.
func (c *checker) isForeign(name string) bool {
	info, err := fs.Stat(c.Files, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= maxFile {
		return false
	}
	looks, err := manifests.Resembles(c.Files, name)
	return err == nil && !looks.Manifest
}

func isKustomization(base string) bool {
	return base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
}

// document checks the objects of one document.
func (c *checker) document(o *objects, file string, doc node, isKustomization bool) {
	group := doc.at("apiVersion").text()
	if isKustomization || strings.HasPrefix(group, "kustomize.config.k8s.io/") {
		c.kustomization(o, file, doc)
	} else if items := doc.at("items").items(); len(items) > 0 && strings.HasSuffix(doc.at("kind").text(), "List") {
		for _, item := range items {
			c.object(o, file, item)
		}
	} else {
		c.object(o, file, doc)
	}
	if *doc.left <= 0 {
		c.gap(file, doc.line(), "the document has too many values, or aliases stand for too many")
	}
}

func (c *checker) object(o *objects, file string, doc node) {
	group, kind := doc.at("apiVersion").text(), doc.at("kind").text()
	group, _, _ = strings.Cut(group, "/")
	switch {
	case strings.HasSuffix(group, ".toolkit.fluxcd.io"):
		c.flux(o, file, kind, doc)
	case group == "argoproj.io" && kind == "Application":
		c.application(o, file, doc, doc.at("spec"))
	case group == "argoproj.io" && kind == "ApplicationSet":
		c.application(o, file, doc, doc.at("spec", "template", "spec"))
	}
	c.pod(o, file, kind, doc)
}
