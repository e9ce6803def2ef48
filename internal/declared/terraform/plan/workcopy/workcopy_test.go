package workcopy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// lay writes files below dir. A text that begins with "-> " is a link.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(text) > 3 && text[:3] == "-> " {
			err = os.Symlink(text[3:], path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestScanHidden checks that a backend in a file that the CLI ignores does not count, and that such a file makes no root.
func TestScanHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backend := "terraform {\n  backend \"s3\" {}\n}\n"
	lay(t, dir, map[string]string{".backend.tf": backend, "backend.tf~": backend, "#backend.tf#": backend})
	if m := Scan(dir); m.Backend != "" || IsRoot(dir) {
		t.Errorf("got the backend %q, and a root: %v", m.Backend, IsRoot(dir))
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"main.tf": `
terraform {
  required_version = ">= 1.5"
  backend "s3" {
    key    = "prod"
    bucket = var.bucket
  }
}
module "net" { source = "../modules/net" }
module "registry" { source = "example/net/aws" }
module "git" { source = "git::https://example.org/a/../b.git" }
resource "lab_server" "web" {
  notes = file("${path.module}/../files/notes.txt")
  name  = "a ../ b"
  disk { size = 1 }
  rule {
    dynamic "filter" {
      for_each = var.filters
      content { name = filter.value }
    }
  }
  dynamic "nic" {
    for_each = var.nics
    content {}
  }
  lifecycle { ignore_changes = [tags, labels["x.y"], disk[0].size] }
}
resource "lab_server" "all" {
  policy = templatefile("../templates/${var.kind}-a.json", {})
  lifecycle { ignore_changes = all }
}
resource "lab_server" "old" {
  lifecycle { ignore_changes = ["*"] }
}
resource "lab_server" "plain" {}
`,
		"more.tf.json": `{"terraform":{"required_version":"< 2"},"module":{"a":{"source":"../json"}},
			"resource":{"lab_server":{"json":{"lifecycle":{"ignore_changes":["size"]},"disk":[{"size":1}],"dynamic":{"nic":{"for_each":[],"content":{}}}}}}}`,
		"broken.tf":  `resource "a" {`,
		"deep.tf":    "locals { a = " + strings.Repeat("[", 1<<20) + " }",
		"notes.txt":  `module "x" { source = "../nothing" }`,
		"extra.tofu": `module "t" { source = "./../tofu?ref=1" }`,
	})
	want := Module{Dir: dir, Backend: "s3", BackendSets: map[string]string{"key": "prod", "bucket": ""}, Required: []string{">= 1.5", "< 2"},
		Ignored: map[string]syntax.Ignored{
			"lab_server.web":  {Paths: [][]string{{"tags"}, {"labels", "x.y"}, {"disk", "0", "size"}}},
			"lab_server.all":  {All: true},
			"lab_server.old":  {All: true},
			"lab_server.json": {Paths: [][]string{{"size"}}},
		},
		Blocks: map[string]Blocks{
			"lab_server.web":   {Names: []string{"disk", "rule", "dynamic", "lifecycle"}, Dynamic: [][]string{{"rule", "filter"}, {"nic"}}},
			"lab_server.all":   {Names: []string{"lifecycle"}},
			"lab_server.old":   {Names: []string{"lifecycle"}},
			"lab_server.plain": {},
			"lab_server.json":  {Dynamic: [][]string{{"disk"}, {"dynamic"}, {"lifecycle"}, {"nic"}}},
		},
		Reads:   true, // JSON may call any function
		JSON:    true,
		Outside: []string{"../files/notes.txt", "../json", "../modules/net", "../templates", "../tofu"},
	}
	got := Scan(dir)
	slices.Sort(got.Required)
	slices.Sort(want.Required)
	if got.Unread == nil || !strings.HasPrefix(got.Unread.Error(), "parse deep.tf: ") {
		t.Errorf("deep.tf: %v", got.Unread)
	}
	got.Unread, got.Arguments = nil, nil // TestImpure of package plan is about the arguments.
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !IsRoot(dir) || IsRoot(filepath.Dir(dir)) {
		t.Error("IsRoot does not distinguish a root from another folder")
	}
}

// files returns the files below dir with their content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func limits() Limits { return Limits{Files: 100, Bytes: 1 << 20} }

