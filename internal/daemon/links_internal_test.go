package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

type linked struct{}

func (linked) Collect(context.Context) (model.Snapshot, error) { return model.Snapshot{}, nil }

func (linked) Link(r model.Ref) string { return "https://live.example.org/" + r.ID }

func TestLinks(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	live, gone := model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "101"}, model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "102"}
	page := model.Link{To: model.LinkLive, URL: "https://live.example.org/101"}
	line := model.Link{To: model.LinkDeclared, URL: "https://github.com/acme/shop/blob/" + commit + "/web.yaml#L3"}
	old := model.Link{To: model.LinkDeclared, URL: strings.Replace(line.URL, commit, strings.Repeat("9", 40), 1)}
	elsewhere := model.Link{To: model.LinkDeclared, URL: strings.Replace(old.URL, "github.com", "gitlab.com", 1)}
	source := sourceView{Source: Source{Name: "pve", Collector: linked{}}, collected: collected{snapshot: model.Snapshot{Source: "pve", Resources: []model.Resource{{Key: live}}}}}
	declaration := declarationView{Declaration{Name: "shop"}, loaded{declaration: model.Declaration{Repository: "https://github.com/acme/shop", Revision: commit}}}
	failed := source
	failed.err = errors.New("down")
	for name, tc := range map[string]struct {
		source  sourceView
		finding model.Finding
		want    []model.Link
		before  []model.Link
	}{
		"both":              {source, model.Finding{Key: live, Declaration: "shop", Address: "web.yaml:3"}, []model.Link{page, line}, nil},
		"missing":           {source, model.Finding{Key: gone, Declaration: "shop", Address: "web.yaml:3"}, []model.Link{line}, nil},
		"not declared":      {source, model.Finding{Key: live, Declaration: "shop"}, []model.Link{page}, nil},
		"source not read":   {failed, model.Finding{Key: live}, nil, nil},
		"links of the past": {source, model.Finding{Key: gone, Links: []model.Link{page}}, nil, []model.Link{page}},
		"not read again":    {failed, model.Finding{Key: live}, []model.Link{page}, []model.Link{page}},
		"a newer commit":    {source, model.Finding{Key: live, Declaration: "shop", Address: "web.yaml:3"}, []model.Link{page, old}, []model.Link{page, old}},
		"another value":     {source, model.Finding{Key: live, Declaration: "shop", Address: "web.yaml:3", Basis: "2"}, []model.Link{page, line}, []model.Link{page, old}},
		"another host":      {source, model.Finding{Key: live, Declaration: "shop", Address: "web.yaml:3"}, []model.Link{page, line}, []model.Link{elsewhere}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := []model.Finding{tc.finding}
			view{sources: []sourceView{tc.source}, declarations: []declarationView{declaration}}.link(findings, []model.Finding{{Address: tc.finding.Address, Links: tc.before}})
			if diff := cmp.Diff(tc.want, findings[0].Links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}
