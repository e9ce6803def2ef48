package setup_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/setup"
)

// fluxOf returns the file of a Kustomization of Flux that applies a folder of its repository.
func fluxOf(name, folder string) string {
	return fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"+
		"spec: {path: ./%s, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n", name, folder)
}

// releaseOf returns the file of a HelmRelease with a chart in its repository.
func releaseOf(chart string) string {
	return fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system}\n"+
		"spec: {chart: {spec: {chart: ./%s, sourceRef: {kind: GitRepository, name: flux-system}}}}\n", chart)
}

// applicationOf returns the file of an Application of Argo CD that applies a folder of a repository.
func applicationOf(name, url, folder string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n"+
		"spec: {source: {repoURL: %q, path: %q, targetRevision: main}, destination: {namespace: web}}\n", name, url, folder)
}

// artifacts returns the file of a generator that copies folders below apps from a source.
func artifacts(source string) string {
	return fmt.Sprintf("apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\n"+
		"spec: {sources: [{alias: mono, kind: GitRepository, name: %s}], artifacts: [{name: apps, copy: [{from: '@mono/apps/**', to: '@artifact/'}]}]}\n", source)
}

const chartFile = "apiVersion: v2\nname: a\nversion: 1.0.0\n"

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// TestApplied verifies which folders are declared with the types flux and argocd, and which are left to manifests.
func TestApplied(t *testing.T) {
	t.Parallel()
	bootstrap := func(cluster string) string { return fluxOf("flux-system", "clusters/"+cluster) }
	tests := map[string]struct {
		reason   string
		below    string
		files    map[string]string
		contexts []string
		want     []string
		not      []string
	}{
		"bootstrap": {reason: "an object that applies its own folder stands for it, and what it applies is not declared twice",
			files: map[string]string{"clusters/prod/flux-system/gotk-sync.yaml": bootstrap("prod"), "clusters/prod/apps.yaml": fluxOf("apps", "apps/prod"),
				"apps/prod/kustomization.yaml": "resources: [../base]\n", "apps/base/kustomization.yaml": "resources: [a.yaml]\n", "apps/base/a.yaml": configMap},
			want: []string{"name: prod\n    type: flux\n    governs: [prod]", "mono/clusters/prod"}, not: []string{"type: manifests", "mono/apps"}},
		"two clusters": {reason: "each cluster has the context of its name",
			files: map[string]string{"clusters/prod/flux-system/gotk-sync.yaml": bootstrap("prod"), "clusters/edge/flux-system/gotk-sync.yaml": bootstrap("edge")}, contexts: []string{"edge"},
			want: []string{"name: prod\n    type: flux\n    governs: [prod]", "name: edge\n    type: flux\n    governs: [edge]"}},
		"unknown clusters": {reason: "which of them is the current one would be a guess, and their objects are not compared with it",
			files: map[string]string{"clusters/a/flux-system/gotk-sync.yaml": bootstrap("a"), "clusters/b/flux-system/gotk-sync.yaml": bootstrap("b"), "clusters/b/apps.yaml": fluxOf("apps", "apps"), "apps/a.yaml": configMap, "other/a.yaml": configMap},
			want:  []string{"not known or not chosen: clusters/a, clusters/b.", "mono/other"}, not: []string{"type: flux\n", "mono/apps"}},
		"without bootstrap": {reason: "the first objects are in a folder that no other one applies",
			files: map[string]string{"kubernetes/flux/ks.yaml": fluxOf("apps", "kubernetes/apps"), "kubernetes/apps/web/ks.yaml": fluxOf("web", "kubernetes/apps/web/app"), "kubernetes/apps/web/app/a.yaml": configMap},
			want:  []string{"type: flux", "mono/kubernetes/flux"}},
		"chart of a release": {reason: "a chart in the repository that a HelmRelease installs is declared with it, and others are not",
			files: map[string]string{"clusters/prod/flux-system/gotk-sync.yaml": bootstrap("prod"), "clusters/prod/web.yaml": releaseOf("charts/web"), "charts/web/Chart.yaml": chartFile, "charts/other/Chart.yaml": chartFile, "charts/a.yaml": configMap},
			want:  []string{"type: flux", "Helm charts are not declared: charts/other.", "type: manifests"}, not: []string{"charts/web."}},
		"release that nothing applies": {reason: "a HelmRelease alone does not make a folder one of Flux",
			files: map[string]string{"apps/web.yaml": releaseOf("charts/web"), "charts/web/Chart.yaml": chartFile},
			want:  []string{"type: manifests", "Helm charts are not declared: charts/web."}, not: []string{"type: flux"}},
		"next to": {reason: "a folder next to those that are applied, which nothing refers to, may be switched off",
			files: map[string]string{"kubernetes/flux/ks.yaml": fluxOf("web", "kubernetes/apps/web"), "kubernetes/apps/web/a.yaml": configMap, "kubernetes/apps/off/a.yaml": configMap, "boot/a.yaml": configMap},
			want:  []string{"refers to them: kubernetes/apps/off. Declare", "type: manifests", "mono/boot"}, not: []string{"mono/kubernetes/apps", "mono/kubernetes\n"}},
		"elsewhere": {reason: "objects that apply a folder of another source are the first, too",
			files: map[string]string{"clusters/a/ks.yaml": strings.ReplaceAll(fluxOf("apps", "none"), "GitRepository", "ExternalArtifact"), "clusters/a.yaml": configMap},
			want:  []string{"type: flux", "mono/clusters/a", "type: manifests", "exclude: [/a]"}},
		"artifacts": {reason: "what Kustomizations apply from an artifact is in the folders that it is copied from",
			files: map[string]string{"clusters/prod/ks.yaml": strings.ReplaceAll(fluxOf("apps", "prod"), "GitRepository", "ExternalArtifact"), "clusters/prod/all.yaml": artifacts("flux-system"), "apps/prod/a.yaml": configMap, "other/a.yaml": configMap},
			want:  []string{"type: flux", "mono/clusters/prod", "mono/other"}, not: []string{"mono/apps"}},
		"hidden": {reason: "files whose names begin with a dot are no manifests",
			files: map[string]string{"clusters/prod/flux-system/gotk-sync.yaml": bootstrap("prod"), ".config.yaml": configMap}, want: []string{"type: flux"}, not: []string{"type: manifests"}},
		"artifacts of another repository": {reason: "a generator copies from a source with another URL",
			files: map[string]string{"clusters/prod/all.yaml": artifacts("shop"), "apps/prod/a.yaml": configMap,
				"clusters/prod/source.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: shop, namespace: flux-system}\nspec: {url: https://mallory.example/mono.git}\n"},
			want: []string{"type: flux", "mono/clusters/prod", "type: manifests", "mono/apps"}},
		"another repository": {reason: "what a declaration does not read is compared as before",
			files: map[string]string{"clusters/prod/ks.yaml": fluxOf("apps", "apps"), "apps/a.yaml": configMap, "argo/web.yaml": applicationOf("web", "https://mallory.example/mono.git", "."), "web/a.yaml": configMap,
				"clusters/prod/source.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://mallory.example/mono.git}\n"},
			want: []string{"type: flux", "mono/clusters/prod", "type: argocd", "mono/argo", "mono/apps", "mono/web"}},
		"a part of the rest": {reason: "a folder of manifests leaves out what is applied below it",
			files: map[string]string{"x/a.yaml": configMap, "x/flux/ks.yaml": fluxOf("apps", "x/apps"), "x/apps/a.yaml": configMap},
			want:  []string{"mono/x\n", "exclude: [/apps, /flux]"}},
		"below the top": {reason: "paths count from the top of the repository", below: "clusters",
			files: map[string]string{"clusters/prod/flux-system/gotk-sync.yaml": bootstrap("prod"), "clusters/edge/all/ks.yaml": fluxOf("apps", "apps"), "apps/a.yaml": configMap}, contexts: []string{"edge"},
			want: []string{"mono/clusters/prod}", "mono/clusters/edge/all}"}, not: []string{"type: manifests"}},
		"applications": {reason: "an Application that applies Applications is the first",
			files: map[string]string{"root/apps.yaml": applicationOf("apps", "https://git.example.org/mono.git", "argo"), "argo/web.yaml": applicationOf("web", "https://git.example.org/mono.git", "web"),
				"argo/redis.yaml": applicationOf("redis", "https://charts.example.org", ""), "web/a.yaml": configMap},
			want: []string{"type: argocd", "mono/root"}, not: []string{"type: manifests", "mono/argo", "mono/web"}},
		"a chart of Applications": {reason: "which folders its Applications apply is not known: none is compared as what a person applies to the namespace default",
			files: map[string]string{"apps/Chart.yaml": chartFile, "apps/templates/web.yaml": "{{ range .Values.apps }}\n" + applicationOf("{{ . }}", "{{ $.Values.url }}", "{{ . }}") + "{{ end }}",
				"web/a.yaml": configMap, "deploy/mail/a.yaml": configMap, "shop/Chart.yaml": chartFile, "shop/templates/a.yaml": configMap},
			want: []string{"type: argocd", "mono/apps", "the Applications that a chart makes may apply them: deploy/mail, shop, web."}, not: []string{"type: manifests", "Helm charts are not declared"}},
		"an Application of a chart of Applications": {reason: "the Application is the first",
			files: map[string]string{"root/apps.yaml": applicationOf("apps", "https://git.example.org/mono.git", "argo"), "argo/Chart.yaml": chartFile, "argo/charts/x/templates/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\n",
				"web/a.yaml": configMap},
			want: []string{"type: argocd", "mono/root", "may apply them: web."}, not: []string{"type: manifests", "mono/argo"}},
		"a chart with other objects of Argo": {reason: "it applies no folder",
			files: map[string]string{"shop/Chart.yaml": chartFile, "shop/templates/a.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\n",
				"shop/ci/app.yaml": applicationOf("a", "https://git.example.org/mono.git", "web"), "web/a.yaml": configMap},
			want: []string{"type: manifests", "mono/web", "Helm charts are not declared: shop."}, not: []string{"type: argocd"}},
		"sets": {reason: "the folders of a generator are applied",
			files: map[string]string{"argo/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s, namespace: argocd}\n" +
				"spec:\n  generators: [{git: {repoURL: https://git.example.org/mono.git, revision: main, directories: [{path: 'apps/*'}]}}]\n" +
				"  template: {metadata: {name: '{{path.basename}}'}, spec: {source: {repoURL: https://git.example.org/mono.git, path: '{{path}}'}}}\n", "apps/web/a.yaml": configMap},
			want: []string{"type: argocd", "mono/argo"}, not: []string{"type: manifests"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for file, text := range tt.files {
				files["mono/"+file] = text
			}
			dir := write(t, files)
			tree, err := setup.Look(t.Context(), filepath.Join(dir, "mono", tt.below))
			if err != nil {
				t.Fatal(err)
			}
			if tt.below != "" {
				tree.Origin.Top = filepath.Join(dir, "mono")
			}
			tree.Origin.URL = "git@git.example.org:mono.git"
			tree.ReadContents()
			tree.Origin.URL = "" // so that folders are declared with dir
			f := setup.Facts{Trees: []setup.Tree{tree}, CurrentContext: "prod", Contexts: []kubernetes.Context{{Name: "prod"}}}
			for _, context := range tt.contexts {
				f.Contexts = append(f.Contexts, kubernetes.Context{Name: context})
			}
			got := text(t, &f, &setup.Choices{Contexts: append([]string{"prod"}, tt.contexts...), Base: "/"})
			for _, part := range tt.want {
				if !strings.Contains(got, part) {
					t.Errorf("%s: it lacks %q:\n%s", tt.reason, part, got)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(got, part) {
					t.Errorf("%s: it has %q:\n%s", tt.reason, part, got)
				}
			}
		})
	}
}

// TestFull verifies that a tree with more folders than are listed is marked.
func TestFull(t *testing.T) {
	t.Parallel()
	for folders, want := range map[int]bool{1000: false, 1001: true} {
		files := map[string]string{}
		for i := range folders {
			files[fmt.Sprintf("%d/a.yaml", i)] = configMap
		}
		files["0/b.yaml"] = configMap
		tree, err := setup.Look(t.Context(), write(t, files))
		if err != nil || tree.Full != want || len(tree.Unread) > 0 != want || tree.Bounded {
			t.Errorf("%d folders: full %t, %q, %v", folders, tree.Full, tree.Unread, err)
		}
	}
}
