package plan

import (
	"encoding/json"
	"maps"
	"path/filepath"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

// completeBackend writes a file with the settings that complete the backend block: those of the
// configuration, or else those of the last init in the root itself.
func (w *work) completeBackend() error {
	m := workcopy.Scan(w.root)
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

// maxKeptConfig bounds the files of .terraform that are read, in bytes.
const maxKeptConfig = 1 << 20

// remembered returns the backend settings of the last init in the root, from .terraform, without
// those in the block.
func (w *work) remembered(m workcopy.Module) map[string]any {
	var kept struct {
		Backend struct {
			Type   string         `json:"type"`
			Config map[string]any `json:"config"`
		} `json:"backend"`
	}
	text, err := folder.ReadBounded(filepath.Join(w.Dir, ".terraform", "terraform.tfstate"), maxKeptConfig)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Backend.Type != m.Backend || kept.Backend.Config == nil {
		// There was no init, or one with another backend.
		return map[string]any{}
	}
	maps.DeleteFunc(kept.Backend.Config, func(name string, value any) bool {
		_, set := m.BackendSets[name]
		return set || value == nil
	})
	return kept.Backend.Config
}

// locate makes a path of a local backend absolute: a relative path is relative to the root, not to
// its copy.
func (w *work) locate(m workcopy.Module, name, otherwise string) {
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
