package manifests

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// An object is one manifest with its address.
type object struct {
	value   model.Value
	address string
	// files are the files that determine the object, by path from the top of the tree.
	files []string
	// variables are the names of the variables that Flux substituted in it.
	variables []string
	// again are the objects in further renderings. Fields that differ are left to chance, which
	// is the text for what determines them.
	again  []model.Value
	chance string
	// random reports whether equal inputs give the further renderings, so that the declaration is
	// not deterministic.
	random bool
	// otherwise are the objects for clusters with other API versions, which the chart asks for:
	// asked. optional reports whether there is none in some of these clusters, or whether a controller
	// may not have made the object.
	otherwise []model.Value
	asked     string
	optional  bool
	// unchecked is why the object cannot be compared; "" if it can.
	unchecked string
	// unenforced are the fields that the tool that applies the object does not put back.
	unenforced []model.Unenforced
	// installedBy is the release or the Kustomization of Flux that applies the object; zero if there is none.
	installedBy model.Ref
	// fetch is what a GitRepository must have; nil if driftd does not read what it reads.
	fetch *model.Fetch
	// namespace is that of the object if it names none; "" for the one of the declaration.
	namespace string
	// found is set for an object that is not in the tree of the declaration's commit.
	found *provenance
}

// A content is the result of reading files.
type content struct {
	objects  []object
	problems []model.Problem
	// remarks are notes on parts that declare nothing.
	remarks []model.Note
	// passing reports whether a problem has a cause that is not in the files.
	passing bool
}

func (c *content) add(more content) {
	c.objects = append(c.objects, more.objects...)
	c.problems = append(c.problems, more.problems...)
}

func (c *content) problem(address, format string, args ...any) {
	c.problems = append(c.problems, model.Problem{Address: address, Reason: fmt.Sprintf(format, args...)})
}

// bounded adds a problem with a part that declares at most objects in extents.
func (c *content) bounded(address string, extents []model.Extent, format string, args ...any) {
	c.problem(address, format, args...)
	p := &c.problems[len(c.problems)-1]
	p.Bounded, p.Extents = true, extents
}

// limited adds a problem with a part that declares at most the objects in the sketch s.
func (c *content) limited(address string, s sketch, format string, args ...any) {
	if s.unknown {
		c.problem(address, format, args...)
		return
	}
	c.bounded(address, s.extents, format, args...)
}

// maxInline is the size, in bytes, up to which a file is parsed in this process. A larger file
// is parsed in a box, because parsing can take a hundred times its size.
const maxInline = 256 << 10

// skipMark marks a file, anywhere in it, that Argo CD does not read as manifests.
// https://argo-cd.readthedocs.io/en/stable/user-guide/directory/
const skipMark = "+argocd:skip-file-rendering"

// plainFiles reads the files names one after another and parses them in parallel.
func (l *loader) plainFiles(ctx context.Context, t *tree, names []string) (all content, err error) {
	b := l.openBox(false)
	defer func() { err = errors.Join(err, b.Close()) }()
	parsed, memoryErrs := make([]content, len(names)), make([]error, len(names))
	var workers conc.WaitGroup
	defer workers.Wait()
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return content{}, fmt.Errorf("read %s: %w", t.address(name), err)
		}
		data, err := t.readFile(name, l.config.MaxFileSize)
		if err != nil {
			parsed[i].problem(t.address(name), "%v", bounded.Cause(err))
			continue
		}
		if l.argocd != nil && bytes.Contains(data, []byte(skipMark)) {
			continue
		}
		if len(data) > maxInline {
			if parsed[i], err = l.parseFile(ctx, t, b, name); err != nil {
				return content{}, err
			}
			memoryErrs[i] = parsed[i].takeMemory(ctx)
			continue
		}
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			parsed[i] = t.parse(name, data)
			memoryErrs[i] = parsed[i].takeMemory(ctx)
		})
	}
	workers.Wait()
	if err := cmp.Or(memoryErrs...); err != nil {
		return content{}, err
	}
	for _, c := range parsed {
		all.add(c)
	}
	return all, nil
}

