package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// declaredPaths are the declarations for the paths of a scan.
type declaredPaths struct{ manifests, roots []config.Declaration }

// sortPaths returns declarations for paths, named after their last element: plans for
// Terraform roots, and manifests for all other paths.
func sortPaths(paths []string) (declaredPaths, error) {
	var sorted declaredPaths
	taken := map[string]int{}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return sorted, fmt.Errorf("find path: %w", err)
		}
		_, err = os.Stat(absolute)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return sorted, fmt.Errorf("%s does not exist: check the path", path)
		case err != nil:
			return sorted, fmt.Errorf("find path: %w", err)
		}
		name := plainName(filepath.Base(absolute))
		if taken[name]++; taken[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, taken[name])
		}
		root, err := terraform.IsRoot(absolute)
		switch {
		case err != nil:
			return sorted, err
		case terraform.IsState(path):
			return sorted, fmt.Errorf("%s is a state: it is compared with live sources, which a configuration names "+
				"(type: terraform, engine: state); to scan by a plan, give the folder of the root", path)
		case terraform.IsConfiguration(path):
			return sorted, fmt.Errorf("%s is a file of a Terraform root: give the folder", path)
		case root:
			sorted.roots = append(sorted.roots, rootDeclaration(name, path))
		default:
			sorted.manifests = append(sorted.manifests, manifestsDeclaration(name, path))
		}
	}
	return sorted, nil
}

// rootDeclaration plans as terraform on the command line would: with the user's environment,
// home and selected workspace.
func rootDeclaration(name, path string) config.Declaration {
	settings := map[string]any{"dir": path, "pass_env": []string{"*"}, "box": false}
	for setting, variable := range map[string]string{"home": "HOME", "cli_config_file": "TF_CLI_CONFIG_FILE", "workspace": "TF_WORKSPACE"} {
		if value := os.Getenv(variable); value != "" {
			settings[setting] = value
		}
	}
	return config.Declaration{Name: name, Type: terraform.Type, Timeout: terraform.Defaults().Run.Timeout, MaxMemory: config.Default().Schedule.MaxMemory,
		Settings: config.NewSettings("command line", settings)}
}

func manifestsDeclaration(name, path string) config.Declaration {
	return config.Declaration{Name: name, Type: manifests.Definition().Type, Timeout: config.Default().Schedule.Timeout, MaxMemory: config.Default().Schedule.MaxMemory,
		Settings: config.NewSettings("command line", map[string]any{"dir": path, "label": path})}
}

// governing returns the declarations with source as the source that they govern.
func governing(list []config.Declaration, source string) []config.Declaration {
	for i := range list {
		list[i].Governs = []string{source}
	}
	return list
}
