package manifests

import (
	"os"
	"path/filepath"
	"strings"
)

// File returns the file with a claim of a folder that is read as it is, relative to the folder;
// "." if the declaration is a single file. ok is false if the address is that of another
// declaration or of no file.
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
