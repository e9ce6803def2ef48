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

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// An object is one manifest and where it is written.
type object struct {
	value   model.Value
	address string
	// files made it what it is, by path from the top of the tree.
	files []string
}

// content is what files say.
type content struct {
	objects  []object
	problems []model.Problem
}

func (c *content) add(more content) {
	c.objects = append(c.objects, more.objects...)
	c.problems = append(c.problems, more.problems...)
}

func (c *content) problem(address, format string, args ...any) {
	c.problems = append(c.problems, model.Problem{Address: address, Reason: fmt.Sprintf(format, args...)})
}

// bounded notes a part that declares nothing outside of extents.
func (c *content) bounded(address string, extents []model.Extent, format string, args ...any) {
	c.problem(address, format, args...)
	p := &c.problems[len(c.problems)-1]
	p.Bounded, p.Extents = true, extents
}

// limited notes a part of which a sketch shows what it may declare.
func (c *content) limited(address string, s sketch, format string, args ...any) {
	if s.unknown {
		c.problem(address, format, args...)
		return
	}
	c.bounded(address, s.extents, format, args...)
}

// maxInline is the size, in bytes, up to which a file is parsed in this process. What is
// larger takes a hundred times its size at worst, and is parsed in a box.
const maxInline = 256 << 10

// plainFiles reads files one after another and parses them side by side.
func (l *loader) plainFiles(ctx context.Context, t *tree, names []string) (all content, err error) {
	b := l.openBox(false)
	defer func() { err = errors.Join(err, b.Close()) }()
	parsed, full := make([]content, len(names)), make([]error, len(names))
	var workers conc.WaitGroup
	defer workers.Wait()
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return content{}, fmt.Errorf("read %s: %w", t.address(name), err)
		}
		data, err := t.readFile(name, l.config.MaxFileSize)
		if err != nil {
			parsed[i].problem(t.address(name), "%v", cause(err))
			continue
		}
		if len(data) > maxInline {
			if parsed[i], err = l.parseFile(ctx, t, b, name); err != nil {
				return content{}, err
			}
			full[i] = parsed[i].take(ctx)
			continue
		}
		free <- struct{}{}
		workers.Go(func() {
			defer func() { <-free }()
			parsed[i] = t.parse(name, data)
			full[i] = parsed[i].take(ctx)
		})
	}
	workers.Wait()
	if err := cmp.Or(full...); err != nil {
		return content{}, err
	}
	for _, c := range parsed {
		all.add(c)
	}
	return all, nil
}

// parse reads the manifests of one file of the tree.
func (p place) parse(name string, data []byte) content {
	c := parse(data, p.address(name))
	for i := range c.objects {
		c.objects[i].files = []string{name}
	}
	return c
}

// parse reads the manifests of one file. A file in which nothing has both
// apiVersion and kind is no manifest and says nothing; what is broken in it is
// a problem all the same, for nobody knows what it would say.
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

// maxProblems bounds the problems of one part.
const maxProblems = 100

// shorten replaces problems beyond maxProblems by one that may declare anything.
func (c *content) shorten(address string) {
	if more := len(c.problems) - maxProblems; more > 1 {
		c.problems = c.problems[:maxProblems:maxProblems]
		c.problem(address, "%d more parts of it cannot be read", more)
	}
}

// keepManifests drops what is no manifest.
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

// isComplete tells what names a kind of object.
func isComplete(v model.Value) bool {
	return v.At("apiVersion").Str() != "" && v.At("kind").Str() != ""
}

// isKustomize tells what is written for kustomize and never sent to a cluster.
func isKustomize(v model.Value) bool {
	apiVersion := v.At("apiVersion").Str()
	return strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/") || apiVersion == "builtin"
}

// expand returns the objects of a document: itself, or the items of a list.
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

// flatten returns the objects of a list inside a list, however deep.
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

// typed gives an item of a typed list (kind: ServiceList) the kind that the
// API server leaves out.
func typed(item, list model.Value) model.Value {
	kind := strings.TrimSuffix(list.At("kind").Str(), "List")
	if kind == "" || item.Kind() != model.Map || item.At("kind").Str() != "" {
		return item
	}
	return item.With("kind", model.StringOf(kind)).With("apiVersion", list.At("apiVersion"))
}
