package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// TestWindows checks that a freeze without times is one of whole days.
func TestWindows(t *testing.T) {
	t.Parallel()
	c := load(t, minimal+`reconcile:
  freezes:
    - {days: [sat, sun], timezone: Europe/Berlin, sources: [prod], reason: weekend}
    - {from: "22:00", to: "06:30", timezone: UTC, reason: night}
`)
	list, err := c.Reconcile.Windows()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for i, c := range []struct {
		at, want string
		ends     time.Duration
	}{{"2026-03-07T09:00:00Z", "prod", 38 * time.Hour}, {"2026-03-08T23:00:00Z", "", 7*time.Hour + 30*time.Minute}} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		w := list[i]
		if end := w.End(at.In(w.Location)); !end.Equal(at.Add(c.ends)) || strings.Join(w.Sources, "") != c.want || w.Reason == "" {
			t.Errorf("%s of %v ends at %s", w.Name, w.Sources, end)
		}
	}
}
