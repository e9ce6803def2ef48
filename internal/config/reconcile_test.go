package config_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The settings of a writer are located in the file: paths in them are relative to it, and errors have the line.
func TestWriterSettings(t *testing.T) {
	t.Parallel()
	c := load(t, minimal+"reconcile:\n  writers:\n    - source: prod\n      settings: {token_file: writer, sever: x}\n")
	var settings struct {
		TokenFile string `mapstructure:"token_file" path:"true"`
		Server    string `mapstructure:"server"`
	}
	err := c.Reconcile.Writers[0].Decode(&settings)
	if err == nil || !strings.Contains(err.Error(), `driftd.yaml:5: unknown key "sever": did you mean "server"?`) {
		t.Errorf("got %v", err)
	}
	if want := filepath.Join(filepath.Dir(c.File), "writer"); settings.TokenFile != want {
		t.Errorf("token_file is %s, want %s", settings.TokenFile, want)
	}
}
