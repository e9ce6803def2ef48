package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/declared/terraform/hcledit"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// rootFiles edits the configuration of a Terraform root.
type rootFiles struct {
	settings terraform.Config
	// last is the loader of the last scan, and before that of the scan without a change.
	last, before *terraform.Edit
}

func newRootFiles(d *config.Declaration) (*rootFiles, error) {
	r := &rootFiles{settings: terraform.Defaults()}
	return r, d.Decode(&r.settings)
}

func (r *rootFiles) place() place {
	at := place{dir: r.settings.Dir, path: r.settings.Path}
	if r.before != nil {
		at.revision = r.before.Sources().Revision
	}
	return at
}

func (r *rootFiles) edited(of declared.Loader, c *change) (declared.Loader, error) {
	edits := map[string][]byte{}
	if c != nil {
		edits[path.Base(c.name)] = c.content
	}
	var ok bool
	if r.last, ok = terraform.NewEdit(of, edits); !ok {
		return nil, errors.New("the declaration is a Terraform state, and has no files to edit")
	}
	return r.last, nil
}

// changes returns the edit of a resource block, or a new file with an import block.
func (r *rootFiles) changes(ctx context.Context, f *model.Finding) ([]change, error) {
	r.before = r.last
	if f.Verdict == model.Unmanaged {
		return r.imports(ctx, f)
	}
	edits := make([]hcledit.Change, len(f.Changes))
	for i := range f.Changes {
		edits[i] = hcledit.Change{Path: f.Changes[i].Path, Was: f.Changes[i].Declared, Value: f.Changes[i].Live}
	}
	name, content, err := hcledit.Resource(r.before.Sources().Files, f.Address, edits)
	if err != nil {
		return nil, err
	}
	return []change{r.change(name, content)}, nil
}

// imports returns a new file with an import block and the configuration that the CLI generates for
// it.
func (r *rootFiles) imports(ctx context.Context, f *model.Finding) ([]change, error) {
	tables, err := mapping.Load(r.settings.Mappings...)
	if err != nil {
		return nil, err
	}
	found, ok := tables.Import(model.Ref{Kind: f.Kind, ID: f.Key.ID}, f.Place, f.Name)
	if !ok {
		return nil, fmt.Errorf("no mapping table has the import ID of %s resources", f.Kind)
	}
	c := r.change("import_"+found.Name+".tf", nil)
	c.added = true
	if _, taken := r.before.Sources().Files[path.Base(c.name)]; taken || hcledit.Has(r.before.Sources().Files, found.Type+"."+found.Name) {
		return nil, fmt.Errorf("the root has a resource %s.%s or a file %s already", found.Type, found.Name, path.Base(c.name))
	}
	resource, err := r.before.Generate(ctx, found)
	if err != nil {
		return nil, fmt.Errorf("generate the configuration: %w", err)
	}
	c.content = []byte(found.Block() + "\n" + resource)
	return []change{c}, nil
}

// change returns a change of a file in the folder of the root.
func (r *rootFiles) change(name string, content []byte) change {
	shown := path.Join(r.before.Sources().Path, name)
	if dir := r.settings.Dir; dir != "" {
		shown = filepath.Join(dir, name)
	}
	return change{name: path.Join(r.within(), name), shown: shown, content: content}
}

// within returns the path of the root from the top of its repository, or of its folder.
func (r *rootFiles) within() string {
	sources := r.before.Sources()
	if sources.Dir == "" {
		return sources.Path
	}
	dir, err := filepath.EvalSymlinks(sources.Dir)
	if err != nil {
		return "."
	}
	relative, err := filepath.Rel(gitrepo.TopOf(dir), dir)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(relative)
}

// check returns an error unless the plan with a change proves it.
func (r *rootFiles) check(f *model.Finding) error {
	outcome := r.last.Outcome()
	action := outcome.Actions[f.Address]
	imports := outcome.Import == 1 && outcome.Add+outcome.Change+outcome.Destroy+len(outcome.Actions) == 0
	switch {
	case r.last.Sources().Revision != r.before.Sources().Revision:
		return errNewer
	case !outcome.Complete:
		return fmt.Errorf("the plan with the change is not complete: %s", outcome.Reason)
	case f.Verdict == model.Unmanaged && !imports:
		return fmt.Errorf("the plan with the change says: %s; it must say: 1 to import, 0 to add, 0 to change, 0 to destroy", outcome)
	case f.Verdict != model.Unmanaged && (action != "" || addsTo(r.before.Outcome(), outcome)):
		return fmt.Errorf("the plan with the change says: %s", outcome)
	}
	return nil
}

// addsTo reports whether a plan has an action that the plan before does not have.
func addsTo(before, now terraform.Outcome) bool {
	for address, action := range now.Actions {
		if before.Actions[address] != action {
			return true
		}
	}
	return false
}

// errNewer is the error of a scan with a change that read another commit than the one without.
var errNewer = errors.New("the repository has a newer commit now: try again")

// branch returns a branch with a change. Each file that the plan could read must be as at HEAD: a
// function of the configuration may read any of them.
func (r *rootFiles) branch(c *change) gitrepo.NewBranch {
	sources := r.last.Sources()
	b := gitrepo.NewBranch{Dir: sources.Dir, Parent: sources.Revision, File: c.name, Content: c.content, Added: c.added}
	if b.Dir == "" {
		b.Dir = "."
		return b
	}
	b.Checked, b.Reads, b.Outside = []string{"."}, sources.Reads, sources.Outside
	return b
}
