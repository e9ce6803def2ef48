//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
)

// helmVariable names the variable with the folder of helm.
const helmVariable = "DRIFTD_TEST_HELM_BIN"

// TestScan runs each script in testdata/scan twice: everything is applied client-side, then
// server-side.
func TestScan(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			newHarness(t, cluster, mode).run(t, "scan")
		})
	}
}

// A harness has the commands of scripts.
type harness struct {
	scanner
	cluster *kubetest.Cluster
	// mode is the way to apply manifests: "client" or "server".
	mode string
}

func newHarness(t *testing.T, c *kubetest.Cluster, mode string) harness {
	t.Helper()
	return harness{newScanner(t, "HOME", "KUBECONFIG"), c, mode}
}

// run runs the scripts of a folder below testdata.
func (h harness) run(t *testing.T, folder string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("DRIFTD_TEST_E2E_UPDATE") != "",
		Setup:               h.setUp,
		Condition:           h.condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"adopted":     h.adopted,
			"apply":       h.apply,
			"await":       h.await,
			"chartserver": h.chartServer,
			"drift":       h.drift,
			"kubectl":     h.kubectl,
			"newsecond":   h.newSecond,
			"ssa":         h.serverSideApply,
			"suggested":   h.suggested,
			"user":        h.user,
		},
	})
}

func (h harness) condition(cond string) (bool, error) {
	if cond == "client" || cond == "server" {
		return cond == h.mode, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// setUp makes a namespace, a kubeconfig and the programs for a script.
func (h harness) setUp(env *testscript.Env) error {
	namespace := newNamespace()
	kubeconfig := filepath.Join(env.WorkDir, ".kube", "config")
	if err := os.Mkdir(filepath.Dir(kubeconfig), 0o700); err != nil {
		return fmt.Errorf("make kubeconfig folder: %w", err)
	}
	if err := h.cluster.WriteKubeconfig(kubeconfig, namespace, h.cluster.Admin(), h.cluster.TokenAdmin()); err != nil {
		return err
	}
	programs := []string{filepath.Dir(h.driftd), filepath.Dir(h.cluster.Kubectl()), os.Getenv(helmVariable), env.Getenv("PATH")}
	env.Setenv("PATH", strings.Join(programs, string(os.PathListSeparator)))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("NS", namespace)
	env.Values[chartServerKey{}] = &chartServer{}
	if err := expandFiles(env); err != nil {
		return err
	}
	return h.makeNamespace(kubeconfig, namespace)
}

// newNamespace returns a name that no other test uses.
func newNamespace() string { return "e2e-" + strings.ToLower(rand.Text()[:10]) }

// expandFiles inserts the script's namespace and folder into its manifests and configurations:
// the files that have an extension.
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

// makeNamespace creates a namespace and waits for the objects that the cluster creates in it.
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

// await OBJECTS... waits until each exists; kubectl only waits for one.
func (h harness) await(ts *testscript.TestScript, neg bool, args []string) {
	for _, object := range args {
		h.kubectl(ts, neg, awaitArgs(strings.Fields(object)...))
	}
}

func awaitArgs(object ...string) []string {
	return append([]string{"wait", "--for=create", "--timeout=60s"}, object...)
}

// newsecond waits for the next second of the clock: the times of managedFields are in seconds.
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

// ssa MANAGER FILE OBJECT applies a file server-side with force to an object of the core group
// ("configmaps/web"), like a tool that ignores the last-applied annotation, which kubectl would
// remove or rewrite.
func (h harness) serverSideApply(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ssa MANAGER FILE OBJECT")
	}
	url := h.cluster.URL() + "/api/v1/namespaces/" + ts.Getenv("NS") + "/" + args[2] + "?force=true&fieldManager=" + args[0]
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPatch, url, strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := h.cluster.Client().Do(request)
	ts.Check(err)
	body, err := io.ReadAll(response.Body)
	ts.Check(errors.Join(err, response.Body.Close()))
	if response.StatusCode >= http.StatusMultipleChoices {
		ts.Fatalf("apply: %s: %s", response.Status, body)
	}
}

// user [-expired] NAME FILE writes a kubeconfig with a client certificate for a user who only
// has the rights that the script grants.
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

// ownFindings removes the findings about objects of other scripts in the shared cluster: new
// objects outside of the governed namespaces with another name than the script's.
func ownFindings(r model.Report, namespace string) model.Report {
	r.Findings = slices.DeleteFunc(r.Findings, func(f model.Finding) bool {
		return strings.Contains(f.Reason, "in no governed namespace") && !strings.Contains(f.Key.ID, namespace)
	})
	return r
}

// drift ARGS... runs `driftd scan` and prints the findings; they are also in own.json, and the
// whole report in report.json.
func (h harness) drift(ts *testscript.TestScript, neg bool, args []string) {
	report, ok := h.scanner.drift(ts, neg, args)
	if !ok {
		return
	}
	report = ownFindings(report, ts.Getenv("NS"))
	data, err := json.Marshal(report.Findings)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("own.json"), data, 0o600))
	_, err = fmt.Fprint(ts.Stdout(), strings.ReplaceAll(summarize(report), ts.Getenv("NS"), "$NS"))
	ts.Check(err)
}
