package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/members"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/phrase"
)

// declaredPaths are the declarations for the paths of a scan.
type declaredPaths struct {
	manifests, roots []config.Declaration
	// found describes the folders below which roots were found.
	found []string
}

// sortPaths returns declarations for paths, named after their last element: plans for
// Terraform roots, and manifests for all other paths. Roots below such a path are planned, too.
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
		name := config.NameOf(filepath.Base(absolute))
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
			if err := sorted.addFolder(name, path, absolute); err != nil {
				return sorted, err
			}
		}
	}
	return sorted, nil
}

// addFolder adds the roots below a path, and the manifests outside of them.
func (d *declaredPaths) addFolder(name, path, absolute string) error {
	info, err := os.Stat(absolute)
	if err != nil {
		return fmt.Errorf("find path: %w", err)
	}
	var roots []string
	if info.IsDir() {
		if roots, err = rootsBelow(absolute); err != nil {
			return fmt.Errorf("look for Terraform roots below %s: %w", path, err)
		}
	}
	rest := manifestsDeclaration(name, path)
	if len(roots) == 0 {
		d.manifests = append(d.manifests, rest)
		return nil
	}
	var exclude []string
	for _, root := range roots {
		d.roots = append(d.roots, rootDeclaration(name+"/"+root, filepath.Join(path, root)))
		if !strings.ContainsAny(root, `*?[\`) { // in a pattern, such a name would exclude others
			exclude = append(exclude, "/"+root)
		}
	}
	found := phrase.Count(len(roots), "Terraform root")
	if hasManifests(absolute, roots) {
		rest.Settings = rest.With(map[string]any{"exclude": exclude})
		d.manifests = append(d.manifests, rest)
		found += " and manifests"
	}
	d.found = append(d.found, fmt.Sprintf("%s in %s: %s", found, path, strings.Join(roots[:min(len(roots), maxShown)], ", ")+more(len(roots)-maxShown)))
	return nil
}

// maxShown bounds the roots that are named.
const maxShown = 20

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// rootsBelow returns the roots at any depth below a folder, relative to it.
func rootsBelow(folder string) ([]string, error) {
	pattern, err := members.Parse("**")
	if err != nil {
		return nil, err
	}
	isRoot := terraform.Definition().IsMember
	return pattern.Find(os.DirFS(folder), func(fsys fs.FS, dir string) (bool, error) { return isRoot(fsys, dir, true) })
}

// hasManifests reports whether a folder has a file outside of the roots that looks like a manifest or a kustomization, or cannot be read.
func hasManifests(folder string, roots []string) bool {
	errFound := errors.New("found")
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || slices.Contains(roots, name)):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if is, err := manifests.Resembles(files, name); is || err != nil {
			return errFound
		}
		return nil
	})
	return err != nil
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
