package manifests_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSharedIndex downloads the index of a repository once in a reading, also if it lacks the first chart.
func TestSharedIndex(t *testing.T) {
	t.Parallel()
	archive, indexes := packed(t), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/charts/index.yaml" {
			_, _ = w.Write(archive)
			return
		}
		indexes++
		_, _ = w.Write([]byte("entries:\n"))
		for n := range 5 {
			_, _ = fmt.Fprintf(w, "  journal%d: [{version: 1.0.0, digest: %x, urls: [journal.tgz]}]\n", n, sha256.Sum256(archive))
		}
	}))
	t.Cleanup(s.Close)
	files := map[string]string{"clusters/prod/a.yaml": ofRepository("1.0.0", "")}
	for n := range 5 {
		files[fmt.Sprintf("clusters/prod/b%d.yaml", n)] = strings.NewReplacer("chart: journal", fmt.Sprintf("chart: journal%d", n), "name: blog,", fmt.Sprintf("name: blog%d,", n)).Replace(ofRepository("1.0.0", ""))
	}
	d := loadReleases(t, s.URL, files, nil)
	if indexes != 1 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "does not have version 1.0.0 of the chart journal") || claimOf(t, d, "web/blog4-web").Address == "" {
		t.Errorf("%d downloads of the index, problems %q", indexes, problems(d))
	}
}

// TestCreatedNamespace claims the namespaces that helm-controller creates, if they are there, and once.
func TestCreatedNamespace(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	for declared, want := range map[string]bool{"": true, "apiVersion: v1\nkind: Namespace\nmetadata: {name: apps}\n": false} {
		spec := "  targetNamespace: apps\n  install: {createNamespace: true}\n"
		d := loadReleases(t, url, map[string]string{
			"clusters/prod/a.yaml": ofRepository("1.0.0", spec), "clusters/prod/namespace.yaml": declared,
			"clusters/prod/b.yaml": strings.Replace(ofRepository("1.0.0", spec), "name: blog,", "name: second,", 1),
		}, nil)
		c := claimOf(t, d, "apps")
		if c.Kind != "kubernetes/Namespace" || c.OnlyLive != want || len(d.Problems) > 0 || strings.Count(strings.Join(claims(d), " "), " Namespace apps") != 1 {
			t.Errorf("%+v, %q, %q", c, claims(d), problems(d))
		}
	}
}

// TestDefinitionsOfUpgrades claims definitions that only an upgrade creates, if they are there.
func TestDefinitionsOfUpgrades(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	for spec, want := range map[string]string{
		"  install: {crds: Skip}\n": "none", "  install: {crds: Skip}\n  upgrade: {crds: CreateReplace}\n": "if live", "  upgrade: {crds: CreateReplace}\n": "always",
	} {
		d := loadReleases(t, url, map[string]string{"clusters/prod/a.yaml": ofRepository("1.0.0", spec)}, nil)
		got := "none"
		for _, c := range d.Claims {
			if c.ID == "posts.example.org" {
				got = map[bool]string{true: "if live", false: "always"}[c.OnlyLive]
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

// TestUnknownNumber claims nothing for the elements that a chart makes of an unknown number.
func TestUnknownNumber(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/web.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  certain: text\n  {{- range .Values.shards }}\n  shard-{{ . }}: text\n  {{- end }}\n" +
		"{{ range .Values.shards }}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: shard-{{ . }}}\n{{ end }}\n"
	files["clusters/prod/release.yaml"] = helmRelease("  valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: shards}]\n" +
		"  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: flux-system}}}\n")
	d := loadFlux(t, files, nil)
	for _, c := range d.Claims {
		if c.Kind == "kubernetes/Service" {
			t.Fatal(c.ID)
		}
	}
	if got := strings.Join(problems(d), "\n"); !strings.Contains(got, "Service: ") {
		t.Errorf("problems %q", got)
	}
	if c := claimOf(t, d, "web/web"); c.Unchecked == "" && !strings.Contains(delegated(c), "data.shard-0 to") {
		t.Errorf("%.200s, delegated %.200s", c.Unchecked, delegated(c))
	}
}
