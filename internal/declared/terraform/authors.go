package terraform

import (
	"context"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
	"github.com/driftd/driftd/internal/model"
)

// addAuditEvents adds to each claim the last commit that changed the files which define its
// resource. Paths of touches are relative to the root.
func (p *plans) addAuditEvents(ctx context.Context, claims []model.Claim, blocks *hclsource.Root, touches gitrepo.TouchesFunc) {
	if p.config.Lookback.Commits == 0 {
		return
	}
	files := make(map[string][]string, len(claims))
	all := map[string]bool{}
	for i := range claims {
		address := claims[i].Address
		if _, seen := files[address]; seen {
			continue
		}
		files[address] = blocks.Files(address)
		for _, file := range files[address] {
			all[file] = true
		}
	}
	found := touches(ctx, slices.Sorted(maps.Keys(all)))
	for i := range claims {
		claims[i].AuditEvents = gitrepo.AuditEvents(found, files[claims[i].Address]...)
	}
}

// touchesIn returns the touches of files in the folder dir of the work tree.
func (p *plans) touchesIn(dir string) gitrepo.TouchesFunc {
	return func(ctx context.Context, files []string) map[string]gitrepo.Touch {
		return p.workTree.Touches(ctx, dir, files)
	}
}

// touchesAt returns the touches of files in the folder dir of a commit of the repository.
func (p *plans) touchesAt(commit, dir string) gitrepo.TouchesFunc {
	return func(ctx context.Context, files []string) (found map[string]gitrepo.Touch) {
		err := p.repository.Read(ctx, commit, func(c gitrepo.Commit) error {
			found = c.TouchesIn(ctx, dir, files)
			return nil
		})
		if err != nil {
			p.env.Log.Warn("read who changed files last", "declaration", p.env.Name, "commit", commit, "err", err)
		}
		return found
	}
}
