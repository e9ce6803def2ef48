//go:build e2e

package actuator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// declared returns an Application of the estate, which Argo CD keeps as it is declared. It deploys
// a folder into a namespace.
func (a *argo) declared(name, path, namespace string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: %s}
spec:
  project: default
  destination: {server: %q, namespace: %s}
  source: {repoURL: "file://%s", path: %s, targetRevision: main}
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [CreateNamespace=true]}
`, name, a.namespace, cluster.URL(), namespace, a.repository, path)
}

// target returns the namespace into which the estate is deployed, which Argo CD makes.
func (a *argo) target() string { return a.namespace + "-shop" }

// scan returns what driftd finds in the namespaces of the estate, one finding a line.
func (a *argo) scan() []string {
	a.Helper()
	file := filepath.Join(a.dir, "driftd.yaml")
	config := fmt.Sprintf(`{"state_dir": %q, "sources": [{"name": "k8s", "type": "kubernetes", "settings": {"kubeconfig": %q}}],
"declarations": [{"name": "apps", "type": "argocd", "governs": ["k8s"], "settings": {"git": "file://%s", "ref": "main", "path": "apps", "namespace": %q, "clusters": [%q]}}]}`,
		filepath.Join(a.dir, "state"), kubeconfig, a.repository, a.namespace, cluster.URL())
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		a.Fatal(err)
	}
	report := scanned(a.T, file)
	lines := []string{}
	for i := range report.Findings {
		f := &report.Findings[i]
		// Other tests have objects in other namespaces.
		if f.Place != a.namespace && f.Place != a.target() && f.Name != a.target() && f.Kind != model.PartKind {
			continue
		}
		line := strings.Join([]string{string(f.Verdict), f.Check, f.Name, f.Actor.Name}, " ")
		for _, c := range f.Changes {
			line += " " + c.Path
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// scanned returns the report of driftd scan with a configuration.
func scanned(t *testing.T, config string) model.Report {
	t.Helper()
	out, err := exec.Command(filepath.Join("..", "..", "bin", "driftd"), "scan", "--config", config, "-o", "json").Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 1) {
		t.Fatalf("driftd scan: %v: %s", err, out)
	}
	var report model.Report
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestArgoCDEstate compares what the genuine Argo CD keeps in sync with the repository that it reads:
// nothing is found, until an Application is synced by hand and has parameters that git does not
// have.
func TestArgoCDEstate(t *testing.T) {
	t.Parallel()
	a := startArgo(t, "store")
	root := a.declared("root", "apps", a.namespace)
	a.commit("apps/root.yaml", root, "apps/store.yaml", a.declared(a.name, "shop", a.target()), "shop/web.yaml", deployment, "shop/settings.yaml", configmap)
	a.mustApply(root)
	a.wait("the first sync", func() bool {
		return a.app("{.status.operationState.phase} {.status.sync.status}") == "Succeeded Synced"
	})
	if found := a.scan(); len(found) > 0 {
		t.Errorf("in sync: %q", found)
	}
	a.patch("applications.argoproj.io/"+a.name, `{"operation":{"initiatedBy":{"username":"alice"},"sync":{"revision":"`+a.head()+`"}}}`)
	a.wait("the sync", func() bool {
		return a.app("{.status.operationState.phase} {.status.operationState.operation.initiatedBy.username}{.operation}") == "Succeeded alice"
	})
	a.stop(func() {
		a.patch("applications.argoproj.io/"+a.name, `{"spec":{"source":{"helm":{"parameters":[{"name":"a","value":"b"}]}}}}`)
		found := a.scan()
		want := []string{"undeclared  store kubectl-patch spec.source.helm.parameters", "violated argocd/manual-sync store alice"}
		if !slices.Equal(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
	})
}
