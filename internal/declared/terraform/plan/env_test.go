package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// calledWith returns a variable of the environment of the CLI's last call.
func (s *stage) calledWith(name string) string {
	lines := strings.Split(s.fake.text("env"), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

func TestEnvFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.env"), filepath.Join(dir, "second.env")
	s.write(first, "LAB_TOKEN=first\nLAB_USER=first\nLAB_REGION=first\n")
	s.write(second, "# dns\nLAB_USER='second'\n")
	s.options.EnvFiles = []string{first, second}
	s.options.Env["LAB_REGION"], s.options.Env["LAB_ZONE"] = "env", "env"
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{"LAB_TOKEN": "first", "LAB_USER": "second", "LAB_REGION": "first", "LAB_ZONE": "env"} {
		if got := s.calledWith(variable); got != want {
			t.Errorf("%s is %q, want %q: a file counts before env, and a later one before an earlier one", variable, got, want)
		}
	}
	s.write(first, "LAB_TOKEN=rotated\n")
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if got := s.calledWith("LAB_TOKEN"); got != "rotated" {
		t.Errorf("after a rotation: %q", got)
	}
}

func TestEnvFilesFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, content, want string }{
		"gone":     {"a file that does not exist", "", "no such file or directory"},
		"reserved": {"a variable of driftd's own", "TF_DATA_DIR=hunter22", "TF_DATA_DIR is reserved for driftd"},
		"reattach": {"a provider that runs outside of the plan", "TF_REATTACH_PROVIDERS={}", "TF_REATTACH_PROVIDERS is not allowed: "},
		"syntax":   {"no variable", "hunter22", "line 1 is not NAME=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			file := filepath.Join(t.TempDir(), "dns.env")
			if tt.content != "" {
				s.write(file, tt.content)
			}
			s.options.EnvFiles = []string{file}
			_, err := s.run()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "env_files: ") || strings.Contains(err.Error(), "hunter") {
				t.Errorf("%s: got %v", tt.reason, err)
			}
			if s.fake.has("calls") {
				t.Error("the CLI was called")
			}
		})
	}
}

// TestReserved checks the reserved variables.
func TestReserved(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{
		"TF_REATTACH_PROVIDERS": "under dev_overrides",
		"TF_CLI_CONFIG_FILE":    "set cli_config_file",
		"TF_WORKSPACE":          "set workspace",
		"TF_CLI_ARGS_plan":      "settings such as parallelism",
		"TF_LOG_SDK":            "remove it",
		"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE": "remove it",
	} {
		err := Options{Env: map[string]string{name: "x"}}.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "env: "+name+" is ") || !strings.Contains(err.Error(), next) {
			t.Errorf("%s: got %v, want %q", name, err, next)
		}
		err = Options{PassEnv: []string{"A", name}}.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "pass_env: "+name+" is ") {
			t.Errorf("%s in pass_env: got %v", name, err)
		}
		s := newStage(t, nil)
		file := filepath.Join(t.TempDir(), "x.env")
		s.write(file, name+"=x\n")
		if _, err := ReadEnvFile(file); err == nil || !strings.Contains(err.Error(), file+": "+name+" is ") {
			t.Errorf("%s in a file: got %v", name, err)
		}
	}
}

// TestReservedIsNotPassed checks that a pattern of pass_env does not pass reserved variables.
func TestReservedIsNotPassed(t *testing.T) {
	t.Parallel()
	w := &work{Options: Options{PassEnv: []string{"TF_*"}}}
	given := w.given([]string{"TF_REATTACH_PROVIDERS={}", "TF_TOKEN_example=x"})
	if _, passed := given["TF_REATTACH_PROVIDERS"]; passed || given["TF_TOKEN_example"] != "x" {
		t.Errorf("got %v", given)
	}
}

func TestEnvFileIsMasked(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	file := filepath.Join(t.TempDir(), "dns.env")
	s.write(file, "DNS_TOKEN=/hunter22+x\nDNS_KEY='begin\nhunter23\nend'\nDNS_CA_PATH=/etc/ca\nDNS_CREDENTIALS="+s.root+"\n")
	s.options.EnvFiles = []string{file}
	s.set("init.stderr", "Error: not good: /hunter22+x hunter23 /etc/ca "+s.root+"\n")
	_, err := s.run()
	if want := "not good: (secret) (secret) /etc/ca " + s.root; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if left, err := os.ReadDir(filepath.Join(s.options.CacheDir, "work")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
