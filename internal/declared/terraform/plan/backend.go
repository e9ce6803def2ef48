package plan

import (
	"encoding/json"
	"maps"
	"path/filepath"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/plan/rootdir"
)

// completeBackend gathers what completes the backend block, into a file: what
// the configuration says, or else what init was told in the root itself.
func (w *work) completeBackend() error {
	m := rootdir.Scan(w.root)
	w.block, w.backend = m.BackendSets, map[string]any{}
	for name, value := range w.BackendConfig {
		w.backend[name] = value
	}
	if len(w.BackendConfig)+len(w.BackendFiles) == 0 {
		w.kept = w.remembered(m)
		maps.Copy(w.backend, w.kept)
	}
	if m.Backend == "local" && len(w.BackendFiles) == 0 {
		w.locate(m, "path", "terraform.tfstate")
		w.locate(m, "workspace_dir", "terraform.tfstate.d")
	}
	return w.writeJSON("backend.json", w.backend)
}

// maxKeptConfig bounds the files of .terraform that are read.
const maxKeptConfig = 1 << 20

// remembered returns what .terraform in the root keeps of its backend, beyond
// what the block says.
func (w *work) remembered(m rootdir.Module) map[string]any {
	var kept struct {
		Backend struct {
			Type   string         `json:"type"`
			Config map[string]any `json:"config"`
		} `json:"backend"`
	}
	text, err := folder.ReadBounded(filepath.Join(w.Dir, ".terraform", "terraform.tfstate"), maxKeptConfig)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Backend.Type != m.Backend || kept.Backend.Config == nil {
		// Nobody ran init there, or for another backend.
		return map[string]any{}
	}
	maps.DeleteFunc(kept.Backend.Config, func(name string, value any) bool {
		_, set := m.BackendSets[name]
		return set || value == nil
	})
	return kept.Backend.Config
}

// locate has a local backend read the states where they are: a relative path
// begins at the root, not at its copy.
func (w *work) locate(m rootdir.Module, name, otherwise string) {
	path := otherwise
	if text, set := m.BackendSets[name]; set {
		path = text
	}
	if text, given := w.backend[name].(string); given {
		path = text
	}
	if path != "" && !filepath.IsAbs(path) {
		w.backend[name] = filepath.Join(w.Dir, path)
	}
}
