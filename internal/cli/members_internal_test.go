package cli

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/gitrepo/gittest"
)

// An estate of declarations with patterns, in a folder.
type patterns struct {
	*testing.T

	dir string
}

func (p *patterns) write(name, text string) {
	p.Helper()
	file := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
}

// load loads all declarations of the estate at the same time.
func (p *patterns) load() {
	p.Helper()
	cfg, err := config.Load(filepath.Join(p.dir, "driftd.yaml"), nil)
	if err != nil {
		p.Fatal(err)
	}
	around := newSurroundings(checkSealer(), cfg, box.NewPool(), cacheDir(cfg.StateDir), slog.New(slog.DiscardHandler))
	estate, err := newEstate(around.expand(p.Context(), cfg), around)
	if err != nil {
		p.Fatal(err)
	}
	var loading sync.WaitGroup
	for _, d := range estate.Declarations {
		loading.Go(func() {
			if got, err := d.Load(p.Context()); err != nil || len(got.Claims) != 1 {
				p.Errorf("%s has %d claims: %v", d.Name, len(got.Claims), err)
			}
		})
	}
	loading.Wait()
}

// TestOneClone checks that the members of a declaration have one clone, which has only them.
func TestOneClone(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	remote := gittest.New(t)
	for _, app := range []string{"blog", "mail", "shop"} {
		remote.Commit("main", "apps/"+app+"/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+app+", namespace: web}\n")
	}
	p.write("driftd.yaml", `state_dir: `+p.dir+`/state
sources: [{name: prod, type: kubernetes}]
declarations:
- {name: apps, type: manifests, governs: [prod], settings: {git: "`+remote.URL+`", ca_file: `+remote.CAFile+`, path: apps/*}}
- {name: other, type: manifests, governs: [prod], settings: {git: "`+remote.URL+`", ca_file: `+remote.CAFile+`, path: apps/blog}}
`)
	p.load()
	var clones []string
	err := filepath.WalkDir(filepath.Join(p.dir, "state"), func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && strings.HasSuffix(path, ".git") {
			clones = append(clones, filepath.Base(filepath.Dir(path)))
		}
		return err
	})
	if err != nil || !slices.Equal(clones, []string{"apps", "other"}) {
		t.Errorf("the clones are of %s: %v", clones, err)
	}
}

// expand loads the configuration and lists the members. It returns the configuration, the names of its declarations, and the errors.
func (p *patterns) expand() (cfg *config.Config, names []string, unlisted map[string]error) {
	p.Helper()
	cfg, err := config.Load(filepath.Join(p.dir, "driftd.yaml"), nil)
	if err != nil {
		p.Fatal(err)
	}
	around := newSurroundings(checkSealer(), cfg, box.NewPool(), cacheDir(cfg.StateDir), slog.New(slog.DiscardHandler))
	cfg = around.expand(p.Context(), cfg)
	around.remember(cfg.StateDir)
	if _, err := newEstate(cfg, around); err != nil {
		p.Error(err)
	}
	return cfg, memberNames(cfg), around.unlisted
}

