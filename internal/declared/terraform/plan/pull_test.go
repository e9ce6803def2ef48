package plan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
)

// pulled is the state that the fake CLI prints.
const pulled = `{"version":4,"serial":3,"lineage":"abc","resources":[]}`

// newPullStage returns a root with a backend, and with configuration that a pull does not need.
func newPullStage(t *testing.T, files map[string]string) *stage {
	t.Helper()
	s := newStage(t, map[string]string{".terraform.lock.hcl": "locked", "main.tf": `terraform {
  backend "pg" {
    conn_str = "postgres://u:hunter22@h/db"
  }
}
resource "lab_server" "web" {}
data "external" "x" { program = ["sh"] }
`})
	for name, text := range files {
		s.lay(filepath.Join(s.root, name), text)
	}
	s.set("state.stdout", pulled)
	return s
}

func (s *stage) pull() (Pulled, error) { return Pull(s.t.Context(), s.options) }

func TestPull(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, map[string]string{".terraform/environment": "staging\n"})
	s.set("state.keeps", "")
	before := s.snapshot(filepath.Dir(s.root))
	got, err := s.pull()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Pulled{Text: pulled, Workspace: "staging", Tool: filepath.Base(s.options.Binary) + " 1.11.4"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want := []string{
		"version -json",
		"init -no-color -input=false -backend=true -get=false -upgrade=false -backend-config=skip_schema_creation=true" +
			" -backend-config=skip_table_creation=true -backend-config=skip_index_creation=true -plugin-dir=W/none (-lock=false)",
		"workspace select -no-color staging",
		"state pull",
	}
	if d := cmp.Diff(want, s.calls()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if !strings.Contains(s.fake.text("env"), "\nTF_CLI_ARGS_state_pull=-no-color\n") {
		t.Error("state pull without -no-color")
	}
	if d := cmp.Diff("main.tf\nterraform {\nbackend \"pg\" {\n    conn_str = \"postgres://u:hunter22@h/db\"\n  }\n}\n", s.fake.text("configuration")); d != "" {
		t.Errorf("files of the CLI (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, s.snapshot(filepath.Dir(s.root))); d != "" {
		t.Errorf("the user's folder changed (-before +after):\n%s", d)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPullWithoutProviders checks that an init that found no providers is sufficient if it recorded
// the backend.
func TestPullWithoutProviders(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	s.set("init.stderr", "\nError: Failed to query available provider packages\n")
	s.set("init.lays/terraform.tfstate", "{}")
	if got, err := s.pull(); err != nil || got.Text != pulled || got.Workspace != "default" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestPullWithoutBackend checks that a root without a backend block is not initialized, and that
// the copy has its state.
func TestPullWithoutBackend(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, map[string]string{"main.tf": `resource "lab_server" "web" {}`, "terraform.tfstate": pulled})
	if _, err := s.pull(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"version -json", "state pull"}, s.calls()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

// TestPullConsul checks that the consul backend does not lock.
func TestPullConsul(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, map[string]string{"main.tf": "terraform {\n  backend \"consul\" {}\n}\n"})
	if _, err := s.pull(); err != nil || !strings.Contains(s.calls()[1], "-backend-config=lock=false") {
		t.Errorf("got %v, %v", err, s.calls())
	}
}

func TestPullErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files  map[string]string
		set    map[string]string
		change func(*Options)
		want   string
	}{
		"init": {
			set:  map[string]string{"init.stderr": "\nError: parse \"postgres://u:hunter22@h:x/db\": invalid port\n"},
			want: `init: parse "postgres://u:(secret)@h:x/db": invalid port`},
		"a setting that the error quotes": {
			set:  map[string]string{"init.stderr": "\nError: cannot connect with postgres://u:hunter22@h/db now\n"},
			want: "init: cannot connect with (secret) now"},
		"a setting of a file": {
			files:  map[string]string{"site.hcl": `password = "hunter22"`},
			set:    map[string]string{"init.stderr": "\nError: hunter22 is refused\n"},
			change: func(o *Options) { o.BackendFiles = []string{"site.hcl"} },
			want:   "init: (secret) is refused"},
		"no such workspace": {
			set:    map[string]string{"workspace.stderr": "\nWorkspace \"gone\" doesn't exist.\n"},
			change: func(o *Options) { o.Workspace = "gone" },
			want:   `select workspace gone: exit status 1: Workspace "gone" doesn't exist.`},
		"the backend does not answer": {
			set:  map[string]string{"state.stderr": "Failed to refresh state: GET http://u:hunter22@h giving up\n"},
			want: "state pull: exit status 1: Failed to refresh state: GET http://u:(secret)@h giving up; the backend failed: check"},
		"no configuration": {
			files: map[string]string{"main.tf": "resource {"},
			want:  "read configuration: parse main.tf:1"},
		"a reserved variable": {
			change: func(o *Options) { o.Env["TF_REATTACH_PROVIDERS"] = "{}" },
			want:   "env: TF_REATTACH_PROVIDERS is not allowed"},
		"a refused backend": {
			change: func(o *Options) { o.Policy = policy.Policy{Refuse: []string{"backend.pg"}} },
			want:   "refused before init"},
		"no binary": {
			change: func(o *Options) { o.Binary = "gone" },
			want:   "the CLI gone cannot be run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPullStage(t, tc.files)
			for file, text := range tc.set {
				s.set(file, text)
			}
			if tc.change != nil {
				tc.change(&s.options)
			}
			_, err := s.pull()
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter22") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestPullPolicy checks that the policy applies only to the parts that a pull uses.
func TestPullPolicy(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	s.options.Policy = policy.Policy{Refuse: []string{"external", "unpinned"}}
	if _, err := s.pull(); err != nil {
		t.Error(err)
	}
}

// TestPullTerragrunt checks the error for a root whose backend block Terragrunt generates.
func TestPullTerragrunt(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	program := filepath.Join(t.TempDir(), "terragrunt")
	if err := os.Symlink(s.options.Binary, program); err != nil {
		t.Fatal(err)
	}
	s.options.Binary = program
	if _, err := s.pull(); err == nil || !strings.Contains(err.Error(), "set state to the location of the state") || s.fake.has("calls") {
		t.Errorf("got %v", err)
	}
}

// TestPullBound checks that a state larger than the memory bound is an error, and that its size is
// counted.
func TestPullBound(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{300 << 10: "state pull: the program prints more than 256 KiB; raise max_memory", 200 << 10: ""} {
		s := newPullStage(t, nil)
		s.set("state.stdout", strings.Repeat("x", size))
		ctx := budget.NewTotal(1<<30).Scope(t.Context(), 1<<20)
		_, err := budget.Run(ctx, func(ctx context.Context) (Pulled, error) {
			p, err := Pull(ctx, s.options)
			if err == nil && budget.Take(ctx, 1<<20-int64(size)+1) == nil {
				t.Error("the state is not counted")
				return p, nil
			}
			return p, err
		})
		if _, exceeded := errors.AsType[*budget.Exceeded](err); want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) || want == "" && !exceeded {
			t.Errorf("%d bytes: got %v, want %q", size, err, want)
		}
	}
}

// TestPullEnds checks the end of a CLI that hangs.
func TestPullEnds(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	s.set("state.hangs", "")
	s.interrupt(func(ctx context.Context) error {
		_, err := Pull(ctx, s.options)
		return err
	})
}

func TestPullTimeout(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	s.set("init.hangs", "")
	s.options.Timeout = 500 * time.Millisecond
	_, err := s.pull()
	if err == nil || !strings.Contains(err.Error(), "timeout after 500ms: raise timeout, or check that the backend responds") {
		t.Errorf("got %v", err)
	}
}

// TestUnreadableWorkspace checks that an unreadable selected workspace is an error and not the
// default workspace.
func TestUnreadableWorkspace(t *testing.T) {
	t.Parallel()
	s := newPullStage(t, nil)
	file := filepath.Join(s.options.Dir, ".terraform", "environment")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.pull()
	if want := "select workspace: read .terraform/environment: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
