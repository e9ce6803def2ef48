package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

func TestRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{".terraform.lock.hcl": "locked", "terraform.tfstate": "{}"})
	s.set("plan.writes", "")
	before := s.snapshot(filepath.Dir(s.root))
	out, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	if out.Tool != "Terraform 1.11.4" || !out.Complete || len(out.Instances) != 1 || out.Instances[0].Address != "lab_server.web" {
		t.Errorf("got %+v", out)
	}
	want := []string{
		"version -json",
		"init -no-color -input=false -backend=true -get=true -upgrade=false (-lock=false -lockfile=readonly)",
		"plan -no-color -input=false -detailed-exitcode -lock-timeout=0s -out=W/plan.tfplan -lock=false -parallelism=10 -refresh=true -json",
		"show -no-color W/plan.tfplan (-json)",
		"providers schema -json -no-color",
	}
	if d := cmp.Diff(want, s.calls()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, s.snapshot(filepath.Dir(s.root))); d != "" {
		t.Errorf("the user's folder changed (-before +after):\n%s", d)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if calls := s.calls(); len(calls) != 2*len(want)-1 {
		t.Errorf("schemas are read again: %v", calls)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{"main.tf": `terraform { 
  backend "pg" {} 
}`, ".terraform/environment": "staging"})
	s.options.Parallelism = 4
	s.options.VarFiles = []string{"prod.tfvars", "/etc/site.tfvars"}
	s.options.Vars = map[string]any{"size": 4, "password": "hunter22"}
	s.options.BackendFiles = []string{"site.tfbackend"}
	s.options.BackendConfig = map[string]string{"conn_str": "hunter23"}
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"version -json",
		"init -no-color -input=false -backend=true -get=true -upgrade=false -backend-config=W/copy/site.tfbackend -backend-config=W/backend.json" +
			" -backend-config=skip_schema_creation=true -backend-config=skip_table_creation=true -backend-config=skip_index_creation=true (-lock=false)",
		"workspace select -no-color staging",
		"plan -no-color -input=false -detailed-exitcode -lock-timeout=0s -out=W/plan.tfplan -var-file=W/copy/prod.tfvars" +
			" -var-file=/etc/site.tfvars -var-file=W/driftd.tfvars.json -lock=false -parallelism=4 -refresh=true -json",
		"show -no-color W/plan.tfplan (-json)",
		"providers schema -json -no-color",
	}
	if d := cmp.Diff(want, s.calls()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PLANTEST_REGION", "north")
	t.Setenv("PLANTEST_TOKEN", "t")
	t.Setenv("OTHER_TOKEN", "not to be handed on")
	t.Setenv("TF_CLI_ARGS", "-upgrade")
	s := newStage(t, nil)
	s.options.PassEnv = []string{"PLANTEST_*", "TF_*"}
	s.options.Env["TF_VAR_size"] = "4"
	s.options.MemoryLimit = "1GiB"
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	env, _, _ := strings.Cut(s.fake.text("env"), "\nTMPDIR=")
	var names []string
	for line := range strings.SplitSeq(env, "\n") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	want := []string{"CHECKPOINT_DISABLE", "FAKE_DIR", "GOMEMLIMIT", "GORACE", "HOME", "LANG", "NO_COLOR", "PATH", "PLANTEST_REGION",
		"PLANTEST_TOKEN", "TERRAGRUNT_DOWNLOAD", "TERRAGRUNT_FORWARD_TF_STDOUT", "TERRAGRUNT_NON_INTERACTIVE", "TF_CLI_CONFIG_FILE",
		"TF_DATA_DIR", "TF_FORCE_LOCAL_BACKEND", "TF_INPUT", "TF_IN_AUTOMATION", "TF_PLUGIN_CACHE_DIR",
		"TF_VAR_size", "TG_DOWNLOAD_DIR", "TG_NON_INTERACTIVE", "TG_TF_FORWARD_STDOUT"}
	slices.Sort(names)
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if strings.Contains(s.fake.text("env"), "HOME="+os.Getenv("HOME")+"\n") {
		t.Error("HOME is the user's")
	}
}

