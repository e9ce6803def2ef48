//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

// TestTerraform runs the scripts in testdata/terraform.
func TestTerraform(t *testing.T) {
	t.Parallel()
	runScripts(t, "terraform")
}

// conditionOnCLI matches the lines of a script that distinguish the CLIs.
var conditionOnCLI = regexp.MustCompile(`(?m)^\[!?(tofu|terraform)\]`)

// runScripts runs each script of a folder below testdata with OpenTofu or, if installed, with Terraform. A script that
// distinguishes them runs with both.
func runScripts(t *testing.T, folder string) {
	t.Helper()
	clis, files := terraformCLIs(t), scriptsIn(t, folder)
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		scripts := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return cli.Name != choose(clis, file).Name && !conditionOnCLI.Match(text)
		})
		newTerraformHarness(t, cli, nil).run(t, scripts)
	})
}

// scriptsIn returns the scripts of a folder below testdata.
func scriptsIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", folder, err)
	}
	return files
}

// TestTerraformBackends runs each script in testdata/backends: the state is in an S3 server,
// $S3, or in PostgreSQL, $PG.
func TestTerraformBackends(t *testing.T) {
	t.Parallel()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	s3, err := tools.StartS3(t.Context(), "states")
	stopLater(t, s3, err)
	postgres, err := tftest.StartPostgres(t.Context())
	stopLater(t, postgres, err)
	vars := []string{"$S3USER", tftest.S3User, "$S3PASSWORD", tftest.S3Password, "$S3", s3.Address, "$PG", postgres.Address}
	forEachCLI(t, func(t *testing.T, cli tftest.CLI) {
		cli.Env = []string{"AWS_ACCESS_KEY_ID=" + tftest.S3User, "AWS_SECRET_ACCESS_KEY=" + tftest.S3Password}
		newTerraformHarness(t, cli, vars).run(t, scriptsIn(t, "backends"))
	})
}

func stopLater(t *testing.T, s *tftest.Server, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func terraformCLIs(t *testing.T) []tftest.CLI {
	t.Helper()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	clis, err := tools.CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return clis
}

// forEachCLI runs a test with OpenTofu and, if installed, with Terraform.
func forEachCLI(t *testing.T, f func(*testing.T, tftest.CLI)) {
	t.Helper()
	for _, cli := range terraformCLIs(t) {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			f(t, cli)
		})
	}
}

// oneCLI returns OpenTofu or, if installed, Terraform, for a test for which it makes no difference. The name of the test
// determines which, so that both are tested.
func oneCLI(t *testing.T) tftest.CLI {
	t.Helper()
	return choose(terraformCLIs(t), t.Name())
}

// choose returns one of the CLIs, which a name determines.
func choose(clis []tftest.CLI, name string) tftest.CLI {
	return clis[crc32.ChecksumIEEE([]byte(name))%uint32(len(clis))]
}

// A terraformHarness has the commands of scripts about Terraform.
type terraformHarness struct {
	scanner
	cli tftest.CLI
	// vars are alternating names and values to insert into the scripts' files.
	vars []string
}

func newTerraformHarness(t *testing.T, cli tftest.CLI, vars []string) terraformHarness {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(cli.Path, filepath.Join(bin, cli.Name)); err != nil {
		t.Fatal(err)
	}
	// Only this program is in driftd's PATH, so that it chooses the right one.
	return terraformHarness{newScanner(t, "HOME", "TF_CLI_CONFIG_FILE", "PATH="+bin), cli, vars}
}

func (h terraformHarness) run(t *testing.T, scripts []string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("DRIFTD_TEST_E2E_UPDATE") != "",
		Setup:               h.setUp,
		Condition:           h.condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"adopted":   h.adopted,
			"apply":     h.apply,
			"appears":   h.appears,
			"cli":       h.program,
			"drift":     h.drift,
			"interrupt": h.interrupt,
			"lab":       h.lab,
			"pve":       h.pve,
		},
	})
}

