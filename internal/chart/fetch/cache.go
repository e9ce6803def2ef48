package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/driftd/driftd/internal/bounded"
)

// entryName and newName match the names of files in the cache, and of those that are being written.
var (
	entryName = regexp.MustCompile(`^chart-[0-9a-f]{64}$`)
	newName   = regexp.MustCompile(`^chart-[0-9]+\.new$`)
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
		if !entryName.MatchString(e.Name()) && !newName.MatchString(e.Name()) || file == s.file(s.found) || file == s.file(s.want()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > unused {
			_ = os.Remove(file)
		}
	}
}

// cached returns the content with a SHA-256 from the cache, and marks its file as used.
func (s *Source) cached(digest string) ([]byte, bool) {
	if !pinned.MatchString("sha256:" + digest) {
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
	if err := os.MkdirAll(s.settings.Cache, 0o700); err != nil {
		return "", fmt.Errorf("cache the chart: %w", err)
	}
	made, err := os.CreateTemp(s.settings.Cache, "chart-*.new")
	if err != nil {
		return "", fmt.Errorf("cache the chart: %w", err)
	}
	_, err = made.Write(data)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), s.file(digest))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("cache the chart: %w", err), os.Remove(made.Name()))
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
