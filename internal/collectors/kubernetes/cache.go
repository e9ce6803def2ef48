package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/atomicfile"
)

// A cache is a folder with documents by address. Its files may be removed at any time.
// The empty cache stores nothing.
type cache string

func (c cache) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(string(c), hex.EncodeToString(sum[:]))
}

// get returns a document, or nil if it is not in the cache.
func (c cache) get(address string) []byte {
	if c == "" {
		return nil
	}
	data, err := os.ReadFile(c.file(address))
	if err != nil {
		return nil
	}
	return data
}

// put stores a document atomically.
func (c cache) put(address string, data []byte) error {
	if c == "" {
		return nil
	}
	return atomicfile.Write(c.file(address), data)
}

// keep removes all documents except those with the given addresses.
func (c cache) keep(addresses map[string]bool) {
	if c == "" {
		return
	}
	wanted := map[string]bool{}
	for address := range addresses {
		wanted[c.file(address)] = true
	}
	entries, err := os.ReadDir(string(c))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if file := filepath.Join(string(c), entry.Name()); !wanted[file] {
			// A remaining file only takes disk space.
			_ = os.Remove(file)
		}
	}
}
