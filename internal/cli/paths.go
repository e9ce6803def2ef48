package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/setup"
)

// declaredPaths are the declarations for the paths of a scan.
type declaredPaths struct {
	manifests, roots []config.Declaration
	// found describes what was found in folders with more than manifests.
	found []string
}

// sortPaths returns declarations for paths, named after their last element: plans for
// Terraform roots, and manifests for all other paths. Roots below such a path are planned, too.
func sortPaths(ctx context.Context, paths []string) (declaredPaths, error) {
	var sorted declaredPaths
	taken := map[string]int{}
	for _, path := range paths {
		if path == "" {
			return sorted, errors.New("a path is empty: check the variable that it comes from, or give . for the working folder")
		}
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
			if err := sorted.addFolder(ctx, name, path, absolute); err != nil {
				return sorted, err
			}
		}
	}
	return sorted, nil
}

// addFolder adds the roots below a path, and the manifests outside of them.
func (d *declaredPaths) addFolder(ctx context.Context, name, path, absolute string) error {
	info, err := os.Stat(absolute)
	if err != nil {
		return fmt.Errorf("find path: %w", err)
	}
	rest := manifestsDeclaration(name, path)
	if !info.IsDir() {
		d.manifests = append(d.manifests, rest)
		return nil
	}
	tree, err := setup.Look(ctx, absolute)
	if err == nil && tree.Bounded {
		err = errors.New(tree.Unread[len(tree.Unread)-1])
	}
	if err != nil {
		return fmt.Errorf("look for Terraform roots below %s: %w", path, err)
	}
	var roots []string
	for _, root := range tree.Roots {
		roots = append(roots, root.Dir)
		d.roots = append(d.roots, rootDeclaration(name+"/"+root.Dir, filepath.Join(path, root.Dir)))
	}
	if len(roots)+len(tree.Manifests)+len(tree.Charts)+len(tree.Closed) == 0 && len(tree.Modules) > 0 {
		return fmt.Errorf("no Terraform root and no manifest below %s: %s has files of Terraform without a lock file, backend or provider, so it is taken for a module. "+
			"To plan it, name it: driftd scan %s", path, tree.Modules[0], filepath.Join(path, tree.Modules[0]))
	}
	applied, others := appliedBy(&tree, name, path)
	d.manifests = append(d.manifests, applied.declarations...)
	exclude := excluding(slices.Concat(roots, applied.Folders, applied.Charts, applied.aside))
	left := slices.DeleteFunc(slices.Concat(tree.Manifests, tree.Charts, tree.Closed), func(dir string) bool { return applied.Contains(dir) || applied.IsNextTo(dir) })
	// The loader of the manifests reports charts, and what cannot be read, as unchecked.
	if len(roots)+len(applied.declarations) == 0 || len(left) > 0 {
		if len(exclude) > 0 {
			rest.Settings = rest.With(map[string]any{"exclude": exclude})
		}
		d.manifests = append(d.manifests, rest)
	}
	if found := describe(&tree, roots); found != "" {
		d.found = append(d.found, "in "+path+": "+found)
	}
	if others != "" {
		d.found = append(d.found, "in "+path+": "+others)
	}
	return nil
}

// excluding returns the patterns that exclude folders. In a pattern, a name with wildcards would exclude others.
func excluding(dirs []string) (patterns []string) {
	for _, dir := range dirs {
		if !strings.ContainsAny(dir, `*?[\`) {
			patterns = append(patterns, "/"+dir)
		}
	}
	return patterns
}

// An appliedFolder is what Flux or Argo CD applies from a folder, with its declaration.
type appliedFolder struct {
	setup.Applied

	declarations []config.Declaration
	// aside are folders next to those that are applied. They are not compared.
	aside []string
}

// appliedBy returns the declaration of what Flux or Argo CD applies from a tree. There is none if they apply several folders, because the
// cluster of each is not known: others lists those, or else what is not compared. Nor is there one for a tree that is not listed whole.
func appliedBy(tree *setup.Tree, name, path string) (a appliedFolder, others string) {
	switch {
	case len(tree.Flux)+len(tree.ArgoCD) == 0:
		return a, ""
	case tree.Full:
		return a, "more than 1000 folders of manifests, kustomizations, or files of Flux or Argo CD. All are compared as manifests only: to compare what Flux or Argo CD apply, scan a folder below it"
	}
	tree.ReadManifests()
	all := tree.Applied()
	if len(all) > 1 {
		dirs := make([]string, len(all))
		for i, found := range all {
			dirs[i] = filepath.Join(path, found.Dir)
		}
		return a, fmt.Sprintf("Flux or Argo CD apply several folders, which are compared as manifests only: scan that of this cluster, one of %s",
			strings.Join(dirs[:min(len(dirs), maxShown)], ", ")+more(len(dirs)-maxShown))
	}
	for _, found := range all {
		if found.Dir != "." {
			name += "/" + found.Dir
		}
		a.declarations = append(a.declarations, config.Declaration{Name: name, Type: found.Type, Timeout: config.Default().Schedule.Timeout, MaxMemory: config.Default().Schedule.MaxMemory,
			Settings: config.NewSettings("command line", map[string]any{"dir": filepath.Join(path, found.Dir)})})
		a.Applied = found
	}
	if a.aside = tree.NextTo(all); len(a.aside) > 0 {
		others = "not compared, because " + setup.WhyNextTo(all) + ": " +
			strings.Join(a.aside[:min(len(a.aside), maxShown)], ", ") + more(len(a.aside)-maxShown)
	}
	return a, others
}

// describe returns what a folder contains; "" if that is nothing but manifests.
func describe(tree *setup.Tree, roots []string) string {
	plain := slices.DeleteFunc(slices.Clone(tree.Manifests), func(dir string) bool { return slices.Contains(tree.Kustomizations, dir) })
	var parts []string
	for _, f := range []struct {
		what  string
		names []string
	}{{"Terraform root", roots}, {"Terraform module", tree.Modules}, {"kustomization", tree.Kustomizations}, {"Helm chart", tree.Charts}, {"Flux file", tree.Flux},
		{"Argo CD file", tree.ArgoCD}, {"manifest folder", plain}, {"skipped folder", tree.LeftOut}} {
		if n := len(f.names); n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", phrase.Count(n, f.what), strings.Join(f.names[:min(n, maxShown)], ", ")+more(n-maxShown)))
		}
	}
	if len(parts) == 1 && len(roots)+len(tree.LeftOut) == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// maxShown bounds the names of each sort of what was found.
const maxShown = 20

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
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
