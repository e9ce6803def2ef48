package manifests

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/decode"
)

// kustomizeTurn is held by the one build that runs: kustomize keeps the schemas
// of a build in variables of its own package.
//
//nolint:gochecknoglobals // it guards another package's global state
var kustomizeTurn = make(chan struct{}, 1)

// kustomizations renders the folders that are built for themselves. One that
// cannot be built is a problem.
func (l *loader) kustomizations(ctx context.Context, t *tree, dirs []string) (content, error) {
	absolute := make([]string, len(dirs))
	for i, dir := range dirs {
		absolute[i] = path.Join(t.mount, dir)
	}
	var all content
	for _, dir := range roots(t.kustomize, absolute) {
		if err := ctx.Err(); err != nil {
			return content{}, fmt.Errorf("build %s: %w", t.of(dir), err)
		}
		rendered, err := l.render(ctx, t, dir, l.config.AllowNetwork)
		if err != nil {
			return content{}, err
		}
		all.add(rendered)
	}
	return all, nil
}

// of returns the address of an absolute path as kustomize sees it.
func (t *tree) of(absolute string) string {
	relative, err := filepath.Rel(t.mount, absolute)
	if err != nil {
		return absolute
	}
	return t.address(filepath.ToSlash(relative))
}

// render builds one kustomization; network reports whether it may fetch remote
// bases.
func (l *loader) render(ctx context.Context, t *tree, dir string, network bool) (content, error) {
	parts := reach(t.kustomize, dir)
	address := t.of(parts[0].file)
	var c content
	var secrets []string
	for _, k := range parts {
		if !network && k.isUnread() {
			c.limited(t.of(k.file), unbuilt(parts), "cannot be read, so that it is not known whether it needs the network: write it as plain YAML, each field once")
			return c, nil
		}
		if urls := k.remotes(); len(urls) > 0 && !network {
			c.limited(address, unbuilt(parts), "needs %s, and driftd does not fetch remote bases: copy it into the folder, "+
				"or set allow_network in the declaration's settings", withoutUser(urls[0]))
			return c, nil
		}
		secrets = append(secrets, k.secrets()...)
	}
	origins := originFS{FileSystem: t.kustomize, root: parts[0]}
	limit := l.buildTime(ctx)
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	built, err := build(inner, &origins, dir)
	switch {
	case ctx.Err() != nil:
		return content{}, fmt.Errorf("build %s: %w", address, ctx.Err())
	case errors.Is(err, errUnfinished), errors.Is(err, errBusy):
		c.problem(address, "%v within %s; raise timeout in the declaration's settings, or exclude the folder", err, limit.Round(time.Millisecond))
		return c, nil
	case err != nil:
		c.limited(address, unbuilt(parts), "%s", complaint(err, t, secrets))
		return c, nil
	}
	return l.rendered(t, parts, built)
}

// buildTime returns how long one build may take: half of the time that is left,
// so that one that does not end leaves time for the others.
func (l *loader) buildTime(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(time.Until(deadline)/2, 0)
	}
	return l.config.Timeout / 2
}

// Why a build was given up.
var (
	errUnfinished = errors.New("kustomize did not finish")
	errBusy       = errors.New("kustomize was still busy with another build")
)

// build runs kustomize: no plugins, no commands, no files from outside of a
// kustomization's folder.
func build(ctx context.Context, files filesys.FileSystem, dir string) (resmap.ResMap, error) {
	select {
	case kustomizeTurn <- struct{}{}:
	case <-ctx.Done():
		return nil, errBusy
	}
	built, err := await.Call(ctx, func() (built resmap.ResMap, err error) {
		defer func() { <-kustomizeTurn }()
		defer func() {
			if crash := recover(); crash != nil {
				err = errors.New("kustomize itself crashed on it; try kustomize build there")
			}
		}()
		return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, dir)
	})
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errUnfinished
	}
	return built, err
}

// rendered turns what kustomize built into objects, each with the address of
// the file that it came from.
func (l *loader) rendered(t *tree, parts []kustomization, built resmap.ResMap) (content, error) {
	var c content
	k := parts[0]
	search := newOriginSearch(t, parts)
	for _, r := range built.Resources() {
		from := search.find(r)
		if !k.asksForOrigins() {
			if err := r.SetOrigin(nil); err != nil {
				return content{}, fmt.Errorf("read what kustomize built in %s: %w", t.of(k.file), err)
			}
		}
		data, err := r.MarshalJSON()
		if err != nil {
			return content{}, fmt.Errorf("read what kustomize built in %s: %w", t.of(k.file), err)
		}
		value, err := decode.JSON(data)
		if err != nil {
			c.problem(from.address, "kustomize made something of it that cannot be read: %v", err)
			continue
		}
		c.objects = append(c.objects, object{value: value, address: from.address, files: search.influences(from, value, r)})
	}
	return c, nil
}

func (k kustomization) asksForOrigins() bool {
	return slices.Contains(texts(k.value.At("buildMetadata")), types.OriginAnnotations)
}

// An originFS shows files as they are, except that the root's kustomization
// asks for origin annotations.
type originFS struct {
	filesys.FileSystem
	root kustomization
}

// ReadFile implements filesys.FileSystem.
func (o *originFS) ReadFile(file string) ([]byte, error) {
	data, err := o.FileSystem.ReadFile(file)
	if err != nil || file != o.root.file || o.root.asksForOrigins() {
		return data, err
	}
	return withOrigins(data), nil
}

// withOrigins adds the wish for origin annotations to a kustomization. What
// cannot be read stays as it is, for kustomize to complain of.
func withOrigins(data []byte) []byte {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return data
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return data
	}
	wish := &yaml.Node{Kind: yaml.ScalarNode, Value: types.OriginAnnotations}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if list := root.Content[i+1]; root.Content[i].Value == "buildMetadata" && list.Kind == yaml.SequenceNode {
			list.Content = append(list.Content, wish)
			wish = nil
		}
	}
	if wish != nil {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: "buildMetadata"}
		root.Content = append(root.Content, key, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{wish}})
	}
	changed, err := yaml.Marshal(&document)
	if err != nil {
		return data
	}
	return changed
}
