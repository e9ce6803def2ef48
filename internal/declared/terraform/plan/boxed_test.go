package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// boxed returns a stage whose CLI is a shell script in the box. $1 is the command.
func boxed(t *testing.T, script string, files map[string]string) *stage {
	t.Helper()
	s := newStage(t, files)
	s.options.Boxed, s.options.Env = true, map[string]string{}
	s.options.Binary = filepath.Join(t.TempDir(), "cli")
	s.write(s.options.Binary, "#!/bin/sh\n"+`if [ $1 = version ]; then echo '{"terraform_version":"1.11.4"}'; exit; fi`+"\n"+script+"\n")
	if err := os.Chmod(s.options.Binary, 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// failure runs a plan that must fail, and returns its error.
func (s *stage) failure() string {
	s.t.Helper()
	_, err := s.run()
	if err == nil {
		s.t.Fatal("the plan succeeded")
	}
	return err.Error()
}

func TestBoxReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	reading := func(t *testing.T) *stage {
		s := boxed(t, `[ $1 = plan ] || exit 0
for f in "$HOME"/in-home $ROOT_FILE $(cat $LIST); do cat $f >/dev/null 2>&1 && echo "reads $(basename $f)" || echo "no $(basename $f)"; done >out
printf '\nError: %s\n' "$(cat out)" >&2; exit 1`, nil)
		s.options.Env["LIST"] = files["list"]
		return s
	}
	for _, name := range []string{"secret", "ca.pem", "site.tfvars", "backend.hcl", "key.json", "token", "mirror/provider", "more/x", "home/in-home", "build/linked"} {
		files[name] = filepath.Join(dir, name)
		(&stage{t: t}).write(files[name], name)
	}
	files["list"] = filepath.Join(dir, "list")
	(&stage{t: t}).write(files["list"], strings.Join([]string{files["secret"], files["ca.pem"], files["site.tfvars"], files["backend.hcl"], files["key.json"],
		files["token"], files["mirror/provider"], filepath.Join(dir, "mirror", "linked"), files["more/x"], files["home/in-home"]}, "\n"))
	if err := os.Symlink(files["build/linked"], filepath.Join(dir, "mirror", "linked")); err != nil {
		t.Fatal(err)
	}
	s := reading(t)
	s.options.Env["CA"] = files["ca.pem"]
	s.options.VarFiles, s.options.BackendFiles = []string{files["site.tfvars"]}, []string{files["backend.hcl"]}
	s.options.Vars = map[string]any{"key": files["key.json"]}
	s.options.BackendConfig = map[string]string{"token": files["token"]}
	s.options.ReadPaths = []string{filepath.Join(dir, "more")}
	s.options.Home = filepath.Join(dir, "home")
	s.options.CLIConfig = filepath.Join(dir, "cli.tfrc")
	(&stage{t: t}).write(s.options.CLIConfig, `provider_installation { 
  filesystem_mirror { path = "`+filepath.Join(dir, "mirror")+`" } 
}`)
	want := "no secret reads ca.pem reads site.tfvars reads backend.hcl reads key.json reads token reads provider reads linked reads x reads in-home"
	if got := s.failure(); !strings.Contains(got, "plan: reads in-home: "+want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s = reading(t)
	want = "no secret no ca.pem no site.tfvars no backend.hcl no key.json no token no provider no linked no x no in-home"
	if got := s.failure(); !strings.Contains(got, want) {
		t.Errorf("without read_paths: got %q, want %q", got, want)
	}
}

// TestPlansAreIsolated checks that a plan cannot change the files that the plan of another root, or
// its own next plan, runs or reads.
func TestPlansAreIsolated(t *testing.T) {
	t.Parallel()
	other := newStage(t, map[string]string{".terraform.lock.hcl": "locked"})
	if _, err := other.run(); err != nil {
		t.Fatal(err)
	}
	provider := filepath.Join(other.options.CacheDir, "plugins", "provider")
	other.write(provider, "good")
	before := other.snapshot(other.options.CacheDir)
	s := boxed(t, `case $1 in
init) echo good >$TF_PLUGIN_CACHE_DIR/provider ;;
plan) for f in $TF_PLUGIN_CACHE_DIR/provider $(find `+other.options.CacheDir+` -type f) `+other.options.CacheDir+`/plugins/new; do
    (echo poison >$f) 2>/dev/null && echo "wrote $f"; (rm $f) 2>/dev/null && echo "removed $f"
    (ln $f linked && echo poison >linked) 2>/dev/null && echo "wrote $f by a link"
  done >out
  printf '\nError: done: %s\n' "$(cat out) $(cat $TF_PLUGIN_CACHE_DIR/provider)" >&2; exit 1 ;;
esac`, map[string]string{".terraform.lock.hcl": "locked"})
	if got := s.failure(); got != "plan: done: good" {
		t.Errorf("got %q", got)
	}
	after := other.snapshot(other.options.CacheDir)
	for file, text := range before {
		if after[file] != text {
			t.Errorf("%s was changed to %q", file, after[file])
		}
	}
	if len(after) != len(before) {
		t.Errorf("files: %d, before %d", len(after), len(before))
	}
}

// TestBoxHint checks the hint for a file that the box does not allow.
func TestBoxHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	(&stage{t: t}).write(ca, "x")
	hint := "; the box does not allow access to " + ca + ": add it, or a folder above it, to read_paths"
	for name, tt := range map[string]struct {
		reason string
		set    func(*stage)
		stderr string
		hint   bool
	}{
		"refused":   {"a file that exists and is not named", nil, "open " + ca + ": permission denied", true},
		"quoted":    {"as Terraform writes it", nil, `no file exists at "` + ca + `"; it must`, true},
		"named":     {"the box is not the cause", func(s *stage) { s.options.ReadPaths = []string{dir} }, "open " + ca + ": permission denied", false},
		"not boxed": {"there is no box", func(s *stage) { s.options.Boxed = false }, "open " + ca + ": permission denied", false},
		"missing":   {"a file that does not exist", nil, "open " + filepath.Join(dir, "gone") + ": no such file", false},
		"system":    {"a file of the system", nil, "open /etc/passwd: permission denied", false},
		"no path":   {"an error of a service", nil, "Permission denied on resource project/x", false},
		"its own":   {"a file of the copy", nil, "open $PWD/main.tf: is bad", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := boxed(t, `[ $1 = init ] || exit 0; printf "\nError: %s\n" "`+strings.ReplaceAll(tt.stderr, `"`, `\"`)+`" >&2; exit 1`, nil)
			if tt.set != nil {
				tt.set(s)
			}
			if got := s.failure(); strings.HasSuffix(got, hint) != tt.hint {
				t.Errorf("%s: got %q", tt.reason, got)
			}
		})
	}
}

// TestGuardedTimeout checks the end of a plan that hangs, with a child process in another session
// that has its output pipe.
func TestGuardedTimeout(t *testing.T) {
	t.Parallel()
	s := boxed(t, `[ $1 = plan ] || exit 0; setsid sh -c 'trap "" INT; sleep 1000' & trap '' INT; sleep 1000`, nil)
	s.options.Timeout, s.options.Grace = 500*time.Millisecond, time.Millisecond
	if got := s.failure(); !strings.Contains(got, "timeout after 500ms") {
		t.Errorf("got %q", got)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGuardedMemory(t *testing.T) {
	t.Parallel()
	s := boxed(t, `[ $1 = plan ] || exit 0; x=$(head -c 60000000 /dev/zero | tr '\0' x); mkfifo f; read line <f`, nil)
	s.options.MaxMemory = 50 << 20
	if got := s.failure(); !strings.Contains(got, "plan: the program and what it started needed more memory than max_plan_memory (50 MiB)") {
		t.Errorf("got %q", got)
	}
}
