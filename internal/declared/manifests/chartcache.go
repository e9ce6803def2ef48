package manifests

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// A chartCache has the objects of the last rendering of a chart, so that an unchanged chart is
// not rendered again. It is safe for concurrent use.
type chartCache struct {
	mu      sync.Mutex
	key     chartKey
	content content
	filled  bool
}

// A chartKey is a hash of the files and the values that a rendering depends on. The settings are
// those of the loader.
type chartKey [sha256.Size]byte

func (c *chartCache) get(key chartKey) (content, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return content{objects: slices.Clone(c.content.objects)}, c.filled && c.key == key
}

func (c *chartCache) put(key chartKey, rendered content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key, c.content, c.filled = key, content{objects: slices.Clone(rendered.objects)}, true
}

// chartKey returns the key of the release's chart in a tree. ok is false if a file cannot be
// read.
func (l *loader) chartKey(ctx context.Context, t *tree) (key chartKey, ok bool, err error) {
	w, err := l.chartFiles(ctx, t)
	if err != nil {
		return key, false, err
	}
	sum := sha256.New()
	for _, name := range append(w.files, l.release.Values...) {
		data, err := t.readFile(name, l.config.MaxFileSize)
		if ctx.Err() != nil {
			return key, false, fmt.Errorf("read chart: %w", ctx.Err())
		}
		if err != nil {
			return key, false, nil //nolint:nilerr // the renderer reports it
		}
		addText(sum, []byte(name))
		addText(sum, data)
	}
	return chartKey(sum.Sum(nil)), true, nil
}

// addText adds a text and its length to a hash.
func addText(sum hash.Hash, text []byte) {
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
	sum.Write(text)
}