func TestCopy(t *testing.T) {
	t.Parallel()
	repo := map[string]string{
		"envs/prod/main.tf":               `module "net" { source = "../../modules/net" }`,
		"envs/prod/terraform.tfstate":     "state",
		"envs/prod/x.tfstate.backup":      "old",
		"envs/prod/.terraform/plugins":    "big",
		"envs/prod/.terraform.lock.hcl":   "locked",
		"envs/prod/sub/main.tf":           "# within",
		"envs/prod/common.tf":             "-> ../common.tf",
		"envs/prod/dangling":              "-> nowhere",
		"envs/common.tf":                  "# common",
		"envs/staging/main.tf":            "# another root",
		"modules/net/main.tf":             `resource "a" "b" { text = file("../../files/a.txt") }`,
		"modules/other/main.tf":           "# not needed",
		"files/a.txt":                     "a",
		"files/b.txt":                     "b",
		".git/config":                     "git",
		"envs/prod/.driftd/work/x/main.t": "driftd's own",
	}
	prod := map[string]string{
		"envs/prod/main.tf":             repo["envs/prod/main.tf"],
		"envs/prod/terraform.tfstate":   "state",
		"envs/prod/.terraform.lock.hcl": "locked",
		"envs/prod/sub/main.tf":         "# within",
		"envs/prod/common.tf":           "# common",
		"modules/net/main.tf":           repo["modules/net/main.tf"],
		"files/a.txt":                   "a",
	}
	dir := t.TempDir()
	lay(t, dir, repo)
	to := filepath.Join(dir, "envs/prod/.driftd/work/y")
	root, err := Copy(t.Context(), Source{Root: filepath.Join(dir, "envs/prod"), Within: dir,
		Except: filepath.Join(dir, "envs/prod/.driftd"), Limits: limits()}, to)
	if err != nil {
		t.Fatal(err)
	}
	if root != filepath.Join(to, "envs/prod") {
		t.Errorf("root %s", root)
	}
	if d := cmp.Diff(prod, files(t, to)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	alone := t.TempDir()
	root, err = Copy(t.Context(), Source{Root: filepath.Join(dir, "envs/prod"), Within: filepath.Join(dir, "envs"),
		Except: filepath.Join(dir, "envs/prod/.driftd"), Limits: limits()}, alone)
	if err != nil || root != alone {
		t.Fatal(root, err)
	}
	if got := files(t, alone); got["main.tf"] == "" || len(got) != 5 {
		t.Errorf("beyond the border: %v", got)
	}

	whole := t.TempDir()
	root, err = Copy(t.Context(), Source{Root: filepath.Join(dir, "envs/prod"), Within: dir, Whole: true,
		Except: filepath.Join(dir, "envs/prod/.driftd"), Limits: limits()}, whole)
	if err != nil || root != filepath.Join(whole, "envs/prod") {
		t.Fatal(root, err)
	}
	if got := files(t, whole); got["modules/other/main.tf"] == "" || got[".git/config"] != "" {
		t.Errorf("the whole: %v", got)
	}
}

func TestCopyAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"root/main.tf": `module "net" { source = "../modules/net" }
			locals {
				a = fileexists("../files/a.txt")
				b = fileexists("../shared/b.txt")
			}`,
		"root/files":          "-> ../linked",
		"linked/c.txt":        "c",
		"modules/net/main.tf": "#",
		"files/other.txt":     "other",
		"elsewhere/d.txt":     "d",
	})
	for _, tc := range []struct{ reason, absent, want string }{
		{"a file of the root", "root/data.bin", "root/data.bin: too large"},
		{"a file of a module", "modules/net/data.bin", "modules/net/data.bin: too large"},
		{"a file that is named", "files/a.txt", "files/a.txt: too large"},
		{"a link to a folder that is named", "shared", "shared: too large"},
		{"a file behind a link inside the repository", "linked/data.bin", "linked/data.bin: too large"},
		{"a file next to a named one", "files/b.txt", ""},
		{"a folder that the root does not name", "elsewhere/data.bin", ""},
		{"a file that is never copied", "root/crash.log", ""},
	} {
		for _, whole := range []bool{false, true} {
			_, err := Copy(t.Context(), Source{Root: filepath.Join(dir, "root"), Within: dir, Whole: whole, Limits: limits(),
				Absent: map[string]error{tc.absent: errors.New(tc.absent + ": too large")}}, filepath.Join(t.TempDir(), "to"))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, whole %t: got %v, want %q", tc.reason, whole, err, tc.want)
			}
		}
	}
}

