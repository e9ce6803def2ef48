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
	"github.com/driftd/driftd/internal/remedy/yamledit"
)

// manifestFiles edits Kubernetes manifests.
type manifestFiles struct {
	settings manifests.Config
	address  string
	// last is the loader of the last scan, and sources are the files of the scan without a change.
	last    *manifests.Edit
	sources manifests.Sources
}

func newManifestFiles(d *config.Declaration, address string) (*manifestFiles, error) {
	m := &manifestFiles{settings: manifests.Defaults(), address: address}
	return m, d.Decode(&m.settings)
}

func (m *manifestFiles) dir() string { return m.settings.Dir }

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

func (m *manifestFiles) check(*model.Finding) error { return nil }

// changes returns the edit of the manifest.
func (m *manifestFiles) changes(_ context.Context, f *model.Finding) ([]change, error) {
	m.sources = m.last.Sources()
	file, line := cutLine(f.Address)
	if len(m.sources.Files) == 0 || line == 0 {
		return nil, fmt.Errorf("%s is not a place in a file of the declaration: name the folder as in the scan of the finding", f.Address)
	}
	edits := make([]yamledit.Change, len(f.Changes))
	for i := range f.Changes {
		edits[i] = yamledit.Change{Path: f.Changes[i].Path, Was: f.Changes[i].Declared, Value: f.Changes[i].Live}
	}
	source := m.sources.Files[0]
	content, err := yamledit.Object(source.Content, line, edits)
	if err != nil {
		return nil, err
	}
	return []change{{name: source.Name, shown: file, content: content}}, nil
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
