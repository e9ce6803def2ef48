package terraform_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
)

// rootWithCLI returns a root, and a CLI program that prints a state.
func rootWithCLI(t *testing.T, state string) (root, program string) {
	t.Helper()
	root = filepath.Dir(write(t, "main.tf", "terraform {\n  backend \"http\" {\n    address = \"https://example.org\"\n  }\n}\n"))
	program = write(t, "cli", "#!/bin/sh\ncase $1 in\nversion) echo '{\"terraform_version\":\"1.11.4\"}' ;;\nstate) cat <<'END' ;;\n"+state+"\nEND\nesac\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	return root, program
}

// TestPullClaims compares the claims of a pulled state with those of the same state
// read from a file.
func TestPullClaims(t *testing.T) {
	t.Parallel()
	types := map[string]string{"pve": "proxmox"}
	file := write(t, "terraform.tfstate", aState)
	want, err := load(t, types, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	root, program := rootWithCLI(t, aState)
	got, err := load(t, types, func(c *terraform.Config) { c.Engine, c.Dir, c.Run.Binary = terraform.State, root, program })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(claimed(want), claimed(got)); d != "" {
		t.Errorf("claims (-read +pulled):\n%s", d)
	}
	record := model.StateRead{Address: root + " (workspace default)", Lineage: "6d3a", Serial: 7, Tool: "cli 1.11.4"}
	for i := range got.States {
		got.States[i].Hash = ""
	}
	if d := cmp.Diff([]model.StateRead{record}, got.States); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
}

// TestSelectedWorkspace checks that the workspace that is selected in a folder counts unless another one is set,
// and never that of a file in a repository.
func TestSelectedWorkspace(t *testing.T) {
	t.Parallel()
	root, program := rootWithCLI(t, aState)
	selection := filepath.Join(root, ".terraform", "environment")
	if err := errors.Join(os.Mkdir(filepath.Dir(selection), 0o700), os.WriteFile(selection, []byte("dev"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A", "-f"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "x"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	for name, tt := range map[string]struct {
		change func(*terraform.Config)
		want   string
	}{
		"folder":             {func(c *terraform.Config) { c.Dir = root }, "dev"},
		"folder, as set":     {func(c *terraform.Config) { c.Dir, c.Run.Workspace = root, "prod" }, "prod"},
		"repository":         {func(c *terraform.Config) { c.Git = root }, "default"},
		"repository, as set": {func(c *terraform.Config) { c.Git, c.Run.Workspace = root, "prod" }, "prod"},
	} {
		got, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) {
			c.Engine, c.Run.Binary = terraform.State, program
			tt.change(c)
		})
		if err != nil || len(got.States) != 1 || !strings.HasSuffix(got.States[0].Address, "(workspace "+tt.want+")") {
			t.Errorf("%s: states %+v, %v, want workspace %s", name, got.States, err, tt.want)
		}
	}
}

// TestPositions checks the positions of claims inside and outside of a git work tree.
func TestPositions(t *testing.T) {
	t.Parallel()
	root, program := rootWithCLI(t, aState)
	block := "# The pool.\nresource \"proxmox_virtual_environment_pool\" \"blue\" {}\n"
	if err := os.WriteFile(filepath.Join(root, "pool.tf"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	positions := func() map[string]string {
		d, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) { c.Engine, c.Dir, c.Run.Binary = terraform.State, root, program })
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, c := range d.Claims {
			if c.Position != "" {
				found[c.Address] = c.Position
			}
		}
		return found
	}
	want := map[string]string{"proxmox_virtual_environment_pool.blue": filepath.Base(root) + "/pool.tf:2"}
	if diff := cmp.Diff(want, positions()); diff != "" {
		t.Errorf("in a folder (-want +got):\n%s", diff)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	want["proxmox_virtual_environment_pool.blue"] = "pool.tf:2"
	if diff := cmp.Diff(want, positions()); diff != "" {
		t.Errorf("in a work tree (-want +got):\n%s", diff)
	}
}

func TestPullErrors(t *testing.T) {
	t.Parallel()
	root, program := rootWithCLI(t, "")
	for name, tc := range map[string]struct {
		change func(*terraform.Config)
		want   string
	}{
		"empty output":                {func(*terraform.Config) {}, "(workspace default): the state is empty"},
		"state location and root":     {func(c *terraform.Config) { c.State = []string{"x"} }, "state cannot be combined with dir or git"},
		"workspace patterns":          {func(c *terraform.Config) { c.Backend.Workspaces = []string{"*"} }, "set workspace"},
		"zero timeout":                {func(c *terraform.Config) { c.Run.Timeout = 0 }, "timeout 0s"},
		"state larger than max_bytes": {func(c *terraform.Config) { c.Run.Binary, c.Backend.MaxBytes = largeCLI(t), 10 }, "raise backend.max_bytes"},
	} {
		_, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) {
			c.Engine, c.Dir, c.Run.Binary = terraform.State, root, program
			tc.change(c)
		})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func largeCLI(t *testing.T) string {
	t.Helper()
	_, program := rootWithCLI(t, aState)
	return program
}

// TestIgnoredInRoot checks that attributes in ignore_changes are not compared if the root is known, and are if it is not.
func TestIgnoredInRoot(t *testing.T) {
	t.Parallel()
	root, program := rootWithCLI(t, aState)
	block := "resource \"proxmox_virtual_environment_pool\" \"blue\" {\n  lifecycle {\n    ignore_changes = [comment]\n  }\n}\n"
	if err := os.WriteFile(filepath.Join(root, "pool.tf"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	live := model.MapOf(model.Field{Name: "poolid", Value: model.StringOf("blue")}, model.Field{Name: "comment", Value: model.StringOf("by hand")})
	for name, tc := range map[string]struct {
		change func(*terraform.Config)
		want   map[string][]string
	}{
		"root": {func(c *terraform.Config) { c.Dir, c.Run.Binary = root, program }, map[string][]string{}},
		"location": {func(c *terraform.Config) { c.State = []string{write(t, "terraform.tfstate", aState)} },
			map[string][]string{"proxmox_virtual_environment_pool.blue": {"comment"}}},
	} {
		d, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) {
			c.Engine = terraform.State
			tc.change(c)
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, differing(d, "proxmox/pool", live)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
