package terraform

import (
	"path"
	"path/filepath"
	"strconv"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

// Base returns the folder to which the positions of claims of the root in dir are relative: the top of its
// git work tree, or, outside of a work tree, the folder that contains the root.
func Base(dir string) string {
	if top := gitrepo.TopOf(dir); top != "" {
		return top
	}
	return filepath.Dir(dir)
}

// blocksOfRoot returns the blocks of the root that the options name.
func (r *root) blocksOfRoot(o *plan.Options) *hclsource.Root {
	return hclsource.New(o.Dir, hclsource.Options{Within: o.Within, VarFiles: r.config.Run.VarFiles, Tofu: o.ReadsTofu()})
}

// addPositions adds to each claim the position of the block of its resource: from the top of the repository, or from Base.
// A block that was removed has none.
func addPositions(claims []model.Claim, blocks *hclsource.Root, o *plan.Options) {
	at := o.Shown
	if at == "" {
		name, err := filepath.Rel(Base(o.Dir), o.Dir)
		if err != nil {
			return
		}
		at = filepath.ToSlash(name)
	}
	for i := range claims {
		if found, ok := blocks.Position(claims[i].Address); ok {
			claims[i].Position = path.Join(at, found.File) + ":" + strconv.Itoa(found.Line)
		}
	}
}
