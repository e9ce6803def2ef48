//go:build e2e

package actuator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// estate returns the files of a repository, as names and contents: the folder of a cluster, whose
// Kustomizations apply the folder itself, and another one with changes of each kind.
func (f *flux) estate() []string {
	const kustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: %s}
spec:
  interval: 1h
  prune: true
  path: %s
  sourceRef: {kind: GitRepository, name: shop}
`
	return []string{
		"cluster/source.yaml", fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: shop, namespace: %s}\nspec: {interval: 1h, url: 'https://git.example.org/shop.git'}\n", f.namespace),
		"cluster/sync.yaml", fmt.Sprintf(kustomization, "cluster", f.namespace, "./cluster"),
		"cluster/variables.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: variables, namespace: %s}\ndata: {VERSION: '1', LEVEL: warn}\n", f.namespace),
		"cluster/apps.yaml", fmt.Sprintf(kustomization, "apps", f.namespace, "./apps") + fmt.Sprintf(`  targetNamespace: %s
  namePrefix: shop-
  commonMetadata: {labels: {team: shop}}
  images: [{name: registry.example.org/helper, newTag: v2}]
  patches:
  - target: {kind: Deployment}
    patch: |
      - {op: add, path: /spec/template/spec/containers/-, value: {name: helper, image: registry.example.org/helper}}
  postBuild:
    substitute: {LEVEL: debug}
    substituteFrom: [{kind: ConfigMap, name: variables}]
