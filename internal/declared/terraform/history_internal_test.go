package terraform

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// document is the JSON of an object, by field.
type document map[string]any

// repository is a git repository with a root in infra.
type repository struct {
	t   *testing.T
	dir string
	at  time.Time
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir(), at: time.Unix(1_700_000_000, 0)}
	r.git("init", "-q", "-b", "main", ".")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), "git", args...) //nolint:gosec // the test's own words
	c.Dir = r.dir
	at := r.at.Format(time.RFC3339)
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + r.dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files, of name and content in turn, an hour after the commit
// before. A content of "-" removes a file.
func (r *repository) commit(files ...string) string {
	r.t.Helper()
	r.at = r.at.Add(time.Hour)
	for i := 0; i+1 < len(files); i += 2 {
		file := filepath.Join(r.dir, filepath.FromSlash(files[i]))
		if files[i+1] == "-" {
			if err := os.Remove(file); err != nil {
				r.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[i+1]), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "c")
	return r.git("rev-parse", "HEAD")
}

// plannedChange returns the instances of a plan that changes one resource.
func plannedChange(t *testing.T, address, actions string, before, after any, writes ...string) []plan.Instance {
	t.Helper()
	resource := address[strings.LastIndex(address, "lab_server."):]
	resource, _, _ = strings.Cut(resource, "[")
	expressions := document{}
	for _, name := range writes {
		expressions[name] = document{"constant_value": "x"}
	}
	text, err := json.Marshal(document{"format_version": "1.2", "terraform_version": "1.12.6",
		"resource_changes": []any{document{"address": address, "mode": "managed", "type": "lab_server", "name": "web", "provider_name": "example.org/driftd/lab",
			"change": document{"actions": strings.Fields(actions), "before": before, "after": after, "after_unknown": document{}, "before_sensitive": document{}, "after_sensitive": document{}}}},
		"configuration": document{"root_module": document{"resources": []any{document{"address": resource, "mode": "managed", "type": "lab_server", "name": "web", "expressions": expressions}}}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("plan/testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	schemas, err := plan.DecodeSchemas(f, p)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Read(plan.Input{Plan: p, Schemas: schemas}, model.NewSealer([]byte("key"))).Instances
}

// open returns a loader of the repository whose last plan had these instances.
func (r *repository) open(instances []plan.Instance, change func(*Config)) *plans {
	r.t.Helper()
	config := Defaults()
	config.Git, config.Path = r.dir, "infra"
	if change != nil {
		change(&config)
	}
	env := declared.Env{Name: "root", Sealer: model.NewSealer([]byte("key")), CacheDir: r.t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	p, err := newPlans(&loader{env: env, config: config, tables: &mapping.Tables{}}, plan.NewLimiter(1))
	if err != nil {
		r.t.Fatal(err)
	}
	p.planned.keep(instances)
	p.planned.setRevision(r.git("rev-parse", "main"))
	return p
}

// past returns the past of the first instance, one line per version: the commit's position among
// hashes, and the value.
func (r *repository) past(instances []plan.Instance, change func(*Config), hashes ...string) []string {
	r.t.Helper()
	i := instances[0]
	p := r.open(instances, change)
	claim := &model.Claim{Address: i.Address, Source: model.LiveSource("root"), Recorded: i.Recorded}
	if i.Declared != nil {
		claim.Value = *i.Declared
	}
	h, err := p.History(r.t.Context(), r.git("rev-parse", "main"), []*model.Claim{claim})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.lines(h.Pasts[0], hashes)
}

func (r *repository) lines(past model.Past, hashes []string) []string {
	name := func(c model.Commit) string {
		if i := slices.Index(hashes, c.Hash); i >= 0 {
			return string(rune('a' + i))
		}
		return c.Hash
	}
	var lines []string
	for _, v := range past.Versions {
		line := name(v.From) + "-" + name(v.Until)
		if v.Branch != "" {
			line += " (" + v.Branch + ")"
		}
		if v.Value == nil {
			line += " absent"
		} else {
			line += " " + v.Value.Public().String()
		}
		if len(v.Unknown) > 0 {
			line += " unknown:" + strings.Join(v.Unknown, ",")
		}
		lines = append(lines, line)
	}
	if past.Gap != "" {
		gap := past.Gap
		for i, hash := range hashes {
			gap = strings.ReplaceAll(gap, hash[:12], string(rune('a'+i)))
		}
		lines = append(lines, "gap: "+gap)
	}
	return lines
}

func server(body string) string { return "resource \"lab_server\" \"web\" {\n" + body + "\n}\n" }

func TestHistory(t *testing.T) {
	t.Parallel()
	live := document{"id": "s", "name": "web", "size": 9}
	size := func(n int) document { return document{"id": "s", "name": "web", "size": n} }
	update := func(t *testing.T, before, after document) []plan.Instance {
		return plannedChange(t, "lab_server.web", "update", before, after, "name", "size")
	}
	const rest = `"name":"web"`
	cases := map[string]struct {
		reason string
		build  func(*repository) []string
		plan   func(*testing.T) []plan.Instance
		change func(*Config)
		want   []string
	}{
		"Values": {
			"each value that was declared, from the newest to the oldest",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", ""), r.commit("infra/main.tf", server("name = \"web\"\nsize = 1")), r.commit("infra/other.tf", "# x"), r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))}
			},
			nil, nil,
			[]string{`d- {` + rest + `,"size":2}`, `b-d {` + rest + `,"size":1}`, `a-b absent`},
		},
		"HeadExpression": {
			"what the head alone declares is known from the plan",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\"\nsize = 1")), r.commit("infra/main.tf", server("name = \"web\"\nsize = data.x.y.n"))}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b {` + rest + `,"size":1}`},
		},
		"OldExpression": {
			"what is not literal at an earlier commit is not known",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\"\nsize = data.x.y.n")), r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b {` + rest + `} unknown:size`},
		},
		"Variable": {
			"the values of variables change, and the block does not",
			func(r *repository) []string {
				return []string{
					r.commit("infra/main.tf", server("name = \"web\"\nsize = var.size"), "infra/v.tf", "variable \"size\" { default = 1 }"),
					r.commit("infra/terraform.tfvars", "size = 2"),
				}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b {` + rest + `,"size":1}`},
		},
		"Distrusted": {
			"the files of the head do not say what its plan declares, so that those of earlier commits prove nothing",
			func(r *repository) []string {
				return []string{
					r.commit("infra/main.tf", server("name = \"web\"\nsize = 7")),
					r.commit("infra/main.tf", server("name = \"web\"\nsize = 3")), r.commit("infra/x.tf", ""),
				}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":3} unknown:size`, `a-b {` + rest + `,"size":7} unknown:size`},
		},
		"Foreign": {
			"a setting of driftd's own says nothing of earlier applies",
			func(r *repository) []string {
				return []string{
					r.commit("infra/main.tf", server("name = \"web\"\nsize = var.size"), "infra/v.tf", "variable \"size\" { default = 1 }"),
					r.commit("infra/terraform.tfvars", "size = 2"), r.commit("infra/x.tf", ""),
				}
			},
			nil, func(c *Config) { c.Run.Vars = map[string]string{"size": "2"} },
			[]string{`a- {` + rest + `} unknown:size`},
		},
		"Branch": {
			"what another branch declares",
			func(r *repository) []string {
				a := r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))
				r.git("checkout", "-q", "-b", "feature/x")
				b := r.commit("infra/main.tf", server("name = \"web\"\nsize = 9"))
				r.git("checkout", "-q", "main")
				return []string{a, b}
			},
			nil, nil,
			[]string{`a- {` + rest + `,"size":2}`, `b- (feature/x) {` + rest + `,"size":9}`},
		},
		"Moved": {
			"a renamed resource, also when the moved block is gone again",
			func(r *repository) []string {
				old := strings.Replace(server("name = \"web\"\nsize = 1"), "\"web\"", "\"old\"", 1)
				return []string{
					r.commit("infra/main.tf", old),
					r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"), "infra/moved.tf", "moved {\n from = lab_server.old\n to = lab_server.web\n}\n"),
					r.commit("infra/moved.tf", "-"),
				}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b {` + rest + `,"size":1}`},
		},
		"Renamed": {
			"without a moved block it is another resource",
			func(r *repository) []string {
				old := strings.Replace(server("name = \"web\"\nsize = 1"), "\"web\"", "\"old\"", 1)
				return []string{r.commit("infra/main.tf", old), r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b absent`},
		},
		"Broken": {
			"a commit that cannot be parsed is a gap",
			func(r *repository) []string {
				return []string{
					r.commit("infra/main.tf", server("name = \"web\"\nsize = 1")), r.commit("infra/main.tf", "resource \"lab_server\""),
					r.commit("infra/more.tf", "x"), r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"), "infra/more.tf", "-"),
				}
			},
			nil, nil,
			[]string{
				`d- {` + rest + `,"size":2}`, `a-b {` + rest + `,"size":1}`,
				"gap: at commit c: parse infra/main.tf:1: Invalid block definition (and 1 more commits)",
			},
		},
		"BrokenElsewhere": {
			"another folder does not matter",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"), "other/main.tf", "resource {"), r.commit("x", "")}
			},
			nil, nil,
			[]string{`a- {` + rest + `,"size":2}`},
		},
		"NeverDeclared": {
			"a resource that no commit declares",
			func(r *repository) []string { return []string{r.commit("infra/main.tf", "# x"), r.commit("x", "")} },
			func(t *testing.T) []plan.Instance { return plannedChange(t, "lab_server.web", "delete", live, nil) }, nil,
			[]string{`a- absent`},
		},
		"DeclaredOnce": {
			"a resource that is declared no longer",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\"\nsize = 9")), r.commit("infra/main.tf", "# x")}
			},
			func(t *testing.T) []plan.Instance { return plannedChange(t, "lab_server.web", "delete", live, nil) }, nil,
			[]string{`b- absent`, `a-b {` + rest + `,"size":9}`},
		},
		"MaybeDeclared": {
			"a count that only Terraform knows: nobody can tell whether it was declared",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("count = data.x.y.n\nname = \"web\"")), r.commit("infra/main.tf", "# x")}
			},
			func(t *testing.T) []plan.Instance { return plannedChange(t, "lab_server.web", "delete", live, nil) }, nil,
			[]string{`b- absent`, `a-b absent unknown:`},
		},
		"Contradiction": {
			"the plan removes what the files of the head declare",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\""))}
			},
			func(t *testing.T) []plan.Instance { return plannedChange(t, "lab_server.web", "delete", live, nil) }, nil,
			[]string{"gap: lab_server.web: the plan and the files of commit a do not agree whether it is declared"},
		},
		"Generated": {
			"the plan declares what the files of the head do not",
			func(r *repository) []string { return []string{r.commit("infra/main.tf", "# x")} },
			nil, nil,
			[]string{"gap: lab_server.web: the plan and the files of commit a do not agree whether it is declared"},
		},
		"BrokenHead": {
			"a head that cannot be evaluated",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", "#"+strings.Repeat("x", 5<<20))}
			},
			nil, nil,
			[]string{"gap: at commit a: read infra/main.tf: too large to be evaluated"},
		},
		"Secret": {
			"a sensitive attribute is a digest at every commit",
			func(r *repository) []string {
				return []string{r.commit("infra/main.tf", server("name = \"web\"\nsize = 2\npassword = \"hunter22\"\nnotes = \"hunter22\"")), r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))}
			},
			nil, nil,
			[]string{`b- {` + rest + `,"size":2}`, `a-b {` + rest + `,"password":"(secret)","size":2} unknown:notes`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			hashes := tc.build(r)
			instances := update(t, live, size(2))
			if tc.plan != nil {
				instances = tc.plan(t)
			}
			got := r.past(instances, tc.change, hashes...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if strings.Contains(strings.Join(got, ""), "hunter22") {
				t.Error("a secret is in the output")
			}
		})
	}
}

