package plan

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPruneSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxKept + 3 {
		name := filepath.Join(dir, string(rune('A'+i)))
		if err := keep(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(i), 0)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := keep(filepath.Join(dir, "new"), []byte("y")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != maxKept || entries[0].Name() != "E" {
		t.Errorf("%d kept, from %v on, %v", len(entries), entries[0], err)
	}
}