`, f.namespace),
		"apps/web.yaml", strings.ReplaceAll(deployment, "web:1", "web:${VERSION}"),
		"apps/sub/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {level: '${LEVEL}', other: '${OTHER:=none}', empty: '${EMPTY}'}\n",
		"apps/sub/plain.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain, annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}\ndata: {level: '${LEVEL}'}\n",
	}
}

// commit writes the files to the repository, and returns the commit.
func (f *flux) commit(files []string) string {
	f.Helper()
	return f.commitIn("repository", files)
}

// commitIn writes the files to a repository in a folder, and returns the commit.
func (f *flux) commitIn(dir string, files []string) string {
	f.Helper()
	repository := filepath.Join(f.dir, dir)
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(repository, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	head := ""
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"}, {"commit", "--quiet", "--message=change"}, {"rev-parse", "HEAD"}} {
		c := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := c.CombinedOutput()
		if err != nil {
			f.Fatalf("git %q: %v: %s", args, err, out)
		}
		head = strings.TrimSpace(string(out))
	}
	return head
}

// scan returns what driftd finds in the namespace, one finding a line.
func (f *flux) scan() []string {
	f.Helper()
	file := filepath.Join(f.dir, "driftd.yaml")
	config := fmt.Sprintf(`{"state_dir": %q, "sources": [{"name": "k8s", "type": "kubernetes", "settings": {"kubeconfig": %q}}],
"declarations": [{"name": "fleet", "type": "flux", "governs": ["k8s"], "settings": {"git": "file://%s", "ref": "main", "path": "cluster", "same_repository": ["ssh://git@git.example.org/shop"], "source_branch": "master",
"repositories": [{"git": "file://%s", "same_repository": ["https://git.example.org/apps"]}]}}]}`,
		filepath.Join(f.dir, "state"), kubeconfig, filepath.Join(f.dir, "repository"), filepath.Join(f.dir, "apps"))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		f.Fatal(err)
	}
	report := scanned(f.T, file)
	lines := []string{}
	for i := range report.Findings {
		found := &report.Findings[i]
		// Other tests have objects in other namespaces.
		if found.Place != f.namespace && found.Kind != model.PartKind {
			continue
		}
		line := strings.Join([]string{string(found.Verdict), found.Name, found.Address, found.Actor.Name}, " ")
		for _, c := range found.Changes {
			line += " " + c.Path
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// inventory returns the IDs in the inventory of a Kustomization.
func (f *flux) inventory(name string) []string {
	f.Helper()
	out, err := f.try("", "--namespace="+f.namespace, "get", "kustomizations.kustomize.toolkit.fluxcd.io", name, "--output=jsonpath={.status.inventory.entries[*].id}")
	if err != nil {
		f.Fatal(err)
	}
	return strings.Fields(out)
}

// list writes IDs into the inventory of a Kustomization.
func (f *flux) list(name string, ids []string) {
	f.Helper()
	entries := make([]string, len(ids))
	for i, id := range ids {
		entries[i] = fmt.Sprintf(`{"id":%q,"v":"v1"}`, id)
	}
	f.in("patch", "kustomizations.kustomize.toolkit.fluxcd.io", name, "--type=merge", "--subresource=status",
		fmt.Sprintf(`--patch={"status":{"inventory":{"entries":[%s]}}}`, strings.Join(entries, ",")))
}

// TestFluxEstate compares what the genuine kustomize-controller applied with the repository: nothing is
// found, until a Kustomization is suspended and an object is edited by hand.
func TestFluxEstate(t *testing.T) {
	t.Parallel()
	f := startFlux(t)
	files := f.estate()
	head := f.commit(files)
	f.archive("first", files...)
	for _, manifest := range []string{files[1], files[3]} {
		if _, err := f.try(manifest, "apply", "--server-side", "--field-manager=flux", "--filename=-"); err != nil {
			t.Fatal(err)
		}
	}
	f.source("first", head)
	// As long as Flux has not finished with cluster, it may undo the edits of apps.
	f.wait("Flux", func() bool {
		out, err := f.try("", "--namespace="+f.namespace, "get", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "cluster", "--output=jsonpath={.items[*].status.lastAppliedRevision}")
		return err == nil && out == "main@sha1:"+head+" main@sha1:"+head
	})
	if found := f.scan(); len(found) > 0 {
		t.Fatalf("in sync: %q", found)
	}
	entries := f.inventory("apps")
	f.list("apps", slices.DeleteFunc(slices.Clone(entries), func(id string) bool { return strings.Contains(id, "shop-settings") }))
	want := []string{"violated apps cluster/apps.yaml:1 unknown status.inventory"}
	if found := f.scan(); !slices.Equal(found, want) {
		t.Errorf("not listed: found %q, want %q", found, want)
	}
	f.list("apps", entries)
	f.in("patch", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "--type=merge", `--patch={"spec":{"suspend":true}}`)
	f.in("set", "image", "deployment/shop-web", "web=evil:1")
	f.in("delete", "configmap", "shop-settings")
	want = []string{
		"changed shop-web apps/web.yaml:1 kubectl-set spec.template.spec.containers[name=web].image",
		"missing shop-settings apps/sub/settings.yaml:1 unknown",
		"undeclared apps cluster/apps.yaml:1 kubectl-patch spec.suspend",
	}
	if found := f.scan(); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	f.fail()
	f.addByHand()
}

// addByHand adds a Kustomization that is not in git: it and the objects in its inventory are one finding.
func (f *flux) addByHand() {
	f.Helper()
	const manifest = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: extra, namespace: %s}
spec: {interval: 1h, prune: true, path: ./apps, namePrefix: extra-, targetNamespace: %[1]s, sourceRef: {kind: GitRepository, name: shop}}
`
	if _, err := f.try(fmt.Sprintf(manifest, f.namespace), "apply", "--server-side", "--field-manager=kubectl", "--filename=-"); err != nil {
		f.Fatal(err)
	}
	f.wait("the inventory", func() bool {
		out, err := f.try("", "--namespace="+f.namespace, "get", "kustomizations.kustomize.toolkit.fluxcd.io", "extra", `--output=jsonpath={.status.inventory.entries[*].id}{.status.lastAppliedRevision}`)
		return err == nil && strings.Count(out, "extra-") == 3 && strings.Contains(out, "sha1")
	})
	var found []string
	for _, line := range f.scan() {
		if strings.Contains(line, "extra") {
			found = append(found, line)
		}
	}
	if want := []string{"unmanaged extra  kubectl"}; !slices.Equal(found, want) {
		f.Errorf("found %q, want %q", found, want)
	}
}

// fail adds a Kustomization that cannot be built, and one that waits for it: only the first one is a finding about what Flux
// reports.
func (f *flux) fail() {
	f.Helper()
	const manifest = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: %s}
spec: {interval: 1h, retryInterval: 1m, prune: true, path: ./nothing, sourceRef: {kind: GitRepository, name: shop}%s}
`
	for name, spec := range map[string]string{"broken": "", "waiting": ", dependsOn: [{name: broken}]"} {
		if _, err := f.try(fmt.Sprintf(manifest, name, f.namespace, spec), "apply", "--server-side", "--field-manager=flux", "--filename=-"); err != nil {
			f.Fatal(err)
		}
	}
	f.wait("the Kustomization to wait", func() bool {
		out, err := f.try("", "--namespace="+f.namespace, "get", "kustomizations.kustomize.toolkit.fluxcd.io", "broken", "waiting", `--output=jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}`)
		return err == nil && out == "ArtifactFailed DependencyNotReady"
	})
	var found []string
	for _, line := range f.scan() {
		if verdict, rest, _ := strings.Cut(line, " "); verdict == "violated" {
			found = append(found, strings.TrimSpace(rest))
		}
	}
	if want := []string{"broken  unknown"}; !slices.Equal(found, want) {
		f.Errorf("found %q, want %q", found, want)
	}
}
