package manifests

import (
	"os"
	"path/filepath"
	"strings"
)

// File returns the path of the file that contains the claim with the given address, relative to the
// declared folder, or "." if the declaration is a single file. ok is false if the address belongs to
// another declaration or does not refer to a file.
func (c Config) File(address string) (name string, ok bool) {
	prefix := c.label()
	info, err := os.Stat(c.Dir)
	switch {
	case err != nil:
		return "", false
	case !info.IsDir():
		return ".", prefix == "" && filepath.Base(address) == filepath.Base(c.Dir) || address == prefix
	case prefix == "":
		prefix = strings.Trim(filepath.ToSlash(filepath.Base(c.Dir)), "/.")
	}
	if prefix != "" && prefix != "." {
		if address, ok = strings.CutPrefix(address, prefix+"/"); !ok {
			return "", false
		}
	}
	name = filepath.FromSlash(address)
	return name, filepath.IsLocal(name)
}
