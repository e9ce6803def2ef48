//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
)

// TestScan runs each script of testdata/scan twice: once with everything
// applied client-side, once server-side.
func TestScan(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			newHarness(t, cluster, mode).run(t, "scan")
		})
	}
}

// A harness gives scripts their commands.
type harness struct {
	cluster *kubetest.Cluster
	driftd  string
	// mode is how manifests are applied: "client" or "server".
	mode string
	// schema is what reports promise to be.
	schema *jsonschema.Schema
}

func newHarness(t *testing.T, c *kubetest.Cluster, mode string) harness {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "report-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return harness{c, driftdPath(t), mode, schema}
}

// run runs the scripts of a folder below testdata.
func (h harness) run(t *testing.T, folder string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("DRIFTD_E2E_UPDATE") != "",
		Setup:               h.setUp,
		Condition:           h.condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"apply":     h.apply,
			"await":     h.await,
			"drift":     h.drift,
			"kubectl":   h.kubectl,
			"newsecond": h.newSecond,
			"user":      h.user,
		},
	})
}

func (h harness) condition(cond string) (bool, error) {
	if cond == "client" || cond == "server" {
		return cond == h.mode, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// setUp gives a script a namespace, a kubeconfig and the programs.
func (h harness) setUp(env *testscript.Env) error {
	namespace := newNamespace()
	kubeconfig := filepath.Join(env.WorkDir, ".kube", "config")
	if err := os.Mkdir(filepath.Dir(kubeconfig), 0o700); err != nil {
		return fmt.Errorf("make kubeconfig folder: %w", err)
	}
	if err := h.cluster.WriteKubeconfig(kubeconfig, namespace, h.cluster.Admin(), h.cluster.TokenAdmin()); err != nil {
		return err
	}
	programs := []string{filepath.Dir(h.driftd), filepath.Dir(h.cluster.Kubectl()), env.Getenv("PATH")}
	env.Setenv("PATH", strings.Join(programs, string(os.PathListSeparator)))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("NS", namespace)
	if err := expandFiles(env); err != nil {
		return err
	}
	return h.makeNamespace(kubeconfig, namespace)
}

// newNamespace returns a name that no other test uses.
func newNamespace() string { return "e2e-" + strings.ToLower(rand.Text()[:10]) }

// expandFiles puts the script's namespace and folder into its manifests and
// configurations: the files that have an extension.
func expandFiles(env *testscript.Env) error {
	expand := strings.NewReplacer("$NS", env.Getenv("NS"), "$WORK", env.WorkDir)
	return filepath.WalkDir(env.WorkDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == "" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		return os.WriteFile(path, []byte(expand.Replace(string(text))), 0o600)
	})
}

// makeNamespace makes a namespace and waits for what the cluster puts there.
func (h harness) makeNamespace(kubeconfig, name string) error {
	for _, args := range [][]string{
		{"create", "namespace", name}, awaitArgs("serviceaccount/default"), awaitArgs("configmap/kube-root-ca.crt"),
	} {
		cmd := exec.Command(h.cluster.Kubectl(), append([]string{"--kubeconfig", kubeconfig, "--namespace", name}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// kubectl ARGS... runs kubectl.
func (h harness) kubectl(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("kubectl", args...)
	if (err != nil) != neg {
		ts.Fatalf("kubectl %s: unexpected outcome: %v", strings.Join(args, " "), err)
	}
}

// await OBJECTS... waits until each exists; kubectl itself waits for one.
func (h harness) await(ts *testscript.TestScript, neg bool, args []string) {
	for _, object := range args {
		h.kubectl(ts, neg, awaitArgs(strings.Fields(object)...))
	}
}

func awaitArgs(object ...string) []string {
	return append([]string{"wait", "--for=create", "--timeout=60s"}, object...)
}

// newsecond waits for the next second of the clock: managedFields count in
// seconds, and tell what came first only across one.
func (h harness) newSecond(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: newsecond")
	}
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}

// apply ARGS... runs kubectl apply in the harness's mode.
func (h harness) apply(ts *testscript.TestScript, neg bool, args []string) {
	if h.mode == "server" {
		args = append([]string{"--server-side"}, args...)
	}
	h.kubectl(ts, neg, append([]string{"apply"}, args...))
}

// user [-expired] NAME FILE writes a kubeconfig for a user who may do only what
// the script grants, with a client certificate.
func (h harness) user(ts *testscript.TestScript, neg bool, args []string) {
	until := time.Now().Add(time.Hour)
	if len(args) == 3 && args[0] == "-expired" {
		until, args = time.Now().Add(-time.Hour), args[1:]
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: user [-expired] NAME FILE")
	}
	user, err := h.cluster.CertUser(args[0], until)
	ts.Check(err)
	ts.Check(h.cluster.WriteKubeconfig(ts.MkAbs(args[1]), ts.Getenv("NS"), user))
}

// drift ARGS... runs `driftd scan` with a state folder of the script's own,
// checks that its exit code says what its report says, prints the findings and
// leaves the report in report.json. With "!" the scan must be unable to run.
func (h harness) drift(ts *testscript.TestScript, neg bool, args []string) {
	report, code, err := h.scan(ts, args)
	if neg {
		if code != 1 || errors.Is(err, errPrinted) {
			ts.Fatalf("driftd scan: exit code %d (%v), want 1 and no result", code, err)
		}
		return
	}
	ts.Check(err)
	summary := summarize(report)
	if want := wantedCode(report); code != want {
		ts.Fatalf("driftd scan: exit code %d, but its report calls for %d:\n%s", code, want, summary)
	}
	_, err = fmt.Fprint(ts.Stdout(), strings.ReplaceAll(summary, ts.Getenv("NS"), "$NS"))
	ts.Check(err)
}

func (h harness) scan(ts *testscript.TestScript, args []string) (report model.Report, code int, err error) {
	args = append([]string{"scan", "-o", "json", "--state-dir", ts.MkAbs("state")}, args...)
	cmd := exec.Command(h.driftd, args...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), ts.Stderr()
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "KUBECONFIG=" + ts.Getenv("KUBECONFIG")}
	out, err := cmd.Output()
	code = cmd.ProcessState.ExitCode()
	if code == 1 && len(out) > 0 {
		return report, code, fmt.Errorf("driftd %s: %w: %s", strings.Join(args, " "), errPrinted, out)
	}
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || code == 1) {
		return report, code, fmt.Errorf("driftd %s: %w", strings.Join(args, " "), err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err := errors.Join(err, h.schema.Validate(document), json.Unmarshal(out, &report)); err != nil {
		return report, code, fmt.Errorf("read report of driftd %s: %w: %s", strings.Join(args, " "), err, out)
	}
	if err := os.WriteFile(ts.MkAbs("report.json"), out, 0o600); err != nil {
		return report, code, fmt.Errorf("keep report: %w", err)
	}
	return report, code, nil
}

var errPrinted = errors.New("a failed run printed a result")

// wantedCode is the exit code that a report calls for.
func wantedCode(r model.Report) int {
	if slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Verdict.IsDrift() }) {
		return 2
	}
	if len(r.Findings) > 0 || r.Summary.Unchecked > 0 {
		return 3
	}
	return 0
}