// TestCopyCircle checks that each folder is copied once if there are circular links.
func TestCopyCircle(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), t.TempDir()
	lay(t, dir, map[string]string{"a/main.tf": "#", "a/again": "-> ../a", "a/other": "-> ../b", "b/x.tf": "#", "b/back": "-> ../a"})
	if _, err := Copy(t.Context(), Source{Root: filepath.Join(dir, "a"), Limits: limits()}, to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"main.tf": "#", "other/x.tf": "#"}, files(t, to)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCopyErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a/main.tf": "# 10 bytes", "a/b.tf": "#"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx    context.Context
		source Source
		want   error
	}{
		"too many files": {t.Context(), Source{Root: filepath.Join(dir, "a"), Limits: Limits{Files: 1, Bytes: 100}}, ErrTooLarge},
		"too large":      {t.Context(), Source{Root: filepath.Join(dir, "a"), Limits: Limits{Files: 9, Bytes: 5}}, ErrTooLarge},
		"no folder":      {t.Context(), Source{Root: filepath.Join(dir, "gone"), Limits: limits()}, os.ErrNotExist},
		"cancelled":      {cancelled, Source{Root: filepath.Join(dir, "a"), Limits: limits()}, context.Canceled},
	}
	for name, tt := range tests {
		if _, err := Copy(tt.ctx, tt.source, t.TempDir()); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"good": `{"Modules":[{"Key":"","Dir":"."},{"Key":"a.b","Source":"x","Dir":"/m/a"}]}`, "bad": "{"})
	got, err := Modules(filepath.Join(dir, "good"))
	if d := cmp.Diff([]Installed{{Key: "a.b", Dir: "/m/a"}}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for name, fails := range map[string]bool{"bad": true, "gone": false} {
		if got, err := Modules(filepath.Join(dir, name)); len(got) != 0 || (err != nil) != fails {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// TestContained checks that a contained copy has no files from outside of the repository.
func TestContained(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		files  map[string]string
		within string
		want   bool
	}{
		"In":      {"a link within the repository is followed", map[string]string{"repo/a/link": "-> ../b/x", "repo/b/x": "x"}, "repo", true},
		"Nowhere": {"a link that leads nowhere is left out", map[string]string{"repo/a/link": "-> ../b/x"}, "repo", true},
		"File":    {"a file outside", map[string]string{"repo/a/link": "-> ../../secret", "secret": "s"}, "repo", false},
		"Folder":  {"a folder outside", map[string]string{"repo/a/sub/link": "-> ../../../other", "other/secret": "s"}, "repo", false},
		"Chain":   {"through a second link", map[string]string{"repo/a/link": "-> ../b/link", "repo/b/link": "-> ../../secret", "secret": "s"}, "repo", false},
		"Module": {"a sibling module, below a folder that is a link", map[string]string{
			"repo/a/more.tf": `module "m" { source = "../link/m" }`, "repo/link": "-> ../other", "other/m/main.tf": "#"}, "repo", false},
		"Plain": {"without a repository, the root is the border", map[string]string{"repo/a/link": "-> ../b/x", "repo/b/x": "x"}, "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lay(t, dir, tc.files)
			lay(t, dir, map[string]string{"repo/a/main.tf": "#"})
			s := Source{Root: filepath.Join(dir, "repo/a"), Contained: true, Limits: limits()}
			if tc.within != "" {
				s.Within = filepath.Join(dir, tc.within)
			}
			if _, err := Copy(t.Context(), s, filepath.Join(dir, "copy")); (err == nil) != tc.want || err != nil && !errors.Is(err, ErrLeadsOut) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(`resource "a" "b" { lifecycle { ignore_changes = [x["y"], all] } }`), "main.tf")
	f.Add([]byte(`{"resource":{"a":{"b":{"lifecycle":{"ignore_changes":["../x"]}}}}}`), "main.tf.json")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if name != "main.tf" {
			name = "main.tf.json"
		}
		dir := t.TempDir()
		lay(t, dir, map[string]string{"first.tf": "#"})
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		Scan(dir)
	})
}

// TestWantedEnds checks that a scan of many folders ends at the deadline.
func TestWantedEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if wanted, err := (Source{Root: t.TempDir()}).wanted(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", wanted, err)
	}
}

// TestUnread checks the error for a file that the CLI reads and that is too large or too deep for
// driftd.
func TestUnread(t *testing.T) {
	t.Parallel()
	long, deep := "#"+strings.Repeat("x", maxFile), "a = "+strings.Repeat("[", 1000)
	for name, tt := range map[string]struct{ reason, file, text, want string }{
		"size":   {"a file beyond the bound", "x.tf", long, "read x.tf: more than 8 MiB: split the file"},
		"depth":  {"brackets", "x.tofu", deep, "parse x.tofu: nested too deeply: split the file"},
		"syntax": {"the CLI reports syntax errors", "x.tf", "a = [", ""},
		"other":  {"a file of another program", "x.pkr.hcl", deep, ""},
		"text":   {"any other file", "x.txt", long, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lay(t, dir, map[string]string{tt.file: tt.text})
			got := ""
			if err := Scan(dir).Unread; err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}
