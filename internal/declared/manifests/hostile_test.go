//go:build !race

package manifests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// aliasBomb returns YAML whose aliases expand to 10^11 values.
func aliasBomb(indent string) string {
	var s strings.Builder
	s.WriteString(indent + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&s, "%sa%d: &a%d [%s]\n", indent, i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10))
	}
	return s.String()
}

// doubled returns kustomizations below dir. Each one uses the next one twice, so that the last
// one is built 2^n times.
func doubled(dir string, n int) map[string]string {
	files := map[string]string{
		fmt.Sprintf("%s/l%d/kustomization.yaml", dir, n): "resources: [cm.yaml]\n",
		fmt.Sprintf("%s/l%d/cm.yaml", dir, n):            configMap("deep"),
	}
	for i := range n {
		files[fmt.Sprintf("%s/l%d/kustomization.yaml", dir, i)] = fmt.Sprintf("resources: [../a%d, ../b%d]\n", i, i)
		for _, side := range []string{"a", "b"} {
			files[fmt.Sprintf("%s/%s%d/kustomization.yaml", dir, side, i)] = fmt.Sprintf("namePrefix: %s\nresources: [../l%d]\n", side, i+1)
		}
	}
	return files
}

// TestHostile proves that a part which uses too much time or memory is a problem with a
// reason, and that the other parts are read.
func TestHostile(t *testing.T) {
	t.Parallel()
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n" + aliasBomb("  ")
	link := func(to string) func(string) error {
		return func(file string) error { return os.Symlink(to, file) }
	}
	pipe := func(file string) error { return syscall.Mkfifo(file, 0o600) }
	cases := map[string]struct {
		files map[string]string
		// make contains functions that create files which are not text.
		make    map[string]func(file string) error
		wantErr string
	}{
		"aliases in a resource":            {map[string]string{"bad/kustomization.yaml": "resources: [bomb.yaml]\n", "bad/bomb.yaml": bomb}, nil, "kustomize needs more memory than it may take (128 MiB)"},
		"aliases in a kustomization":       {map[string]string{"bad/kustomization.yaml": "resources: [cm.yaml]\n" + aliasBomb(""), "bad/cm.yaml": configMap("x")}, nil, "kustomize "},
		"aliases in a manifest":            {map[string]string{"bad/bomb.yaml": bomb}, nil, "aliases stand for more than 100000 values"},
		"a large manifest with few values": {map[string]string{"bad/large.yaml": "kind: [" + strings.Repeat("{},", 2_000_000) + "]\n"}, nil, "reading it needs more memory than it may take (128 MiB)"},
		"2^26 bases":                       {doubled("bad", 26), nil, "kustomize did not finish within"},
		"a large patch":                    {map[string]string{"bad/kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: big}]\n", "bad/cm.yaml": configMap("x")}, map[string]func(string) error{"bad/big": func(file string) error { return os.WriteFile(file, make([]byte, 17<<20), 0o600) }}, "larger than 16777216 bytes; raise max_file_size"},
		"a pipe for a kustomization":       {map[string]string{"bad/cm.yaml": configMap("x")}, map[string]func(string) error{"bad/kustomization.yaml": pipe}, "not a regular file"},
		"a pipe for a resource":            {map[string]string{"bad/kustomization.yaml": "resources: [pipe.yaml]\n"}, map[string]func(string) error{"bad/pipe.yaml": pipe}, "not a regular file"},
		"a pipe for a generator":           {map[string]string{"bad/kustomization.yaml": "generators: [pipe.yaml]\n"}, map[string]func(string) error{"bad/pipe.yaml": pipe}, "not a regular file"},
		"a pipe for a manifest":            {map[string]string{"bad/README": ""}, map[string]func(string) error{"bad/pipe.yaml": pipe}, "not a regular file"},
		"a device":                         {map[string]string{"bad/README": ""}, map[string]func(string) error{"bad/zero.yaml": link("/dev/zero")}, "leads out of the folder"},
		"a device for a transformer":       {map[string]string{"bad/kustomization.yaml": "transformers: [zero.yaml]\n"}, map[string]func(string) error{"bad/zero.yaml": link("/dev/zero")}, "zero.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"good/kustomization.yaml": "resources: [cm.yaml]\n", "good/cm.yaml": configMap("built"), "plain.yaml": configMap("plain")}
			for file, text := range tc.files {
				files[file] = text
			}
			config := manifests.Defaults()
			config.Dir, config.Timeout = deploy(t, files), 20*time.Second
			for file, make := range tc.make {
				if err := make(filepath.Join(config.Dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			d, err := loadWithin(t, config, 128<<20)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(claims(d), "\n")
			if !strings.Contains(got, "default/built") || !strings.Contains(got, "default/plain") || len(d.Problems) != 1 {
				t.Errorf("claims %s and problems %v, want those of the good parts, and one problem", got, d.Problems)
			}
			if reasons := strings.Join(problems(d), "\n"); !strings.Contains(reasons, "deploy/bad") || !strings.Contains(reasons, tc.wantErr) {
				t.Errorf("problems %s, want %q", reasons, tc.wantErr)
			}
		})
	}
}
