package manifests

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
)

// openBox returns a box for the input of this declaration. network reports whether builds in
// it may fetch remote bases.
func (l *loader) openBox(network bool) *box.Box {
	return l.env.Boxes.Open(box.Limits{Memory: l.env.MaxMemory, File: l.config.MaxFileSize, Network: network})
}

// kustomizations renders the kustomizations in dirs that are no base of another one. One that
// cannot be built is a problem.
func (l *loader) kustomizations(ctx context.Context, t *tree, dirs []string) (all content, err error) {
	b := l.openBox(l.config.AllowNetwork)
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, dir := range roots(t.kustomize, mounted(dirs)) {
		if err := ctx.Err(); err != nil {
			return content{}, fmt.Errorf("build %s: %w", t.of(dir), err)
		}
		rendered, err := l.render(ctx, t, b, dir)
		if err == nil {
			err = rendered.takeMemory(ctx)
		}
		if err != nil {
			return content{}, err
		}
		all.add(rendered)
	}
	return all, nil
}

// mounted returns paths below mountPoint.
func mounted(names []string) []string {
	absolute := make([]string, len(names))
	for i, name := range names {
		absolute[i] = path.Join(mountPoint, name)
	}
	return absolute
}

// of returns the address of an absolute path below mountPoint.
func (t *tree) of(absolute string) string {
	if name, ok := within(absolute); ok {
		return t.address(name)
	}
	return absolute
}

// render builds one kustomization in the box.
func (l *loader) render(ctx context.Context, t *tree, b *box.Box, dir string) (content, error) {
	var made packed
	err := b.Do(ctx, t.files, buildJob, jobArgs{Place: t.place, Name: dir, Limit: l.config.MaxFileSize, Network: b.Limits().Network}, &made)
	address := t.of(readKustomization(t.kustomize, dir).file)
	return l.unpacked(ctx, "kustomize", address, made, err)
}

// parseFile parses one file in the box.
func (l *loader) parseFile(ctx context.Context, t *tree, b *box.Box, name string) (content, error) {
	var made packed
	err := b.Do(ctx, t.files, parseJob, jobArgs{Place: t.place, Name: name, Limit: l.config.MaxFileSize}, &made)
	return l.unpacked(ctx, "reading it", t.address(name), made, err)
}

// unpacked returns the result of a job, or the problem of a file whose job failed. what is
// the subject of the problem.
func (l *loader) unpacked(ctx context.Context, what, address string, made packed, err error) (content, error) {
	if ctx.Err() != nil {
		return content{}, fmt.Errorf("read %s: %w", address, ctx.Err())
	}
	if err == nil && made.weight() > l.env.MaxMemory {
		err = box.ErrMemory
	}
	if err == nil {
		return made.content()
	}
	var c content
	switch {
	case errors.Is(err, box.ErrMemory):
		err = addSetting(err, "max_memory of the declaration")
	case errors.Is(err, box.ErrTime):
		err = addSetting(err, "timeout in the declaration's settings")
	}
	c.problem(address, "%s %v", what, err)
	return c, nil
}

func addSetting(err error, setting string) error {
	return fmt.Errorf("%w; raise %s, or exclude it", err, setting)
}

// A packed is a content in the encoding for the box.
type packed struct {
	Objects  []packedObject
	Problems []packedProblem
}

// A packedProblem is a model.Problem with all of its fields.
type packedProblem struct {
	Address, Reason, Source string
	Bounded                 bool
	Extents                 []model.Extent
}

type packedObject struct {
	JSON      []byte
	Address   string
	Files     []string
	Variables []string
	Again     [][]byte
	Chance    string
}
