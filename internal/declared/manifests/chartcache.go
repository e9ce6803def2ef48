package manifests

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"sync"

	"github.com/driftd/driftd/internal/box"
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
	files := w.files
	for _, v := range l.values() {
		if v.File != "" {
			files = append(files, v.File)
		}
	}
	for _, name := range files {
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

// template renders a chart, unless the cache has its objects. rendered reports whether it was rendered.
func (l *loader) template(ctx context.Context, t *tree, b *box.Box) (all content, rendered bool, err error) {
	settings, err := json.Marshal([]any{t.Repository, t.Root, l.release, l.templating, l.installing})
	if err != nil {
		return content{}, false, fmt.Errorf("read the settings of a chart: %w", err)
	}
	cache := l.charts.of(string(settings))
	key, keyed, err := l.chartKey(ctx, t)
	if ctx.Err() != nil {
		return content{}, false, fmt.Errorf("read chart: %w", ctx.Err())
	}
	if err != nil {
		return content{}, false, notRead(l.mayRender(t), "%v", err)
	}
	if known, ok := cache.get(key); ok && keyed {
		return known, false, nil
	}
	all, err = l.renderChart(ctx, t, b)
	if err == nil && keyed && len(all.problems) == 0 {
		l.charts.put(cache, key, all)
	}
	return all, true, err
}

// chartCaches has the objects of many charts. It is safe for concurrent use.
type chartCaches struct {
	mu     sync.Mutex
	caches map[string]*chartCache
	// size is the memory of the objects and limit bounds it, in bytes. A reading that needs more fails.
	size, limit int64
}

// of returns the cache of a chart with its settings.
func (c *chartCaches) of(settings string) *chartCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.caches[settings]
	if found == nil {
		found = &chartCache{}
	}
	if c.caches == nil {
		c.caches = map[string]*chartCache{}
	}
	if c.caches[settings] == nil {
		c.size += int64(len(settings))
	}
	c.caches[settings] = found
	return found
}

// put adds a rendering to a cache. When the bound is reached, all are dropped.
func (c *chartCaches) put(cache *chartCache, key chartKey, rendered content) {
	size := int64(0)
	for _, o := range rendered.objects {
		size += o.value.Weight()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.size > c.limit {
		c.caches, c.size = nil, 0
		return
	}
	cache.put(key, rendered)
}
