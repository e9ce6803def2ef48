package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/config"
)

// TestCredentialBeside checks that a process other than the service finds the service's
// credentials, if it has permission to read them.
func TestCredentialBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "credentials"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"credentials/web.yml": "{}",
		"driftd.yaml":         "server: {web_config_file: web.yml}\nsources: [{name: pve, type: proxmox}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := loadFile(t, filepath.Join(dir, "driftd.yaml")).Server.WebConfigFile, filepath.Join(dir, "credentials", "web.yml"); got != want {
		t.Errorf("web_config_file = %s, want %s", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "web.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := loadFile(t, filepath.Join(dir, "driftd.yaml")).Server.WebConfigFile, filepath.Join(dir, "web.yml"); got != want {
		t.Errorf("web_config_file = %s, want the file beside the configuration, %s", got, want)
	}
}

func loadFile(t *testing.T, file string) *config.Config {
	t.Helper()
	c, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
