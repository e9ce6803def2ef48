package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

// loadText reads a configuration of one file, which must have no problem.
func loadText(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "driftd.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

const twoFolders = `sources: [{name: live, type: kubernetes}]
declarations:
- name: here
  type: manifests
  governs: [live]
  settings: {dir: .}
- name: gone
  type: manifests
  governs: [live]
  settings:
    dir: ./nowhere
- {name: git, type: manifests, governs: [live], settings: {git: "https://example.org/r"}}
- {name: glob, type: manifests, governs: [live], settings: {dir: "./nowhere/*"}}
`

func TestCheckExists(t *testing.T) {
	t.Parallel()
	cfg := loadText(t, twoFolders)
	for i, want := range []string{"", "driftd.yaml:11: dir: ", "", ""} {
		err := cfg.Declarations[i].CheckExists("dir")
		switch {
		case want == "" && err != nil:
			t.Errorf("declaration %s: %v", cfg.Declarations[i].Name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nowhere does not exist: create it, or correct the path")):
			t.Errorf("declaration %s: %v, want %q", cfg.Declarations[i].Name, err, want)
		}
	}
}

// TestPathsTakeNoPatterns checks that a pattern in a path is a problem on its line, unless a
// file has that exact name or the setting takes patterns.
func TestPathsTakeNoPatterns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "[a]"), 0o700); err != nil {
		t.Fatal(err)
	}
	type settings struct {
		Dir   string   `mapstructure:"dir" path:"true"`
		Files []string `mapstructure:"files" path:"true"`
		State []string `mapstructure:"state" path:"true" glob:"true"`
	}
	for name, tt := range map[string]struct {
		reason string
		values map[string]any
		want   string
	}{
		"plain":      {reason: "no pattern", values: map[string]any{"dir": dir + "/missing"}},
		"star":       {reason: "a pattern", values: map[string]any{"dir": dir + "/*"}, want: "dir does not support patterns"},
		"question":   {reason: "a pattern", values: map[string]any{"dir": dir + "/?"}, want: "dir does not support patterns"},
		"bracket":    {reason: "a pattern", values: map[string]any{"dir": dir + "/[ab]"}, want: "dir does not support patterns"},
		"its name":   {reason: "a folder is called so", values: map[string]any{"dir": dir + "/[a]"}},
		"in a list":  {reason: "each item counts", values: map[string]any{"files": []any{dir, dir + "/*"}}, want: "files[1] does not support patterns"},
		"taken":      {reason: "the setting takes patterns", values: map[string]any{"state": []any{dir + "/*.tfstate"}}},
		"of an URL":  {reason: "what a URL holds is not a path", values: map[string]any{"dir": "https://example.org/?a=*"}},
		"of nothing": {reason: "nothing is set", values: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var into settings
			err := config.NewSettings("command line", tt.values).Decode(&into)
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

func TestSortedJoinsProblemsByLine(t *testing.T) {
	t.Parallel()
	at := func(line int, text string) config.Problem {
		return config.Problem{Where: fmt.Sprintf("driftd.yaml:%d", line), Line: line, Text: text}
	}
	other := errors.New("no users")
	err := config.Sorted(errors.Join(
		&config.Error{Problems: []config.Problem{at(9, "z"), at(30, "a")}},
		other,
		errors.Join(&config.Error{Problems: []config.Problem{at(12, "b"), at(9, "a"), at(9, "z")}}, nil),
	))
	want := "driftd.yaml:9: a\ndriftd.yaml:9: z\ndriftd.yaml:12: b\ndriftd.yaml:30: a\nno users"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !errors.Is(err, other) {
		t.Error("the other error is lost")
	}
	if err := config.Sorted(nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	if err := config.Sorted(other); err != other { //nolint:errorlint // it is the very same
		t.Errorf("of another error: %v", err)
	}
}

func TestSettingsWith(t *testing.T) {
	t.Parallel()
	type settings struct {
		A string `mapstructure:"a"`
		B string `mapstructure:"b"`
	}
	before := config.NewSettings("command line", map[string]any{"a": "1", "b": "1"})
	var one, two, three settings
	if err := errors.Join(before.With(map[string]any{"b": "2"}).Decode(&one), before.Decode(&two),
		config.Settings{}.With(map[string]any{"a": "3"}).Decode(&three)); err != nil {
		t.Fatal(err)
	}
	if one != (settings{"1", "2"}) || two != (settings{"1", "1"}) || three != (settings{"3", ""}) {
		t.Errorf("got %v, before %v, of nothing %v", one, two, three)
	}
}
