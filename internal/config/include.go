package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/driftd/driftd/internal/bounded"
)

// Defaults are the default keys of sources and declarations, by type.
type Defaults struct {
	// Sources maps types of sources to default keys, as in proxmox: {every: 2m, settings: {ca_file:
	// pve.pem}}. The keys of settings are merged; a list replaces a list.
	Sources map[string]any `mapstructure:"sources"`
	// Declarations maps types of declarations to default keys.
	Declarations map[string]any `mapstructure:"declarations"`

	doc *document
}

// Check returns an error for each type in the defaults that does not exist.
func (d Defaults) Check(sources, declarations []string) error {
	doc := Settings{doc: d.doc}.document()
	check := func(at string, given map[string]any, types []string) {
		for typ := range given {
			if !slices.Contains(types, typ) {
				doc.add(child(at, typ), "unknown type %q: %s", typ, oneOf(typ, types))
			}
		}
	}
	check("defaults.sources", d.Sources, sources)
	check("defaults.declarations", d.Declarations, declarations)
	return doc.err()
}

// include adds the files that the key include of the configuration file lists.
func (d *document) include() {
	list, _ := d.tree["include"].([]any)
	read := map[string]bool{}
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			continue // reported when it is decoded
		}
		at := fmt.Sprintf("include[%d]", i)
		files, err := d.included(text)
		if err != nil {
			d.add(at, "include: %v", err)
		}
		for _, file := range files {
			if !read[file] {
				read[file] = true
				d.includeFile(at, file)
			}
		}
	}
}

// included returns the files of a pattern, of a folder, or the file itself, sorted.
func (d *document) included(text string) ([]string, error) {
	name, err := absolute(text, d.dir)
	if err != nil {
		return nil, err
	}
	pattern := name
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		pattern = filepath.Join(name, "*.yaml")
	} else if !strings.ContainsAny(text, "*?[") {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist: create it, or correct the path", name)
		}
		return []string{name}, bounded.Cause(err)
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: the brackets do not close, or the end is a backslash", text)
	}
	// Glob takes a folder that cannot be read, or that is not there, for an empty one.
	for folder := filepath.Dir(pattern); ; folder = filepath.Dir(folder) {
		isPattern := strings.ContainsAny(folder, "*?[")
		folders := []string{folder}
		if isPattern {
			folders, _ = filepath.Glob(folder) // the brackets close: see above
		}
		for _, one := range folders {
			if _, err := os.ReadDir(one); err != nil && (!isPattern || !errors.Is(err, syscall.ENOTDIR)) {
				return nil, fmt.Errorf("read %s: %w", one, bounded.Cause(err))
			}
		}
		if !isPattern {
			break
		}
	}
	return slices.DeleteFunc(found, func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.IsDir()
	}), nil
}

// includeFile adds the content of a file.
func (d *document) includeFile(at, file string) {
	data, err := readFile(file)
	if err != nil {
		d.add(at, "include: read %s: %v", file, err)
		return
	}
	name := file
	if below, err := filepath.Rel(d.dir, file); err == nil && filepath.IsLocal(below) {
		name = filepath.Join(filepath.Dir(d.files[0]), below)
	}
	d.files = append(d.files, name)
	part := newDocument(name, d.dir)
	part.files = d.files
	tree := part.read(len(d.files)-1, data)
	d.problems = append(d.problems, part.problems...)
	if _, ok := tree["include"]; ok {
		d.complain(part.places["include"], "an included file cannot include others: list them in "+d.files[0])
		delete(tree, "include")
	}
	d.graft("", d.tree, tree, part.places)
}

// graft adds a tree to the one at path: lists are appended, and a value that both have is a problem. from are the places in the tree
// that is added.
func (d *document) graft(path string, into, tree map[string]any, from map[string]place) {
	for key, value := range tree {
		at := child(path, key)
		list, isList := value.([]any)
		section, isSection := value.(map[string]any)
		heldList, holdsList := into[key].([]any)
		heldSection, holdsSection := into[key].(map[string]any)
		switch {
		case into[key] == nil:
			into[key] = value
			d.adoptPlaces(at, at, value, from)
		case isList && holdsList:
			for i, item := range list {
				d.adoptPlaces(fmt.Sprintf("%s[%d]", at, len(heldList)+i), fmt.Sprintf("%s[%d]", at, i), item, from)
			}
			into[key] = append(heldList, list...)
		case isSection && holdsSection:
			d.graft(at, heldSection, section, from)
		default:
			d.complain(from[at], fmt.Sprintf("%s is set twice: %s has it already, keep one", at, d.where(at)))
		}
	}
}

// adoptPlaces sets the places of a value at path, and of what is below it, to those that it has at old in from.
func (d *document) adoptPlaces(path, old string, value any, from map[string]place) {
	if at, ok := from[old]; ok {
		d.places[path] = at
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			d.adoptPlaces(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s[%d]", old, i), item, from)
		}
	case map[string]any:
		for key, below := range value {
			d.adoptPlaces(child(path, key), child(old, key), below, from)
		}
	}
}

// applyDefaults adds the defaults of their types to sources and declarations.
func (d *document) applyDefaults() {
	for _, list := range []string{"sources", "declarations"} {
		all, _ := d.tree["defaults"].(map[string]any)
		byType, _ := all[list].(map[string]any)
		for typ, keys := range byType {
			at := "defaults." + list + "." + typ
			section, ok := keys.(map[string]any)
			if !ok {
				d.add(at, "want keys and values, such as {every: 30m}")
			}
			for _, key := range []string{"name", "type"} {
				if _, ok := section[key]; ok {
					d.add(child(at, key), "defaults have no %s: each of the %s has its own", key, list)
					delete(section, key)
				}
			}
		}
		entries, _ := d.tree[list].([]any)
		for i, entry := range entries {
			entry, _ := entry.(map[string]any)
			typ, _ := entry["type"].(string)
			keys, _ := byType[typ].(map[string]any)
			d.fill(fmt.Sprintf("%s[%d]", list, i), entry, "defaults."+list+"."+typ, keys)
		}
	}
}

// fill adds the keys that an entry at path does not have.
func (d *document) fill(path string, entry map[string]any, from string, keys map[string]any) {
	for key, value := range keys {
		held, ok := entry[key]
		heldSection, holdsSection := held.(map[string]any)
		section, isSection := value.(map[string]any)
		switch {
		case isSection && holdsSection:
			d.fill(child(path, key), heldSection, child(from, key), section)
		case !ok && isSection:
			entry[key] = maps.Clone(section)
			d.adoptPlaces(child(path, key), child(from, key), value, d.places)
		case !ok:
			entry[key] = value
			d.adoptPlaces(child(path, key), child(from, key), value, d.places)
		}
	}
}