func TestHistoryGaps(t *testing.T) {
	t.Parallel()
	ask := func(h declared.Historian, revision, address string) (string, []string) {
		t.Helper()
		got, err := h.History(t.Context(), revision, []*model.Claim{{Address: address, Source: model.LiveSource("root")}})
		if err != nil {
			t.Fatal(err)
		}
		var gaps []string
		for _, p := range got.Pasts {
			gaps = append(gaps, p.Gap)
		}
		return got.Head, gaps
	}
	r := newRepository(t)
	head := r.commit("infra/main.tf", server("name = \"web\""))
	p := r.open(nil, nil)

	if at, gaps := ask(p, head, "lab_server.web"); at != head || !slices.Equal(gaps, []string{"no difference between what is declared and recorded was planned"}) {
		t.Errorf("an address without a difference: %s %q", at, gaps)
	}
	if at, gaps := ask(p, "0123", "lab_server.web"); at != head || gaps != nil {
		t.Errorf("another head: %s %q", at, gaps)
	}
	p.planned.setRevision("0123")
	if _, gaps := ask(p, head, "lab_server.web"); !slices.Equal(gaps, []string{"the commit was not planned"}) {
		t.Errorf("a plan of another commit: %q", gaps)
	}
	p.repository = nil
	if _, gaps := ask(p, "", "lab_server.web"); !slices.Equal(gaps, []string{"a plain folder keeps no history"}) {
		t.Errorf("a folder: %q", gaps)
	}
	if _, gaps := ask(&states{}, "", "lab_server.web"); !slices.Equal(gaps, []string{"a state does not record what was declared before"}) {
		t.Errorf("a state: %q", gaps)
	}
}

