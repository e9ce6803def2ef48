package demo_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/demo"
)

// TestCloseEndsEverything checks that no server listens at the addresses of the configuration
// after Close.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	d, err := demo.Start(t.Context(), t.TempDir(), "127.0.0.1:9797")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(d.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"http://(127\.0\.0\.1:\d+)(?:/api/)?"`).FindAllSubmatch(text, -1)
	dial := func(address string) error {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			err = connection.Close()
		}
		return err
	}
	var stood []string
	for _, f := range found {
		if address := string(f[1]); address != "127.0.0.1:9797" && !slices.Contains(stood, address) {
			stood = append(stood, address)
			if err := dial(address); err != nil {
				t.Error(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, address := range stood {
		if dial(address) == nil {
			t.Errorf("%s still answers", address)
		}
	}
	if len(stood) != 4 {
		t.Errorf("%d servers answered, want 4", len(stood))
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	if err := os.Mkdir(filepath.Join(used, "audit.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	first, err := demo.Start(t.Context(), again, "127.0.0.1:9797")
	if err != nil || first.Close() != nil {
		t.Fatal(err)
	}
	for reason, dir := range map[string]string{"no folder": filepath.Join(used, "gone"), "a folder with other files": used, "the folder of another demo": again} {
		if d, err := demo.Start(t.Context(), dir, "127.0.0.1:9797"); err == nil {
			t.Errorf("%s: Start() succeeded, want an error", reason)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
