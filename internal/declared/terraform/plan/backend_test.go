package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

func TestCompleteBackend(t *testing.T) {
	t.Parallel()
	const kept = `{"version": 3, "backend": {"type": "s3", "config":
		{"bucket": "states", "key": "old", "profile": null, "secret_key": "hunter2"}}}`
	for name, c := range map[string]struct {
		files   map[string]string
		options Options
		want    map[string]any
		reason  string
	}{
		"settings of the last init": {
			files:  map[string]string{"main.tf": s3Backend, ".terraform/terraform.tfstate": kept},
			want:   map[string]any{"bucket": "states", "secret_key": "hunter2"},
			reason: "the block itself may be newer than the last init",
		},
		"init was for another backend": {
			files: map[string]string{"main.tf": `terraform { 
  backend "gcs" {} 
}`, ".terraform/terraform.tfstate": kept},
			want: map[string]any{},
		},
		"settings of the configuration": {
			files:   map[string]string{"main.tf": s3Backend, ".terraform/terraform.tfstate": kept},
			options: Options{BackendConfig: map[string]string{"bucket": "others"}},
			want:    map[string]any{"bucket": "others"},
		},
		"local, by default": {
			files: map[string]string{"main.tf": localBackend},
			want:  map[string]any{"path": "ROOT/terraform.tfstate", "workspace_dir": "ROOT/terraform.tfstate.d"},
		},
		"local, elsewhere": {
			files:   map[string]string{"main.tf": localBackend},
			options: Options{BackendConfig: map[string]string{"path": "../states/a.tfstate", "workspace_dir": "/states"}},
			want:    map[string]any{"path": "ROOT/../states/a.tfstate", "workspace_dir": "/states"},
			reason:  "a path begins at the root, and not at its copy",
		},
		"no backend": {files: map[string]string{"main.tf": ""}, want: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.files)
			c.options.Dir = s.root
			w := &work{Options: c.options, dir: t.TempDir(), root: s.root}
			if err := w.completeBackend(); err != nil {
				t.Fatal(err)
			}
			for name, value := range c.want {
				if path, below := strings.CutPrefix(value.(string), "ROOT/"); below {
					c.want[name] = filepath.Join(s.root, path)
				}
			}
			if d := cmp.Diff(c.want, w.backend); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, d)
			}
		})
	}
}

const (
	s3Backend    = "terraform {\n  backend \"s3\" {\n    key = \"new\"\n  }\n}\n"
	localBackend = "terraform {\n  backend \"local\" {}\n}\n"
)

// TestOwnStates checks that states in a root with a backend block are not copied: init would ask
// whether to migrate them.
func TestOwnStates(t *testing.T) {
	t.Parallel()
	for backend, copied := range map[string]bool{s3Backend: false, localBackend: false, "": true} {
		s := newStage(t, map[string]string{"main.tf": backend, "terraform.tfstate": "{}"})
		w := &work{Options: s.options, dir: t.TempDir()}
		if err := w.copyRoot(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := isFile(filepath.Join(w.root, "terraform.tfstate")); got != copied {
			t.Errorf("backend %q: the state is copied: %t, want %t", workcopy.Scan(s.root).Backend, got, copied)
		}
	}
}

// TestConfigOfHome checks that the CLI configuration in Home is used.
func TestConfigOfHome(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{"home/.terraformrc": "", "home/.tofurc": "", "plain/.terraformrc": ""})
	home, plain := filepath.Join(s.root, "home"), filepath.Join(s.root, "plain")
	for _, c := range []struct{ cli, named, home, want string }{
		{"terraform", "named.tfrc", home, "named.tfrc"},
		{"terraform", "", home, filepath.Join(home, ".terraformrc")},
		{"tofu", "", home, filepath.Join(home, ".tofurc")},
		{"tofu", "", plain, filepath.Join(plain, ".terraformrc")},
		{"tofu", "", s.root, "/private/cli.tfrc"},
		{"tofu", "", "", "/private/cli.tfrc"},
	} {
		w := &work{Options: Options{CLIConfig: c.named, Home: c.home}, dir: "/private"}
		if got := w.cliConfig("/bin/" + c.cli); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
