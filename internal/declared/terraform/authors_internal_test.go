package terraform

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

func TestAddAuditEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"a.tf": `resource "lab_server" "a" {}`, "b.tf": `resource "lab_server" "b" { memory = var.memory }`, "terraform.tfvars": "memory = 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch := func(author string, seconds int64) gitrepo.Touch {
		return gitrepo.Touch{Commit: "0123456789abcdef", Author: author, At: time.Unix(seconds, 0).UTC(), Path: "infra/" + author}
	}
	known := map[string]gitrepo.Touch{"a.tf": touch("Alice", 1), "b.tf": touch("Bob", 2), "terraform.tfvars": touch("Carol", 3)}
	var asked []string
	touches := func(_ context.Context, files []string) map[string]gitrepo.Touch {
		asked = files
		return known
	}
	p := &plans{root: &root{loader: &loader{config: Defaults()}}}
	claims := []model.Claim{{Address: "lab_server.a"}, {Address: "lab_server.b[0]"}, {Address: "lab_server.b[1]"}, {Address: "lab_server.gone"}}
	p.addAuditEvents(t.Context(), claims, hclsource.New(dir, hclsource.Options{}), touches)
	var got []string
	for _, c := range claims {
		for _, tr := range c.AuditEvents {
			got = append(got, c.Address+" "+tr.Actor.Name+" "+tr.Actor.Evidence)
		}
	}
	const commit = "commit 0123456789ab infra/"
	want := []string{"lab_server.a Alice " + commit + "Alice", "lab_server.b[0] Carol " + commit + "Carol",
		"lab_server.b[1] Carol " + commit + "Carol"} // No file defines lab_server.gone.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(known)), asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	p.config.Commits, asked = 0, nil
	if p.addAuditEvents(t.Context(), claims[:1], hclsource.New(dir, hclsource.Options{}), touches); asked != nil {
		t.Error("files were looked up with commits: 0")
	}
}

// TestAuthorsOfChecks checks who changed the files of a root with failed checks, in a work tree and at a commit.
func TestAuthorsOfChecks(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("infra/main.tf", "module \"a\" { source = \"../modules/a\" }\n")
	r.commit("modules/a/main.tf", "# a\n")
	r.git("checkout", "-q", "-f", "main")
	names := []string{"infra/main.tf", "modules/a/main.tf", "infra/gone.tf"}
	for way, change := range map[string]func(*Config){
		"commit": nil,
		"folder": func(c *Config) { c.Place = gitrepo.Place{Dir: filepath.Join(r.dir, "infra")} },
	} {
		p := r.open(nil, change)
		var got map[string]model.Actor
		p.env.Check = func(ctx context.Context, files declared.Files) (func(*model.Declaration), error) {
			got = files.Authors(ctx, names)
			return func(*model.Declaration) {}, nil
		}
		touches := p.touchesIn(r.dir)
		if p.repository != nil {
			touches = p.touchesAt(r.git("rev-parse", "main"), ".")
		}
		if err := p.check(t.Context(), &plan.Options{Dir: filepath.Join(r.dir, "infra"), Within: r.dir}, touches, &model.Declaration{}); err != nil {
			t.Fatal(err)
		}
		for name, commit := range map[string]string{names[0]: "main~1", names[1]: "main"} {
			if want := "commit " + r.git("rev-parse", commit)[:12] + " " + name; got[name].Evidence != want {
				t.Errorf("%s: author %+v, want evidence %q", way, got[name], want)
			}
		}
		if got[names[2]].Confidence != model.Unknown || got[names[2]].Reason == "" {
			t.Errorf("%s: author of a file that is gone: %+v", way, got[names[2]])
		}
	}
}
