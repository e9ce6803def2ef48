//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestBootstrapObjects compares the table of objects that the API server creates with a real
// one: all objects with its label are in the table.
func TestBootstrapObjects(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := cluster.WriteKubeconfig(kubeconfig, "default", cluster.Admin()); err != nil {
		t.Fatal(err)
	}
	for selector, kinds := range map[string]string{
		"kubernetes.io/bootstrapping=rbac-defaults":        "clusterroles,clusterrolebindings,roles,rolebindings",
		"kube-aggregator.kubernetes.io/automanaged":        "apiservices",
		"component=apiserver,provider=kubernetes":          "services",
		"kubernetes.io/metadata.name in (kube-system)":     "namespaces",
		"kubernetes.io/metadata.name in (kube-node-lease)": "namespaces",
	} {
		out, err := exec.Command(cluster.Kubectl(), "--kubeconfig", kubeconfig, "get", kinds, "--all-namespaces", "--selector", selector, "--output", "json").Output()
		if err != nil {
			t.Fatalf("kubectl get %s: %v", kinds, err)
		}
		var list struct{ Items []json.RawMessage }
		if err := json.Unmarshal(out, &list); err != nil || len(list.Items) == 0 {
			t.Fatalf("kubectl get %s: %d objects, %v", kinds, len(list.Items), err)
		}
		var resources []model.Resource
		for _, item := range list.Items {
			object, err := decode.JSON(item)
			if err != nil {
				t.Fatal(err)
			}
			r, err := kube.NewResource("test", object, model.NewSealer([]byte("test")))
			if err != nil {
				t.Fatal(err)
			}
			resources = append(resources, r)
		}
		kube.Relate(resources, func(string, string) bool { return true })
		for i := range resources {
			if r := &resources[i]; r.SystemOwned == "" {
				t.Errorf("%s is not known: %s", r.Key, r.Value.AppendJSON(nil))
			}
		}
	}
}