// parse returns the content of one file of the tree.
func (p place) parse(name string, data []byte) content {
	c := parse(data, p.address(name))
	for i := range c.objects {
		c.objects[i].files = []string{name}
	}
	return c
}

// parse returns the content of one file. A file without any document that has both apiVersion
// and kind is not a manifest and has no objects. A document that cannot be parsed is always a
// problem, because it may declare an object.
func parse(data []byte, address string) content {
	var c content
	docs, err := decode.YAML(bytes.NewReader(data))
	faults := decode.SyntaxErrors(err)
	for _, fault := range faults {
		c.limited(fmt.Sprintf("%s:%d", address, fault.Line), sketchOf(fault.Document), "%v", fault.Err)
	}
	if err != nil && len(faults) == 0 {
		c.problem(address, "%v", err)
	}
	for _, doc := range docs {
		c.objects = append(c.objects, expand(doc, address)...)
	}
	c.keepManifests()
	c.shorten(address)
	return c
}

// maxProblems bounds the problems of one file.
const maxProblems = 100

// shorten replaces the problems beyond maxProblems by one that may declare anything.
func (c *content) shorten(address string) {
	if more := len(c.problems) - maxProblems; more > 1 {
		c.problems = c.problems[:maxProblems:maxProblems]
		c.problem(address, "%d more parts cannot be read", more)
	}
}

// keepManifests removes objects that are not Kubernetes manifests.
func (c *content) keepManifests() {
	var kept []object
	var others []object
	for _, o := range c.objects {
		switch {
		case !isComplete(o.value):
			others = append(others, o)
		case !isKustomize(o.value):
			kept = append(kept, o)
		}
	}
	if len(kept) > 0 {
		for _, o := range others {
			c.bounded(o.address, incomplete(o.value), "lacks apiVersion or kind, and the file's other documents have both")
		}
	}
	c.objects = kept
}

// isComplete reports whether v has an apiVersion and a kind.
func isComplete(v model.Value) bool {
	return v.At("apiVersion").Str() != "" && v.At("kind").Str() != ""
}

// isKustomize reports whether v is a configuration of kustomize, which is never sent to a
// cluster.
func isKustomize(v model.Value) bool {
	apiVersion := v.At("apiVersion").Str()
	return strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/") || apiVersion == "builtin"
}

// expand returns the objects of a document: the items of a list, or the document itself.
func expand(doc decode.Document, address string) []object {
	if doc.ItemLines == nil {
		return []object{{value: doc.Value, address: fmt.Sprintf("%s:%d", address, doc.Line)}}
	}
	var objects []object
	for i, item := range doc.Value.At("items").Items() {
		at := fmt.Sprintf("%s:%d", address, doc.ItemLines[i])
		for _, v := range flatten(typed(item, doc.Value)) {
			objects = append(objects, object{value: v, address: at})
		}
	}
	return objects
}

// flatten returns the objects of nested lists.
func flatten(v model.Value) []model.Value {
	items, ok := v.Get("items")
	if !ok || items.Kind() != model.List || !strings.HasSuffix(v.At("kind").Str(), "List") {
		return []model.Value{v}
	}
	var all []model.Value
	for _, item := range items.Items() {
		all = append(all, flatten(typed(item, v))...)
	}
	return all
}

// typed adds the kind to an item of a typed list (kind: ServiceList), which the API server
// omits.
func typed(item, list model.Value) model.Value {
	kind := strings.TrimSuffix(list.At("kind").Str(), "List")
	if kind == "" || item.Kind() != model.Map || item.At("kind").Str() != "" {
		return item
	}
	return item.With("kind", model.StringOf(kind)).With("apiVersion", list.At("apiVersion"))
}
