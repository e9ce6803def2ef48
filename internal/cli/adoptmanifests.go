package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy/yamledit"
)

// manifestFiles edits Kubernetes manifests.
type manifestFiles struct {
	settings manifests.Config
	address  string
	// last is the loader of the last scan. sources and objects are those of the scan without a change.
	last    *manifests.Edit
	sources manifests.Sources
	objects map[model.Ref]model.Value
	// kinds returns the kinds of the live system, after a scan.
	kinds func() map[string]*model.Kind
}

func newManifestFiles(d *config.Declaration, address string, kinds func() map[string]*model.Kind) (*manifestFiles, error) {
	m := &manifestFiles{settings: manifests.Defaults(), address: address, kinds: kinds}
	return m, d.Decode(&m.settings)
}

func (m *manifestFiles) place() place {
	return place{m.settings.Dir, m.settings.Path, m.sources.Revision}
}

func (m *manifestFiles) edited(of declared.Loader, c *change) (declared.Loader, error) {
	edits := map[string][]byte{}
	if c != nil {
		edits[c.name] = c.content
	}
	var ok bool
	if m.last, ok = manifests.NewEdit(of, m.address, edits); !ok {
		return nil, errors.New("the declaration has no files that can be edited")
	}
	return m.last, nil
}

// changes returns the edit of the manifest, and those of the patches that may decide instead of it.
func (m *manifestFiles) changes(_ context.Context, f *model.Finding) ([]change, error) {
	var schema *model.Schema
	if kind := m.kinds()[f.Kind]; kind != nil {
		schema = kind.Schema
	}
	m.sources, m.objects = m.last.Sources(), m.last.Objects()
	file, line := cutLine(f.Address)
	if strings.Contains(file, "//") {
		return nil, fmt.Errorf("%s is not in the repository of the declaration: change it there", f.Address)
	}
	if len(m.sources.Files) == 0 || line == 0 {
		return nil, fmt.Errorf("%s is not a place in a file of the declaration: name the folder as in the scan of the finding", f.Address)
	}
	base := m.sources.Files[0]
	var all []change
	content, err := yamledit.Object(base.Content, line, fieldEdits(f, schema))
	if err == nil {
		all = append(all, change{name: base.Name, shown: file, content: content})
	}
	for _, source := range m.sources.Files[1:] {
		for _, edited := range patchEdits(source, base, line, f, schema) {
			all = append(all, change{name: source.Name, shown: source.Shown, content: edited})
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// check returns an error if a change also changes what other objects declare: overlays may share a
// base.
func (m *manifestFiles) check(f *model.Finding) error {
	if m.last.Sources().Revision != m.sources.Revision {
		return errNewer
	}
	now := m.last.Objects()
	for ref, value := range m.objects {
		if after, ok := now[ref]; ref != (model.Ref{Kind: f.Kind, ID: f.Key.ID}) && (!ok || !after.Equal(value)) {
			return fmt.Errorf("the change also changes %s %s", phrase.Kind(ref.Kind), ref.ID)
		}
	}
	if len(now) != len(m.objects) {
		return errors.New("the change adds or removes objects")
	}
	return nil
}

// branch returns a branch with a change. The files that determine the object must be as at HEAD.
func (m *manifestFiles) branch(c *change) gitrepo.NewBranch {
	b := gitrepo.NewBranch{Dir: m.sources.Top, Parent: m.sources.Revision, File: c.name, Content: c.content}
	if b.Dir == "" {
		b.Dir = "."
		return b
	}
	b.Checked = append(b.Checked, m.sources.Root)
	for _, source := range m.sources.Files {
		b.Checked = append(b.Checked, source.Name)
	}
	return b
}

// cutLine splits an address into file and line; the line is 0 if it has none.
func cutLine(address string) (file string, line int) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return address, 0
	}
	line, err := strconv.Atoi(address[i+1:])
	if err != nil {
		return address, 0
	}
	return address[:i], line
}
