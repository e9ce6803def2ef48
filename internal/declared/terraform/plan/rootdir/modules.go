package rootdir

import (
	"encoding/json"
	"os"
)

// Modules reads the list that init keeps of the modules of a root: their
// folders by key ("network.subnets"), relative to the root.
func Modules(list string) map[string]string {
	text, err := os.ReadFile(list)
	if err != nil {
		// A root without modules has none.
		return nil
	}
	var manifest struct {
		Modules []struct{ Key, Dir string }
	}
	if json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	dirs := map[string]string{}
	for _, m := range manifest.Modules {
		dirs[m.Key] = m.Dir
	}
	return dirs
}
