package manifests

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// An Edit loads a declaration with modified content of some of its files, without writing them. A scan uses
// it to verify a proposed edit.
type Edit struct {
	loader  *loader
	address string
	edits   map[string][]byte
	sources Sources
	objects map[model.Ref]model.Value
}

// Sources are the files that determine the objects at an address.
type Sources struct {
	// Files lists the file to which the address refers, followed by the patches and kustomizations that may
	// change its objects.
	Files []Source
	// Top is the folder that contains the files, or "" for a commit of a repository. Root is the path of
	// the declared folder or file below Top. Revision is the commit, or "" for a folder.
	Top, Root, Revision string
}

// A Source is a file and its content. Name is its path from the top of the repository or of the folder, and
// Shown is its address in findings.
type Source struct {
	Name, Shown string
	Content     []byte
}

// NewEdit returns an Edit of the declaration that the loader of reads. The keys of edits are names as in
// Source, and the values replace the content of these files. The files that determine the objects at
// address become available from Sources. ok is false if of is not a loader of this package.
func NewEdit(of declared.Loader, address string, edits map[string][]byte) (e *Edit, ok bool) {
	l, ok := of.(*loader)
	if !ok {
		return nil, false
	}
	e = &Edit{address: address, edits: edits}
	edited := *l
	edited.edit, edited.past = e, newHistoryCache()
	e.loader = &edited
	return e, true
}

// Load implements declared.Loader. It also updates the results of Sources and Objects.
func (e *Edit) Load(ctx context.Context) (model.Declaration, error) {
	d, err := e.loader.Load(ctx)
	e.objects = map[model.Ref]model.Value{}
	for i := range d.Claims {
		e.objects[model.Ref{Kind: d.Claims[i].Kind, ID: d.Claims[i].ID}] = d.Claims[i].Value
	}
	return d, err
}

// History implements declared.Historian.
func (e *Edit) History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error) {
	return e.loader.History(ctx, revision, claims)
}

// Sources returns the files that determined the objects at the address in the last Load. Files is empty if
// the declaration has no object at the address.
func (e *Edit) Sources() Sources { return e.sources }

// Objects returns the objects that the last Load declared. The caller must not modify the map.
func (e *Edit) Objects() map[model.Ref]model.Value { return e.objects }

// files returns the files with the edits. e may be nil.
func (e *Edit) files(files fs.FS) fs.FS {
	if e == nil || len(e.edits) == 0 {
		return files
	}
	return editedFS{files, e.edits}
}

// keep reads the Sources from a tree with the content of the declaration. e may be nil.
func (e *Edit) keep(t *tree, c content, limit int64) error {
	if e == nil {
		return nil
	}
	e.sources = Sources{Top: t.top, Root: t.Root, Revision: t.revision}
	var names []string
	for _, o := range c.objects {
		if o.address != e.address || isForeign(o.address) {
			continue
		}
		for _, name := range o.files {
			switch {
			case isForeign(name): // in a repository that this declaration does not edit
			case slices.Contains(names, name):
			case t.isAt(name, e.address):
				names = slices.Insert(names, 0, name)
			default:
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		text, err := t.readFile(name, limit)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.address(name), bounded.Cause(err))
		}
		e.sources.Files = append(e.sources.Files, Source{name, t.address(name), text})
	}
	return nil
}

// isAt reports whether an address is in a file.
func (p place) isAt(name, address string) bool {
	of := p.address(name)
	return address == of || len(address) > len(of) && address[:len(of)] == of && address[len(of)] == ':'
}

// An editedFS is a file system in which some files have other content.
type editedFS struct {
	fs.FS
	edits map[string][]byte
}

// Open implements fs.FS.
func (e editedFS) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	text, edited := e.edits[name]
	if err != nil || !edited {
		return f, err
	}
	return &editedFile{f, bytes.NewReader(text)}, nil
}

// Stat implements fs.StatFS.
func (e editedFS) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(e.FS, name)
	if text, edited := e.edits[name]; err == nil && edited {
		return editedInfo{info, int64(len(text))}, nil
	}
	return info, err
}

// ReadDir implements fs.ReadDirFS.
func (e editedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(e.FS, name) }

// An editedFile is a file with other content.
type editedFile struct {
	fs.File
	content *bytes.Reader
}

// Read implements fs.File.
func (f *editedFile) Read(p []byte) (int, error) { return f.content.Read(p) }

// Stat implements fs.File.
func (f *editedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return editedInfo{info, f.content.Size()}, err
}

// An editedInfo is the info of a file with another size.
type editedInfo struct {
	fs.FileInfo
	size int64
}

// Size implements fs.FileInfo.
func (i editedInfo) Size() int64 { return i.size }
