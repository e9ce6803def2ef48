package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCollector builds the collector of docs/writing-a-collector.md as a part of driftd, with
// the line that registers it, and runs its tests. The files are in an overlay: the repository
// is not written to.
func TestCollector(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	place := t.TempDir()
	add := func(path, text string) {
		file := filepath.Join(place, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(top, path)] = file
	}
	files, line := example(t)
	for name, text := range files {
		add("internal/collectors/cirrus/"+name, text)
	}
	const all = "internal/collectors/all/all.go"
	text, err := os.ReadFile(filepath.Join(top, all))
	if err != nil {
		t.Fatal(err)
	}
	registered := strings.Replace(string(text), "		aws.Definition(),\n", "		aws.Definition(),\n"+line, 1)
	add(all, strings.Replace(registered, "import (\n", "import (\n\t\"github.com/driftd/driftd/internal/collectors/cirrus\"\n", 1))
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	setting := filepath.Join(place, "overlay.json")
	if err := os.WriteFile(setting, data, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(place, "cirrus.test")
	run(t, top, "go", "build", "-overlay", setting, "-o", os.DevNull, "./internal/collectors/all")
	run(t, top, "go", "test", "-c", "-vet=off", "-overlay", setting, "-o", binary, "./internal/collectors/cirrus")
	run(t, place, binary)
}

// example returns the files of the page's collector, and the line that registers it.
func example(t *testing.T) (files map[string]string, line string) {
	t.Helper()
	files = map[string]string{}
	for _, page := range readAll(t) {
		if page.Name != "docs/writing-a-collector.md" {
			continue
		}
		for _, b := range page.Blocks {
			first, text, _ := strings.Cut(b.Text, "\n\n")
			name, named := strings.CutPrefix(first, "// ")
			switch {
			case b.Lang == "go" && named:
				files[name] = text
			case b.Lang == "go":
				line += b.Text
			}
		}
	}
	if len(files) < 4 || line == "" {
		t.Fatalf("the page has %d files and the line %q", len(files), line)
	}
	return files, line
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
