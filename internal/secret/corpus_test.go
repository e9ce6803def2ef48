package secret_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/secret"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCorpus checks which values are sealed in the objects, plans and responses of the
// project's test data. Each line of the golden file is a secret.
func TestCorpus(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	var lines []string
	for _, root := range []string{"../kube/testdata", "../demo/manifests", "../declared/terraform/plan/testdata", "../collectors", "../mapping/testdata/examples", "../../test/e2e/testdata"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".yaml" && filepath.Ext(file) != ".json" {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			docs, _ := decode.YAML(bytes.NewReader(data)) // Some are broken on purpose.
			for _, doc := range docs {
				if doc.Value.At("kind").Str() == "Secret" { // Sealed by its schema.
					continue
				}
				r.Found("", doc.Value, func(path, why, _ string) {
					lines = append(lines, strings.TrimPrefix(filepath.ToSlash(file), "../")+" "+path+" "+why+"\n")
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	got, golden := strings.Join(lines, ""), filepath.Join("testdata", "corpus.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("sealed places (-want +got):\n%s", d)
	}
}
