package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/atomicfile"
)

// A cache is a folder that keeps documents by their address. What is in it may
// vanish at any time; the empty cache keeps nothing.
type cache string

func (c cache) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(string(c), hex.EncodeToString(sum[:]))
}

// get returns a document, or nil when it is not kept.
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

// put keeps a document, as a whole or not at all.
func (c cache) put(address string, data []byte) error {
	if c == "" {
		return nil
	}
	return atomicfile.Write(c.file(address), data)
}

// keep drops every document but those of the given addresses.
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
			// A file that stays costs room and no more.
			_ = os.Remove(file)
		}
	}
}
