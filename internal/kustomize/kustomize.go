// Package kustomize runs kustomize, with the changes to a kustomization that an object of Flux can contain.
package kustomize

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Build builds the kustomization in a folder. It runs no plugins or commands.
func Build(files filesys.FileSystem, dir string, restrictions types.LoadRestrictions) (built resmap.ResMap, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = errors.New("kustomize crashed; run kustomize build in its folder")
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = restrictions
	return krusty.MakeKustomizer(options).Run(files, dir)
}

// Changes are the fields of a Kustomization of Flux, and of a post-renderer of a HelmRelease, that change a kustomization. Older API
// versions have three fields for patches.
type Changes struct {
	Patches               []patch          `json:"patches"`
	PatchesStrategicMerge []map[string]any `json:"patchesStrategicMerge"`
	PatchesJSON6902       []jsonPatch      `json:"patchesJson6902"`
	Images                []types.Image    `json:"images"`
}

// A patch has the fields of types.Patch that the API of Flux has: none of them is a path.
type patch struct {
	Patch  string          `json:"patch"`
	Target *types.Selector `json:"target"`
}

type jsonPatch struct {
	Patch  []map[string]any `json:"patch"`
	Target *types.Selector  `json:"target"`
}

// Apply applies the changes to a kustomization.
func (c *Changes) Apply(k *types.Kustomization) error {
	patches, err := c.patches(k.Patches)
	if err != nil {
		return err
	}
	k.Patches = patches
	for _, image := range c.Images {
		if i := slices.IndexFunc(k.Images, func(known types.Image) bool { return known.Name == image.Name }); i >= 0 {
			k.Images[i] = image
		} else {
			k.Images = append(k.Images, image)
		}
	}
	return nil
}

// patches returns the patches of the kustomization and the changes, in the order in which kustomize applies them.
func (c *Changes) patches(own []types.Patch) ([]types.Patch, error) {
	var all []types.Patch
	for _, patch := range c.PatchesStrategicMerge {
		text, err := yaml.Marshal(patch)
		if err != nil {
			return nil, fmt.Errorf("write patch: %w", err)
		}
		all = append(all, types.Patch{Patch: string(text)})
	}
	all = append(all, own...)
	for _, p := range c.Patches {
		all = append(all, types.Patch{Patch: p.Patch, Target: p.Target})
	}
	for _, p := range c.PatchesJSON6902 {
		text, err := yaml.Marshal(p.Patch)
		if err != nil {
			return nil, fmt.Errorf("write patch: %w", err)
		}
		all = append(all, types.Patch{Patch: string(text), Target: p.Target})
	}
	return all, nil
}
