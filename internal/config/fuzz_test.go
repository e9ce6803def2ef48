package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/config"
)

func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	for _, seed := range []string{"", minimal, "a: &a [*a]", notifying + "  routes: [{match: {source: prod, label: {a.b: \"*\"}}, receivers: [ops], repeat: 1d}]\n", "\t", "? [x]\n: y", bomb(), "sources: [{settings: {a.b: 1, a[0]: 2}}]", head + "    rules: [{file: ~}, 3]\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		c, err := config.LoadBytes([]byte(content))
		if err == nil {
			for _, s := range c.Sources {
				err = errors.Join(err, s.Decode(&settings{}))
			}
			for i := range c.Notify.Receivers {
				r := &c.Notify.Receivers[i]
				if _, wrong := r.Location(); wrong != nil {
					t.Errorf("timezone %q was let through", r.Timezone)
				}
				err = errors.Join(err, r.Decode(&settings{}))
			}
		}
		_, again := config.LoadBytes([]byte(content))
		if err != nil && again != nil && err.Error() != again.Error() {
			t.Errorf("the same file gives two errors:\n%v\n%v", err, again)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "driftd.yaml") {
			t.Errorf("error %q does not name the file", err)
		}
	})
}