func TestHistoryDeadline(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("infra/main.tf", server("name = \"web\"\nsize = 2"))
	instances := plannedChange(t, "lab_server.web", "update", document{"name": "web", "size": 9}, document{"name": "web", "size": 2})
	p := r.open(instances, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &commits{ctx: ctx, plans: p}
	if _, err := c.at(&gitrepo.LogCommit{}, "lab_server.web"); err == nil {
		t.Error("History did not stop at its deadline")
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	size, name := filepath.Join(dir, "size.env"), filepath.Join(dir, "name.env")
	for file, text := range map[string]string{size: "TF_VAR_size=1", name: "TF_VAR_name=1"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		run    Run
		want   bool
	}{
		"Nothing":      {"only files set variables", Run{VarFiles: []string{"prod.tfvars"}, Env: map[string]string{"TF_LOG": "x"}, PassEnv: []string{"AWS_*", "HOME"}}, false},
		"Vars":         {"a variable of the settings", Run{Vars: map[string]string{"size": "1"}}, true},
		"OtherVar":     {"another one", Run{Vars: map[string]string{"name": "1"}}, false},
		"File":         {"a file outside of the repository", Run{VarFiles: []string{"/etc/prod.tfvars"}}, true},
		"Env":          {"the environment of the settings", Run{Env: map[string]string{"TF_VAR_size": "1"}}, true},
		"OtherEnv":     {"another variable there", Run{Env: map[string]string{"TF_VAR_size2": "1"}}, false},
		"PassEnv":      {"driftd's own environment", Run{PassEnv: []string{"TF_VAR_size"}}, true},
		"Pattern":      {"a pattern", Run{PassEnv: []string{"TF_VAR_s*"}}, true},
		"OtherPattern": {"another pattern", Run{PassEnv: []string{"TF_VAR_x*"}}, false},
		"Args":         {"arguments may set any", Run{PassEnv: []string{"TF_CLI_ARGS_plan"}}, true},
		"AllArgs":      {"arguments of every command may set any", Run{Env: map[string]string{"TF_CLI_ARGS": "-var x=y"}}, true},
		"EnvFile":      {"a file of variables", Run{EnvFiles: []string{size}}, true},
		"OtherFile":    {"another variable there", Run{EnvFiles: []string{name}}, false},
		"NoFile":       {"a file that cannot be read may set any", Run{EnvFiles: []string{name, filepath.Join(dir, "gone")}}, true},
		"ArgsPattern":  {"a pattern that includes arguments of plan", Run{PassEnv: []string{"TF_*"}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.run.literalOptions(fstest.MapFS{}, ".").Foreign("size"); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestTerragrunt(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	root := server("name = \"web\"\nsize = var.size") + "variable \"size\" { default = 2 }\n"
	a, b := r.commit("infra/main.tf", root, "infra/terragrunt.hcl", "inputs = {}"), r.commit("x", "")
	instances := plannedChange(t, "lab_server.web", "update", document{"id": "s", "name": "web", "size": 9}, document{"id": "s", "name": "web", "size": 2}, "name", "size")
	want := []string{`a- {"name":"web"} unknown:size`}
	if diff := cmp.Diff(want, r.past(instances, nil, a, b)); diff != "" {
		t.Errorf("Terragrunt may set any variable (-want +got):\n%s", diff)
	}
}
