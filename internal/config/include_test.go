package config_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/config"
)

// loadFiles loads driftd.yaml of some files, by their names.
func loadFiles(t *testing.T, files map[string]string) (*config.Config, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "driftd.yaml"), nil)
	if err == nil {
		return cfg, nil
	}
	return cfg, strings.Split(strings.ReplaceAll(err.Error(), dir+"/", ""), "\n")
}

// TestInclude reads one configuration from several files.
func TestInclude(t *testing.T) {
	t.Parallel()
	cfg, problems := loadFiles(t, map[string]string{
		"driftd.yaml":          "include: [people.yaml, conf.d, more/*.yaml, \"*.d/[x]*.yaml\"]\nlog: {level: debug}\nsources:\n- {name: a, type: kubernetes}\n",
		"people.yaml":          "log: {format: json}\n",
		"conf.d/20-b.yaml":     "sources:\n- {name: c, type: kubernetes}\ndeclarations:\n- {name: x, type: manifests, governs: [a, b], settings: {dir: deploy}}\n",
		"conf.d/10-a.yaml":     "sources:\n- {name: b, type: kubernetes}\n",
		"conf.d/old.yaml.save": "nonsense: 1\n",
		"more/empty.yaml":      "# nothing yet\n",
	})
	if problems != nil {
		t.Fatal(problems)
	}
	var names []string
	for _, s := range cfg.Sources {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("the sources are %s", got)
	}
	if cfg.Log.Format != "json" || cfg.Log.Level.String() != "DEBUG" {
		t.Errorf("the log is %+v", cfg.Log)
	}
	if where := cfg.Declarations[0].Where(); !strings.HasSuffix(where, "/conf.d/20-b.yaml:4") {
		t.Errorf("the declaration is at %s", where)
	}
	var place struct {
		Dir string `mapstructure:"dir" path:"true"`
	}
	if err := cfg.Declarations[0].Decode(&place); err != nil || place.Dir != filepath.Join(filepath.Dir(cfg.File), "deploy") {
		t.Errorf("the folder is %s, %v", place.Dir, err)
	}
}

