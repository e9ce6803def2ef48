package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// entryName and newName match the names of files in the cache, and of those that atomicfile writes.
var (
	entryName = lazyregexp.New(`^chart-[0-9a-f]{64}$`)
	newName   = lazyregexp.New(`^new-[0-9]+$`)
)

// unused is the age from which a file of the cache is in no use.
const unused = time.Hour

// prune removes old files from the cache. Other sources and other programs may use the cache: what
// was used a short time ago stays, as does any file that is not one of the cache. A file that
// remains only takes space.
func (s *Source) prune() {
	entries, err := os.ReadDir(s.settings.Cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		file := filepath.Join(s.settings.Cache, e.Name())
		if !entryName().MatchString(e.Name()) && !newName().MatchString(e.Name()) || file == s.file(s.found) || file == s.file(s.want()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > unused {
			_ = os.Remove(file)
		}
	}
}

// cached returns the content with a SHA-256 from the cache, and marks its file as used.
func (s *Source) cached(digest string) ([]byte, bool) {
	if !pinned().MatchString("sha256:" + digest) {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(s.file(digest), now, now)
	data, err := bounded.ReadRegular(s.file(digest), max(s.settings.Limit, maxManifest))
	return data, err == nil && sumOf(data) == digest
}

// keep adds content to the cache.
func (s *Source) keep(data []byte) (digest string, err error) {
	digest = sumOf(data)
	if err := atomicfile.Write(s.file(digest), data); err != nil {
		return "", fmt.Errorf("cache the chart: %w", err)
	}
	return digest, nil
}

func (s *Source) file(digest string) string {
	return filepath.Join(s.settings.Cache, "chart-"+digest)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