// TestExpand lists the members of declarations in folders and in a repository, and what refers to them.
func TestExpand(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	remote := gittest.New(t)
	for _, root := range []string{"dns", "web"} {
		remote.Commit("main", "roots/"+root+"/main.tf", "terraform {}\n")
	}
	remote.Commit("main", "roots/docs/readme.md", "no root\n")
	for _, file := range []string{"deep/prod/dns/backend.tf", "deep/prod/dns/modules/zone/backend.tf", "deep/prod/web/providers.tf.json", "deep/modules/a/versions.tf", "deep/prod/lib/main.tf",
		"deep/stage/dns/terragrunt.hcl", "apps/shop/web/web.yaml", "apps/blog/web.yaml", "apps/.git/config"} {
		text := "terraform {\n  backend \"s3\" {}\n}\n"
		if strings.HasSuffix(file, ".json") {
			text = `{"provider": {"aws": {}}}`
		} else if strings.Contains(file, "lib/") {
			text = "resource \"x\" \"provider\" {}\n"
		}
		p.write(file, text)
	}
	p.write("driftd.yaml", `state_dir: `+p.dir+`/state
sources: [{name: prod, type: kubernetes}]
declarations:
- {name: infra, type: terraform, settings: {git: "`+remote.URL+`", ca_file: `+remote.CAFile+`, path: /roots/*}}
- {name: deep, type: terraform, settings: {dir: deep/**}}
- {name: apps, type: manifests, governs: [prod], settings: {dir: apps/*}}
- {name: one, type: terraform, settings: {dir: deep/prod/dns}}
owners:
- {owner: net, match: {declaration: [infra/dns, one], source: "plan:infra"}}
- {owner: all, match: {declaration: infra}}
reconcile:
  writers: [{declaration: infra}, {source: prod}]
triggers:
- {name: push, type: github, secret_file: s, declarations: [infra, apps]}
`)
	cfg, names, unlisted := p.expand()
	if want := []string{"infra/dns", "infra/web", "deep/prod/dns", "deep/prod/web", "deep/stage/dns", "apps/blog", "apps/shop", "one"}; !slices.Equal(names, want) || len(unlisted) != 0 {
		t.Fatalf("the declarations are %s, %v", names, unlisted)
	}
	for got, want := range map[string]string{
		strings.Join(cfg.Owners[0].Match.Declaration, " "):   "infra/dns one",
		strings.Join(cfg.Owners[0].Match.Source, " "):        "plan:infra/dns plan:infra/web",
		strings.Join(cfg.Owners[1].Match.Declaration, " "):   "infra/dns infra/web",
		strings.Join(cfg.Triggers[0].Declarations, " "):      "infra/dns infra/web apps/blog apps/shop",
		cfg.Reconcile.Writers[1].Declaration + " is written": "infra/web is written",
		cfg.Reconcile.Writers[2].Source:                      "prod",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}

	// Another root is found with the next listing, and none is forgotten while the repository does not answer.
	remote.Commit("main", "roots/mail/main.tf", "terraform {}\n")
	if _, names, _ := p.expand(); !slices.Contains(names, "infra/mail") {
		t.Errorf("the declarations are %s", names)
	}
	// A folder with the name of the pattern does not replace it.
	p.write("deep/**/main.tf", "terraform {}\n")
	remote.Require("secret")
	cfg, names, unlisted = p.expand()
	if names[0] != "infra" || !slices.Contains(names, "infra/mail") || unlisted["infra"] == nil || cfg.Owners[1].Match.Declaration[0] != "infra" {
		t.Errorf("the declarations are %s, %v", names, unlisted)
	}
}

// TestEmptyListing checks that a folder that is empty, as that of a share that is not mounted, takes no member away.
func TestEmptyListing(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	p.write("roots/dns/main.tf", "terraform {}\n")
	p.write("driftd.yaml", "state_dir: "+p.dir+"/state\ndeclarations:\n- {name: infra, type: terraform, settings: {dir: roots/*}}\n")
	if _, names, _ := p.expand(); !slices.Equal(names, []string{"infra/dns"}) {
		t.Errorf("the declarations are %s", names)
	}
	if err := os.RemoveAll(filepath.Join(p.dir, "roots/dns")); err != nil {
		t.Fatal(err)
	}
	if _, names, unlisted := p.expand(); !slices.Equal(names, []string{"infra", "infra/dns"}) || unlisted["infra"] == nil {
		t.Errorf("the declarations are %s, %v", names, unlisted)
	}
}

// TestUnlisted checks that a declaration without a member is unchecked, with the reason.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	p.write("a b/main.tf", "terraform {}\n")
	p.write("roots/readme.md", "")
	p.write("driftd.yaml", `state_dir: `+p.dir+`/state
sources: [{name: prod, type: kubernetes}]
declarations:
- {name: none, type: terraform, settings: {dir: roots/*}}
- {name: gone, type: terraform, settings: {dir: gone/*}}
- {name: odd, type: terraform, settings: {dir: "*"}}
- {name: deep, type: manifests, governs: [prod], settings: {dir: "**"}}
- {name: unread, type: terraform, settings: {git: "https://127.0.0.1:1/x.git", path: "*"}}
`)
	cfg, names, unlisted := p.expand()
	if want := []string{"none", "gone", "odd", "deep", "unread"}; !slices.Equal(names, want) {
		t.Errorf("the declarations are %s", names)
	}
	for name, want := range map[string]string{
		"none": "no folder matches " + p.dir + "/roots/*", "gone": "the folder before the first wildcard does not exist", "odd": `the folder "a b" cannot be a part of a declaration's name`,
		"deep": "use * for each level", "unread": "connection refused",
	} {
		if err := unlisted[name]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("declaration %s: %v, want %s", name, err, want)
		}
	}
	around := newSurroundings(checkSealer(), cfg, box.NewPool(), "", slog.New(slog.DiscardHandler))
	around.unlisted = unlisted
	opened, err := around.openDeclaration(cfg.Declarations[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "no folder matches") {
		t.Errorf("Load() = %v", err)
	}
}