func (h terraformHarness) condition(cond string) (bool, error) {
	if cond == "tofu" || cond == "terraform" {
		return cond == h.cli.Name, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// labKey and pveKey are the keys of a script's Lab and Proxmox cluster.
type (
	labKey struct{}
	pveKey struct{}
)

// setUp makes a Lab for a script, a lab.tf with its address, and, unless the script has one, a
// configuration with the root ./root.
func (h terraformHarness) setUp(env *testscript.Env) error {
	lab := tftest.NewLab()
	env.Defer(lab.Close)
	env.Values[labKey{}] = lab
	env.Setenv("PATH", filepath.Dir(h.driftd)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
	env.Setenv("TF_CLI_CONFIG_FILE", h.cli.Config)
	env.Setenv("CLI", h.cli.Path)
	env.Setenv("LAB", lab.URL())
	if err := h.setUpProxmox(env); err != nil {
		return err
	}
	env.Vars = append(env.Vars, h.cli.Env...)
	for name, text := range map[string]string{"lab.tf": labProvider, "proxmox.tf": proxmoxProvider, "driftd.yaml": rootConfig} {
		path := filepath.Join(env.WorkDir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return h.expandFiles(env)
}

const labProvider = `
terraform {
  required_providers {
    lab = { source = "driftd/lab" }
  }
}
provider "lab" {
  endpoint = "$LAB"
  token    = "$TOKEN"
}
`

const rootConfig = `
declarations:
  - {name: infra, type: terraform, settings: {dir: root, cli_config_file: "$CLICONFIG"}}
`

// expandFiles inserts the script's folder and Lab into its files.
func (h terraformHarness) expandFiles(env *testscript.Env) error {
	vars := slices.Concat(h.vars, []string{"$WORK", env.WorkDir, "$LAB", env.Getenv("LAB"), "$PVE", env.Getenv("PVE"), "$TOKEN", tftest.Token,
		"$CLICONFIG", h.cli.Config, "$CLI", h.cli.Path, "$NAME", h.cli.Name})
	expand := strings.NewReplacer(vars...)
	return eachFile(env.WorkDir, func(path string, text []byte) error {
		return os.WriteFile(path, []byte(expand.Replace(string(text))), 0o600)
	})
}

// apply DIR [ARGS...] initializes a root and applies it. If it configures no provider, lab.tf
// is added.
func (h terraformHarness) apply(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: apply DIR [ARGS...]")
	}
	root := ts.MkAbs(args[0])
	if _, err := os.Stat(filepath.Join(root, "proxmox.tf")); err != nil {
		ts.Check(os.WriteFile(filepath.Join(root, "lab.tf"), []byte(ts.ReadFile("lab.tf")), 0o600))
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	ts.Check(h.cli.Apply(ctx, root, args[1:]...))
}

// cli DIR ARGS... runs the program in a root.
func (h terraformHarness) program(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: cli DIR ARGS...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := h.cli.Run(ctx, ts.MkAbs(args[0]), args[1:]...); (err != nil) != neg {
		ts.Fatalf("unexpected outcome: %v", err)
	}
}

// drift [ARGS...] runs `driftd scan`, by default with the script's driftd.yaml, and prints the
// findings, one change a line.
func (h terraformHarness) drift(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		args = []string{"--config", "driftd.yaml"}
	}
	var report model.Report
	var ok bool
	h.untouched(ts, func() { report, ok = h.scanner.drift(ts, neg, args) })
	if !ok {
		return
	}
	_, err := fmt.Fprint(ts.Stdout(), strings.ReplaceAll(summarizeTerraform(report), ts.MkAbs("."), "$WORK"))
	ts.Check(err)
}

// interrupt interrupts `driftd scan --config driftd.yaml` while its plan waits for the Lab,
// which must hang.
func (h terraformHarness) interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: interrupt")
	}
	h.untouched(ts, func() {
		cmd := h.scanner.command(ts, "--config", "driftd.yaml")
		ts.Check(cmd.Start())
		h.poll(ts, "nobody asks the lab", func() bool { return h.labOf(ts).Waiting() > 0 })
		ts.Check(cmd.Process.Signal(os.Interrupt))
		interrupted := time.Now()
		if err := cmd.Wait(); err == nil {
			ts.Fatalf("driftd scan succeeded although it was interrupted")
		}
		if took := time.Since(interrupted); took > stopTimeout {
			ts.Fatalf("driftd scan stopped %s after it was interrupted, want %s", took, stopTimeout)
		}
	})
}

// untouched calls a function that runs driftd, and checks that driftd changed no file that it
// read, and left no process.
func (h terraformHarness) untouched(ts *testscript.TestScript, run func()) {
	lab := h.labOf(ts)
	lab.Calls()
	writes := h.pveOf(ts).Writes()
	before := files(ts)
	run()
	if after := files(ts); after != before {
		ts.Fatalf("driftd changed files.\nbefore:\n%s\nafter:\n%s", before, after)
	}
	for method, n := range lab.Calls() {
		if method != "GET" {
			ts.Fatalf("driftd made %d %s calls", n, method)
		}
	}
	if n := h.pveOf(ts).Writes() - writes; n > 0 {
		ts.Fatalf("driftd made %d requests to change the cluster", n)
	}
	if left := survivors(ts.MkAbs("state")); left != "" {
		ts.Fatalf("driftd left processes: %s", left)
	}
}

// summarizeTerraform formats findings by their addresses.
func summarizeTerraform(r model.Report) string {
	for i, f := range r.Findings {
		r.Findings[i].Kind, r.Findings[i].Key.ID = "", f.Address
		if f.Address == "" {
			r.Findings[i].Kind, r.Findings[i].Key.ID = f.Kind, f.Key.ID
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(summarize(r), "  ", " "), " by unknown", "")
}

// files lists the files in a script's folder without driftd's own.
func files(ts *testscript.TestScript) string {
	var list bytes.Buffer
	root := ts.MkAbs(".")
	ts.Check(eachFile(root, func(path string, text []byte) error {
		name, err := filepath.Rel(root, path)
		if own := strings.HasPrefix(name, "state"+string(filepath.Separator)) || name == "report.json"; !own {
			fmt.Fprintf(&list, "%s %s\n", name, digest(text))
		}
		return err
	}))
	return list.String()
}

// appears FILE waits until a file exists.
func (h terraformHarness) appears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	h.poll(ts, "there is no "+args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// poll waits until a condition holds, or fails with its description.
func (terraformHarness) poll(ts *testscript.TestScript, otherwise string, so func() bool) {
	deadline := time.After(startTimeout)
	for !so() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			ts.Fatalf("after %s, %s", startTimeout, otherwise)
		}
	}
}

// lab edits or breaks the live side by hand: put NAME JSON, set NAME FIELD VALUE, text NAME
// FIELD TEXT, unset NAME FIELD, remove NAME, and the faults fail NAME WORDS, hang NAME, token
// TOKEN, flood BYTES, reformat, mend. A fault replaces the one before.
func (h terraformHarness) lab(ts *testscript.TestScript, neg bool, args []string) {
	lab := h.labOf(ts)
	args = append(args, "", "", "", "")
	switch verb, name := args[0], args[1]; {
	case neg:
		ts.Fatalf("lab does not fail")
	case verb == "put":
		object, ok := jsonOrText(args[2]).(map[string]any)
		if !ok {
			ts.Fatalf("lab put: %q is no JSON object", args[2])
		}
		lab.Put(name, object)
	case verb == "set":
		ts.Check(lab.Set(name, args[2], jsonOrText(args[3])))
	case verb == "text":
		ts.Check(lab.Set(name, args[2], args[3]))
	case verb == "unset":
		ts.Check(lab.Set(name, args[2], nil))
	case verb == "remove":
		ts.Check(lab.Remove(name))
	default:
		lab.Break(faults(ts, args))
	}
}

func faults(ts *testscript.TestScript, args []string) (f tftest.Faults) {
	var err error
	switch args[0] {
	case "fail":
		f.Fail = map[string]string{args[1]: args[2]}
	case "hang":
		f.Hang = map[string]bool{args[1]: true}
	case "token":
		f.Token = args[1]
	case "flood":
		f.Flood, err = strconv.Atoi(args[1])
	case "reformat":
		f.Reformat = true
	case "mend":
	default:
		ts.Fatalf("lab: unknown verb %q", args[0])
	}
	ts.Check(err)
	return f
}

// jsonOrText decodes a value as JSON; an invalid one is a text.
func jsonOrText(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return text
	}
	return value
}

func (h terraformHarness) labOf(ts *testscript.TestScript) *tftest.Lab {
	lab, _ := ts.Value(labKey{}).(*tftest.Lab)
	return lab
}