// TestIncludeProblems checks that each mistake is reported once, with the file that has it.
func TestIncludeProblems(t *testing.T) {
	t.Parallel()
	const main = "include: [conf.d]\nstate_dir: /a\nsources:\n- {name: a, type: kubernetes}\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a name in two files": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "sources:\n- {name: a, type: proxmox}\n"},
			[]string{`conf.d/b.yaml:2: duplicate source name "a": driftd.yaml:4 has it already`}},
		"a value in two files": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "\nstate_dir: /b\n"},
			[]string{`conf.d/b.yaml:2: state_dir is set twice: driftd.yaml:2 has it already, keep one`}},
		"another form": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "sources: {a: 1}\n"},
			[]string{`conf.d/b.yaml:1: sources is set twice: driftd.yaml:3 has it already, keep one`}},
		"an unknown key": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "sources:\n- {name: b, type: kubernetes, evry: 3m}\n"},
			[]string{`conf.d/b.yaml:2: unknown key "evry": did you mean "every"?`}},
		"no YAML": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "a: [\n", "conf.d/c.yaml": "- a\n"},
			[]string{`conf.d/b.yaml:1: no valid YAML: did not find expected node content`, `conf.d/c.yaml:1: want keys and values, such as state_dir: /var/lib/driftd`}},
		"includes others": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "include: [conf.d]\n"},
			[]string{`conf.d/b.yaml:1: an included file cannot include others: list them in driftd.yaml`}},
		"no such file": {map[string]string{"driftd.yaml": "include:\n- b.yaml\n- '[x'\nsources:\n- {name: a, type: kubernetes}\n"},
			[]string{`driftd.yaml:2: include: b.yaml does not exist: create it, or correct the path`, `driftd.yaml:3: include: pattern "[x": the brackets do not close, or the end is a backslash`}},
		"no folder": {map[string]string{"driftd.yaml": "include: [file/*.yaml]\nsources:\n- {name: a, type: kubernetes}\n", "file": ""},
			[]string{`driftd.yaml:1: include: read file: not a directory`}},
		"a folder that is not there": {map[string]string{"driftd.yaml": "include: [con.d/*.yaml]\nsources:\n- {name: a, type: kubernetes}\n"},
			[]string{`driftd.yaml:1: include: read con.d: no such file or directory`}},
		"an unknown key of the defaults": {map[string]string{"driftd.yaml": main, "conf.d/b.yaml": "defaults:\n  sources:\n    kubernetes:\n      evry: 3m\n"},
			[]string{`conf.d/b.yaml:4: unknown key "evry": did you mean "every"?`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := loadFiles(t, tc.files)
			if !slices.Equal(problems, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// TestDefaults fills in what sources and declarations do not set.
func TestDefaults(t *testing.T) {
	t.Parallel()
	cfg := loadText(t, `defaults:
  sources:
    kubernetes: {every: 2m, timeout: 1m, settings: {context: prod, namespaces: [a, b], tls: {ca_file: ca.pem, insecure: false}}}
  declarations:
    terraform: {governs: [a], every: 30m}
sources:
- {name: a, type: kubernetes}
- {name: b, type: kubernetes, every: 0, settings: {context: staging, namespaces: [c], tls: {insecure: true}}}
- {name: c, type: proxmox}
declarations:
- {name: d, type: terraform}
- {name: e, type: terraform, governs: [b], every: 5m}
`)
	type settings struct {
		Context    string         `mapstructure:"context"`
		Namespaces []string       `mapstructure:"namespaces"`
		TLS        map[string]any `mapstructure:"tls"`
	}
	for i, want := range []struct {
		every, timeout time.Duration
		settings       settings
	}{
		{2 * time.Minute, time.Minute, settings{"prod", []string{"a", "b"}, map[string]any{"ca_file": "ca.pem", "insecure": false}}},
		{10 * time.Minute, time.Minute, settings{"staging", []string{"c"}, map[string]any{"ca_file": "ca.pem", "insecure": true}}},
		{10 * time.Minute, 5 * time.Minute, settings{}},
	} {
		var got settings
		s := cfg.Sources[i]
		if err := s.Decode(&got); err != nil || s.Every != want.every || s.Timeout != want.timeout {
			t.Errorf("source %s: every %s, timeout %s, %v", s.Name, s.Every, s.Timeout, err)
		}
		if got.Context != want.settings.Context || !slices.Equal(got.Namespaces, want.settings.Namespaces) || !maps.Equal(got.TLS, want.settings.TLS) {
			t.Errorf("source %s: %+v", s.Name, got)
		}
	}
	if d, e := cfg.Declarations[0], cfg.Declarations[1]; d.Every != 30*time.Minute || d.Governs[0] != "a" || e.Every != 5*time.Minute || e.Governs[0] != "b" {
		t.Errorf("the declarations are %+v, %+v", d, e)
	}
}

// TestMergeKeys reads what YAML anchors and merge keys share.
func TestMergeKeys(t *testing.T) {
	t.Parallel()
	cfg := loadText(t, `x-common: &common {every: 3m, timeout: 2m}
x-slow: &slow {timeout: 4m}
sources:
- {<<: *common, name: a, type: kubernetes}
- {name: b, type: kubernetes, every: 1m, <<: [*slow, *common]}
`)
	for i, want := range [][2]time.Duration{{3 * time.Minute, 2 * time.Minute}, {time.Minute, 4 * time.Minute}} {
		if s := cfg.Sources[i]; s.Every != want[0] || s.Timeout != want[1] {
			t.Errorf("source %s: every %s, timeout %s", s.Name, s.Every, s.Timeout)
		}
	}
}
