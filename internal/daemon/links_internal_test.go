package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/links"
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
		"Terraform":         {source, model.Finding{Key: live, Declaration: "shop", Address: "lab_vm.web", Position: "web.yaml:3"}, []model.Link{page, line}, nil},
		"no position":       {source, model.Finding{Key: live, Declaration: "shop", Address: `lab_vm.web["a:3"]`}, []model.Link{page}, nil},
		"another host":      {source, model.Finding{Key: live, Declaration: "shop", Address: "web.yaml:3"}, []model.Link{page, line}, []model.Link{elsewhere}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := []model.Finding{tc.finding}
			view{sources: []sourceView{tc.source}, declarations: []declarationView{declaration}}.link(findings, []model.Finding{{Address: tc.finding.Address, Position: tc.finding.Position, Links: tc.before}})
			if diff := cmp.Diff(tc.want, findings[0].Links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

// inventory derives a declaration from the source pve, whose objects its addresses name.
type inventory struct{}

func (inventory) From() string { return "pve" }

func (inventory) Derive(model.Snapshot) (model.Declaration, error) { return model.Declaration{}, nil }

func (inventory) Object(address string) (model.Ref, bool) {
	id, ok := strings.CutPrefix(address, "virtual-machines/")
	return model.Ref{Kind: "proxmox/qemu", ID: id}, ok
}

// TestClaimLinks checks the links of the sides of a dispute.
func TestClaimLinks(t *testing.T) {
	t.Parallel()
	const commit, newer = "0123456789abcdef0123456789abcdef01234567", "9999999999999999999999999999999999999999"
	source := sourceView{Source: Source{Name: "pve", Collector: linked{}}, collected: collected{snapshot: model.Snapshot{Source: "pve", Resources: []model.Resource{{Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "6"}}}}}}
	at := func(commit string) view {
		return view{sources: []sourceView{source}, declarations: []declarationView{{Declaration{Name: "infra"}, loaded{declaration: model.Declaration{Repository: "https://github.com/acme/infra", Revision: commit}}},
			{Declaration{Name: "intent", Deriver: inventory{}}, loaded{}}}}
	}
	disputed := func(basis string) []model.Finding {
		return []model.Finding{{ID: "1", Basis: basis, Changes: []model.Change{{Path: "memory", Claims: []model.ClaimedValue{
			{Declaration: "infra", Address: "lab_vm.web", Position: "main.tf:3"}, {Declaration: "intent", Address: "virtual-machines/6"},
			{Declaration: "intent", Address: "virtual-machines/7"}, {Declaration: "intent", Address: "virtual-machines"}, {Declaration: "gone", Address: "a.yaml:1"}}}}}}
	}
	urls := func(findings []model.Finding) (all []string) {
		for _, c := range findings[0].Changes[0].Claims {
			all = append(all, c.URL)
		}
		return all
	}
	first, later, changed := disputed("1"), disputed("1"), disputed("2")
	at(commit).link(first, nil)
	at(newer).link(later, first)
	at(newer).link(changed, first)
	for name, tc := range map[string]struct {
		findings []model.Finding
		commit   string
	}{"first": {first, commit}, "a newer commit": {later, commit}, "another value": {changed, newer}} {
		if diff := cmp.Diff([]string{"https://github.com/acme/infra/blob/" + tc.commit + "/main.tf#L3", "https://live.example.org/6", "", "", ""}, urls(tc.findings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPages checks the web pages that a configuration names.
func TestPages(t *testing.T) {
	t.Parallel()
	parse := func(text string, names []string) links.Template {
		page, err := links.Parse(text, names)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	server := model.Key{Source: "cloud", Kind: "openstack/server", ID: "7f"}
	source := sourceView{Source: Source{Name: "cloud", Pages: []Page{{"openstack/volume", parse("https://h.example.org/volumes/{id}/", links.OfResource())},
		{"openstack/*", parse("https://h.example.org/{kind}/{id}/?q={name}", links.OfResource())}}},
		collected: collected{snapshot: model.Snapshot{Source: "cloud", Resources: []model.Resource{{Key: server}}}}}
	page := parse("https://git.example.org/shop/src/commit/{commit}/{path}#L{line}", links.OfDeclaration())
	commit := strings.Repeat("a", 40)
	declaration := declarationView{Declaration{Name: "shop", Page: &page}, loaded{declaration: model.Declaration{Repository: "https://git.example.org/shop", Revision: commit}}}
	findings := []model.Finding{{Key: server, Name: "web 1", Declaration: "shop", Address: "a b.yaml:3"}}
	view{sources: []sourceView{source}, declarations: []declarationView{declaration}}.link(findings, nil)
	want := []model.Link{{To: model.LinkLive, URL: "https://h.example.org/server/7f/?q=web%201"},
		{To: model.LinkDeclared, URL: "https://git.example.org/shop/src/commit/" + commit + "/a%20b.yaml#L3"}}
	if diff := cmp.Diff(want, findings[0].Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}
