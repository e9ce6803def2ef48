//go:build e2e

package actuator

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFluxOtherRepository compares what the genuine kustomize-controller applied from two repositories: nothing is found, until an
// object of the other repository is edited by hand.
func TestFluxOtherRepository(t *testing.T) {
	t.Parallel()
	f := startFlux(t)
	files := f.estate()
	fleet, apps := files[:8], files[8:]
	fleet[1] += "---\n" + strings.NewReplacer("name: shop", "name: apps", "shop.git'", "apps.git', ref: {branch: main}").Replace(fleet[1])
	fleet[7] = strings.Replace(fleet[7], "sourceRef: {kind: GitRepository, name: shop}", "sourceRef: {kind: GitRepository, name: apps}", 1)
	head, other := f.commit(fleet), f.commitIn("apps", apps)
	f.archive("fleet", fleet...)
	f.archive("apps", apps...)
	for _, manifest := range []string{fleet[1], fleet[3]} {
		if _, err := f.try(manifest, "apply", "--server-side", "--field-manager=flux", "--filename=-"); err != nil {
			t.Fatal(err)
		}
	}
	f.source("fleet", head)
	f.sourceOf("apps", "apps", other)
	f.wait("Flux", func() bool {
		out, err := f.try("", "--namespace="+f.namespace, "get", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "--output=jsonpath={.status.lastAppliedRevision}")
		return err == nil && out == "main@sha1:"+other
	})
	if found := f.scan(); len(found) > 0 {
		t.Fatalf("in sync: %q", found)
	}
	f.in("set", "image", "deployment/shop-web", "web=evil:1")
	f.in("delete", "configmap", "shop-settings")
	at := filepath.Join(f.dir, "apps") + "//"
	want := []string{
		"changed shop-web " + at + "apps/web.yaml:1 kubectl-set spec.template.spec.containers[name=web].image",
		"missing shop-settings " + at + "apps/sub/settings.yaml:1 unknown",
	}
	if found := f.scan(); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
