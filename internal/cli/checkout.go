package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
)

// A checkout is the git work tree in which a pipeline scans.
type checkout struct {
	// top is its top folder, or the working directory if that is in no work tree.
	top string
	// folders are those that the positions of a declaration are relative to, by its name.
	folders map[string]string
	// other is the folder of declarations that are not in folders; "" if their positions are
	// nowhere in the checkout.
	other string
}

// checkoutOf returns the checkout for the declarations of a configuration. A repository that a declaration reads is the
// checkout if it is the origin of the work tree.
func checkoutOf(list []config.Declaration) (*checkout, error) {
	c, err := newCheckout()
	if err != nil {
		return nil, err
	}
	// A repository without a readable origin is not that of a declaration.
	origin, _ := gitrepo.OriginOf(c.top)
	for i := range list {
		if dir := positionsIn(&list[i], origin); dir != "" {
			c.folders[list[i].Name] = dir
		}
	}
	return c, nil
}

// checkoutOfPaths returns the checkout for the declarations of paths: the addresses of manifests begin with the path that
// was given.
func checkoutOfPaths(roots []config.Declaration) (*checkout, error) {
	c, err := newCheckout()
	if err != nil {
		return nil, err
	}
	if c.other, err = os.Getwd(); err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	for i := range roots {
		c.folders[roots[i].Name] = positionsIn(&roots[i], gitrepo.Origin{})
	}
	return c, nil
}

func newCheckout() (*checkout, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if top := gitrepo.TopOf(here); top != "" {
		here = top
	}
	return &checkout{top: here, folders: map[string]string{}}, nil
}

// placeOf returns where a declaration is, and its label. An error is reported where the declaration is opened.
func placeOf(d *config.Declaration) (place gitrepo.Place, label string, err error) {
	switch d.Type {
	case terraform.Type:
		settings, err := decoded(d, terraform.Defaults())
		return settings.Place, "", err
	case manifests.Type:
		settings, err := decoded(d, manifests.Defaults())
		return settings.Place, settings.Label, err
	case manifests.FluxType:
		settings, err := decoded(d, manifests.FluxDefaults())
		return settings.Place, "", err
	case manifests.HelmType:
		settings, err := decoded(d, manifests.HelmDefaults())
		return settings.Place, "", err
	case manifests.ArgoCDType:
		settings, err := decoded(d, manifests.ArgoCDDefaults())
		return settings.Place, "", err
	}
	return place, label, nil
}

// decoded returns the settings of a declaration over their defaults.
func decoded[C any](d *config.Declaration, settings C) (C, error) {
	err := d.Decode(&settings)
	return settings, err
}

// positionsIn returns the folder that the positions of a declaration are relative to; "" if it is unknown.
func positionsIn(d *config.Declaration, origin gitrepo.Origin) string {
	place, label, err := placeOf(d)
	switch {
	case err != nil, label != "":
		return ""
	case place.Git != "" && origin.Is(place.Git):
		return origin.Top
	case place.Dir == "":
		return ""
	case d.Type == terraform.Type:
		return terraform.Base(place.Dir)
	case d.Type == manifests.FluxType:
		return cmp.Or(gitrepo.TopOf(place.Dir), place.Dir)
	}
	if info, err := os.Stat(place.Dir); err == nil && !info.IsDir() {
		return filepath.Dir(filepath.Dir(place.Dir))
	}
	return filepath.Dir(place.Dir)
}

// file implements report.Options.Files.
func (c *checkout) file(declaration, file string) (string, bool) {
	at := filepath.FromSlash(file)
	if !filepath.IsAbs(at) {
		dir := c.folder(declaration)
		if dir == "" {
			return "", false
		}
		at = filepath.Join(dir, at)
	}
	if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	name, err := filepath.Rel(c.top, at)
	return filepath.ToSlash(name), err == nil && filepath.IsLocal(name)
}

// folder returns the folder of a declaration, or of the pattern that it is a member of.
func (c *checkout) folder(declaration string) string {
	for name := declaration; ; {
		if dir, known := c.folders[name]; known {
			return dir
		}
		end := strings.LastIndexByte(name, '/')
		if end < 0 {
			return c.other
		}
		name = name[:end]
	}
}
