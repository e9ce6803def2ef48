package workcopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/driftd/driftd/internal/declared/folder"
)

// An Installed is a module that init installed.
type Installed struct {
	// Key is the path of module calls, such as "network.subnets".
	Key string
	// Dir is the folder of the module, absolute or relative to the root.
	Dir string
}

// maxList bounds the list of modules, in bytes. 2,000 modules have about 1 MiB.
const maxList = 16 << 20

// Modules returns the modules in the file list, which init writes, except the root itself. If the file does
// not exist, because the root has no modules, Modules returns nil.
func Modules(list string) ([]Installed, error) {
	text, err := folder.ReadBounded(list, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of modules: %w", err)
	}
	var manifest struct{ Modules []Installed }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("read list of modules: %w", err)
	}
	var modules []Installed
	for _, m := range manifest.Modules {
		if m.Key != "" {
			modules = append(modules, m)
		}
	}
	return modules, nil
}