// TestShortTmp checks that TMPDIR is short enough for sockets with a long path of state_dir, and
// that its link is removed.
func TestShortTmp(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.options.CacheDir = filepath.Join(s.options.CacheDir, strings.Repeat("long", 20))
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(s.fake.text("env"), "\nTMPDIR=")
	tmp, _, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(filepath.Base(tmp), "driftd-") {
		t.Errorf("TMPDIR is %s, want a link", tmp)
	}
	if _, err := os.Lstat(tmp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left behind: %v", tmp, err)
	}
}

func TestReservedEnvironment(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"TF_DATA_DIR", "TF_CLI_ARGS_plan", "TF_WORKSPACE", "A=B", ""} {
		s := newStage(t, nil)
		s.options.Env[name] = "x"
		if _, err := s.run(); err == nil || s.fake.has("calls") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestInterrupted cancels a plan that hangs. Its child process, which has a lock open, must end.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, ignores := range []bool{false, true} {
		s := newStage(t, nil)
		s.set("plan.hangs", "")
		if ignores {
			s.set("plan.ignores", "")
		}
		s.interrupt(func(ctx context.Context) error {
			_, err := Run(ctx, s.options)
			return err
		})
		if left := s.left(); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestCacheDir checks that providers and schemas are cached in the root's own folder, and that a
// wait for another process that initializes ends at the timeout.
func TestCacheDir(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{".terraform.lock.hcl": "locked"})
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.fake.text("env"), "TF_PLUGIN_CACHE_DIR="+filepath.Join(s.options.CacheDir, "plugins")+"\n") {
		t.Errorf("the plugin cache is in another folder: %s", s.fake.text("env"))
	}
	if kept, err := os.ReadDir(filepath.Join(s.options.CacheDir, "schemas")); err != nil || len(kept) != 1 {
		t.Errorf("schemas: got %v, %v", kept, err)
	}
	held, err := lockFile(filepath.Join(s.options.CacheDir, "plugins.lock"), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer release(held)
	s.options.Timeout = 200 * time.Millisecond
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "timeout after 200ms") {
		t.Errorf("got %v", err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.set("plan.hangs", "")
	s.options.Timeout = 300 * time.Millisecond
	_, err := s.run()
	if err == nil || !strings.Contains(err.Error(), "timeout after 300ms: raise timeout") {
		t.Errorf("got %v", err)
	}
}

// TestSweep checks that the work folder and the child processes of a killed driftd are
// removed.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	old := filepath.Join(s.options.CacheDir, "work", fmt.Sprintf("old%d", os.Getpid()))
	s.write(filepath.Join(memoryOf(old), "tfplan"), "secrets")
	t.Cleanup(func() { _ = os.RemoveAll(memoryOf(old)) })
	s.write(old+".lock", "")
	s.write(filepath.Join(old, "plan.tfplan"), "secrets")
	orphan := exec.Command("sleep", "1000")
	orphan.Env = []string{"TF_DATA_DIR=" + filepath.Join(old, "data")}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	busy := filepath.Join(s.options.CacheDir, "work", "busy")
	s.write(filepath.Join(busy, "plan.tfplan"), "in use")
	held, err := lockFile(busy+".lock", syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer release(held)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(memoryOf(old)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the plan in memory was not removed: %v", err)
	}
	if err := orphan.Wait(); err == nil {
		t.Error("the orphan was not killed")
	}
	if d := cmp.Diff([]string{"busy", "busy.lock"}, s.left()); d != "" {
		t.Errorf("left (-want +got):\n%s", d)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	diagnostic := func(summary, detail string) string {
		return encode(t, object{"type": "diagnostic", "@level": "error",
			"diagnostic": object{"severity": "error", "summary": summary, "detail": detail}}) + "\n"
	}
	tests := map[string]struct {
		files map[string]string
		set   map[string]string
		want  []string
	}{
		"required version": {
			files: map[string]string{"main.tf": "terraform {\n  required_version = \">= 99\"\n}"},
			set: map[string]string{"init.stderr": "Error: Terraform encountered problems during initialisation\n\n\n" +
				"Error: Unsupported Terraform Core version\n\n  on main.tf line 2\n\nThis configuration does not support Terraform version 1.11.4. To\nproceed\n"},
			want: []string{"init: the root requires version >= 99, and this is 1.11.4: set binary to a matching version"},
		},
		"framed errors": {
			set:  map[string]string{"init.stderr": "╷\n│ Error: Failed to download module\n│ \n│   on main.tf\n│ Could not\n╵\n"},
			want: []string{"init: Failed to download module: on main.tf Could not; ", "source of a module does not exist"},
		},
		"no network": {
			set:  map[string]string{"init.stderr": "Error: Failed to query available provider packages\n\nno route to host\n"},
			want: []string{"no route to host; the provider cannot be fetched"},
		},
		"backend down": {
			set:  map[string]string{"init.stderr": "Error: Error refreshing state: connection refused\n"},
			want: []string{"connection refused; the backend failed"},
		},
		"lock file": {
			set:  map[string]string{"init.stderr": "Error: Provider dependency changes detected\n"},
			want: []string{"commit .terraform.lock.hcl"},
		},
		"disk full": {
			set:  map[string]string{"init.stderr": "Error: Failed to install provider\n\nwrite x: no space left on device\n"},
			want: []string{"free space in state_dir"},
		},
		"secrets in an error": {
			set: map[string]string{"init.stderr": "Error: backend says hunter22 and postgres://u:pw9@h/db\n\nAuthorization: Bearer abc.def\n" +
				"password=qwerty token a8b9c0d1\n"},
			want: []string{"init: backend says (secret) and postgres://u:(secret)@h/db: Authorization: Bearer (secret) password=(secret) token (secret)"},
		},
		"words only": {
			set:  map[string]string{"init.stderr": "Segmentation fault in hunter22\n"},
			want: []string{"init: exit status 1: Segmentation fault in (secret)"},
		},
		"no plan": {
			set: map[string]string{"plan.fails": "", "plan.json": "", "plan.stdout": diagnostic("No value for required variable", "size") +
				diagnostic("And", "another")},
			want: []string{"plan: No value for required variable: size (and 1 more error); set vars or var_files"},
		},
		"a plan that cannot be decoded": {
			set:  map[string]string{"plan.json": `{"format_version":"9.0"}`},
			want: []string{"show: decode plan: ", "another version"},
		},
		"no such workspace": {
			files: map[string]string{".terraform/environment": "gone"},
			set:   map[string]string{"workspace.stderr": "\nWorkspace \"gone\" doesn't exist.\n"},
			want:  []string{`select workspace gone: exit status 1: Workspace "gone" doesn't exist.`},
		},
		"flooded": {
			set:  map[string]string{"init.floods": "", "init.stderr": "\nError: the end of it\n"},
			want: []string{"init: the end of it"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tt.files)
			s.options.Env["LAB_TOKEN"] = "hunter22"
			for file, text := range tt.set {
				s.set(file, text)
			}
			if name == "no plan" {
				if err := os.Remove(filepath.Join(s.fake.dir, "plan.json")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.run()
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if left := s.left(); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestPartialRun reads a plan file from a CLI that failed.
func TestPartialRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.options.Env["LAB_TOKEN"] = "hunter22"
	s.set("plan.fails", "")
	s.set("plan.json", encode(t, object{"format_version": "1.2", "terraform_version": "1.11.4", "errored": true,
		"prior_state": priorState(stateResource("lab_server.web", object{"id": "s-1"}, nil))}))
	s.set("plan.stdout", encode(t, object{"type": "diagnostic", "diagnostic": object{"severity": "error", "summary": "refused",
		"detail": "hunter22", "address": "lab_server.web"}})+"\nno JSON\n"+
		encode(t, object{"type": "diagnostic", "diagnostic": object{"severity": "warning", "summary": "old"}}))
	out, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	if out.Reason == "" || len(out.Instances) != 1 || out.Instances[0].Unchecked != "refused: (secret)" {
		t.Errorf("got %+v", out)
	}
}

// TestChecksUseLiveValues checks that a second plan is made if check blocks might pass only after
// an apply.
func TestChecksUseLiveValues(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	plan := object{"format_version": "1.2", "terraform_version": "1.11.4", "checks": checkOf("pass"),
		"resource_drift":   []any{change("lab_server.web", "update", object{"size": 1}, object{"size": 2}, nil)},
		"resource_changes": []any{change("lab_server.web", "update", object{"size": 2}, object{"size": 1}, nil)}}
	s.set("plan.json", encode(t, plan))
	s.set("refresh.json", encode(t, object{"format_version": "1.2", "checks": checkOf("fail", "too large")}))
	out, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`changed problems: declared -, recorded -, live ["too large"]`, "changed status: declared pass, recorded pass, live fail"}
	if d := cmp.Diff(want, judged(out.Instances[0])); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestBinary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	s := newStage(t, nil)
	s.options.Binary = ""
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "neither terraform nor tofu is on PATH") {
		t.Errorf("got %v", err)
	}
	s.options.Binary = "terraform-1.99"
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "set binary") {
		t.Errorf("got %v", err)
	}
	s.options.Binary = ""
	s.write(filepath.Join(s.root, "terragrunt.hcl"), "")
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "terragrunt is not on PATH") {
		t.Errorf("got %v", err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(executable, filepath.Join(dir, "terragrunt")); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(); err != nil || len(out.Instances) != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestEmptyRoot(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	if err := os.Rename(filepath.Join(s.root, "main.tf"), filepath.Join(s.root, "main.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "has no configuration (*.tf)") {
		t.Errorf("got %v", err)
	}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	leave, err := enter(t.Context(), s.options.Limiter.plans)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, s.options); !errors.Is(err, context.Canceled) || s.fake.has("calls") {
		t.Errorf("got %v", err)
	}
	leave()
	if _, err := s.run(); err != nil {
		t.Error(err)
	}
}

// TestIgnoredInModules checks ignore_changes in installed modules.
func TestIgnoredInModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, nil)
	write := func(path, text string) { s.write(filepath.Join(dir, path), text) }
	block := func(what string) string {
		return `resource "lab_server" "web" { 
  lifecycle { 
    ignore_changes = ` + what + `
  } 
}`
	}
	write("root/main.tf", block(`[tags, labels["a.b"], disk[0].size]`))
	write("root/net/main.tf", block("all"))
	write("data/modules/sub/main.tf.json", `{"resource":{"lab_server":{"web":{"lifecycle":{"ignore_changes":["size"]}}}}}`)
	write("data/modules/modules.json", encode(t, object{"Modules": []any{object{"Key": "", "Dir": "."},
		object{"Key": "net", "Dir": "net"}, object{"Key": "net.sub", "Dir": filepath.Join(dir, "data/modules/sub")}}}))
	r := runner{work: &work{root: filepath.Join(dir, "root"), data: filepath.Join(dir, "data")}}
	want := map[string]syntax.Ignored{
		"lab_server.web":                       {Paths: [][]string{{"tags"}, {"labels", "a.b"}, {"disk", "0", "size"}}},
		"module.net.lab_server.web":            {All: true},
		"module.net.module.sub.lab_server.web": {Paths: [][]string{{"size"}}},
	}
	var in Input
	err := r.configuration(&in)
	if d := cmp.Diff(want, in.Ignored); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, known := in.Blocks["module.net.module.sub.lab_server.web"]; !known {
		t.Errorf("blocks of modules: %v", in.Blocks)
	}
}
