package manifests_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// TestHistoryOfMany proves that a later call for a claim and one call for several claims
// return the same pasts.
func TestHistoryOfMany(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for i := range 12 {
		h.commit(map[string]string{"deploy/web.yaml": web(fmt.Sprint(i)), "deploy/x.yaml": strings.Replace(web(fmt.Sprint(i/3)), "name: web", "name: x", 1)})
	}
	together, err := open(h.config(), "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := together.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	requested := []*model.Claim{&d.Claims[1], &d.Claims[0], &d.Claims[1]}
	all, err := together.(declared.Historian).History(t.Context(), d.Revision, requested)
	if err != nil {
		t.Fatal(err)
	}
	later, err := open(h.config(), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range requested {
		one, err := later.(declared.Historian).History(t.Context(), d.Revision, []*model.Claim{c})
		if diff := cmp.Diff(all.Pasts[i], one.Pasts[0]); diff != "" || err != nil {
			t.Errorf("claim %d: %v (-together +later):\n%s", i, err, diff)
		}
	}
	if got := []int{len(all.Pasts[0].Versions), len(all.Pasts[1].Versions), len(all.Pasts[2].Versions)}; !cmp.Equal([]int{4, 12, 4}, got) {
		t.Errorf("got %v versions", got)
	}
}

// TestHistoryOfCustomKinds proves that a custom resource is found if the definition of its
// kind is newer, or absent.
func TestHistoryOfCustomKinds(t *testing.T) {
	t.Parallel()
	thing := func(kind, v string) string {
		return "apiVersion: x.org/v1\nkind: " + kind + "\nmetadata: {name: it}\nspec: {v: " + v + "}\n"
	}
	crd := func(kind, scope string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + strings.ToLower(kind) + "s.x.org}\n" +
			"spec: {group: x.org, scope: " + scope + ", names: {kind: " + kind + ", plural: " + strings.ToLower(kind) + "s}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n"
	}
	h := newHistory(t).
		commit(map[string]string{"deploy/w.yaml": thing("Wide", "a"), "deploy/n.yaml": thing("Narrow", "a"), "deploy/u.yaml": thing("Unknown", "a")}).
		commit(map[string]string{
			"deploy/w.yaml": thing("Wide", "b"), "deploy/n.yaml": thing("Narrow", "b"), "deploy/u.yaml": thing("Unknown", "b"),
			"deploy/crds.yaml": crd("Wide", "Cluster") + "---\n" + crd("Narrow", "Namespaced"),
		})
	loader, err := open(h.config(), "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for i, c := range d.Claims {
		if !strings.HasSuffix(c.Kind, ".x.org") {
			continue
		}
		found, err := loader.(declared.Historian).History(t.Context(), d.Revision, []*model.Claim{&d.Claims[i]})
		if err != nil || found.Pasts[0].Gap != "" {
			t.Fatalf("%+v, %v", found, err)
		}
		for _, v := range found.Pasts[0].Versions {
			seen[c.Kind+" "+c.ID] += h.line(v, []string{"spec", "v"}) + ", "
		}
	}
	want := map[string]string{
		"kubernetes/Wide.x.org it": "b 2--, a 1-2, ", "kubernetes/Narrow.x.org default/it": "b 2--, a 1-2, ",
		"kubernetes/Unknown.x.org default/it": "b 2--, a 1-2, ",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyRenderings proves that the number of old kustomizations that one call builds is
// bounded, that the rest is a gap, and that the next call continues.
func TestManyRenderings(t *testing.T) {
	t.Parallel()
	h := newHistory(t).commit(map[string]string{"deploy/kustomization.yaml": "resources: [web.yaml]\nnamespace: default\n", "deploy/web.yaml": web("0")})
	for i := range 60 {
		h.commit(in("deploy/web.yaml", web(fmt.Sprint(i+1))))
	}
	loader, err := open(h.config(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, gap := h.past(loader, "default/web", "data", "v"); len(got) != 50 || !strings.Contains(gap, "deploy/kustomization.yaml: not built") || !strings.HasSuffix(gap, "(and at 10 more commits)") {
		t.Errorf("first: %d versions, gap %q", len(got), gap)
	}
	if got, gap := h.past(loader, "default/web", "data", "v"); len(got) != 61 || gap != "" {
		t.Errorf("then: %d versions, gap %q", len(got), gap)
	}
}

// TestHistoryTimeout proves that commits which are not read in time are a gap or an error, and
// that their objects are not absent.
func TestHistoryTimeout(t *testing.T) {
	t.Parallel()
	h := newHistory(t).commit(in("deploy/web.yaml", web("a"))).commit(in("deploy/web.yaml", web("b")))
	config := h.config()
	loader, err := open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found, err := loader.(declared.Historian).History(ctx, h.commits[1], []*model.Claim{{Kind: "kubernetes/ConfigMap", ID: "default/web", Name: "web"}})
	if err == nil && (len(found.Pasts) != 1 || found.Pasts[0].Gap == "" || len(found.Pasts[0].Versions) > 0) {
		t.Errorf("got %+v", found)
	}
}

// TestHistoryCost prints the cost of reading one claim in a repository with 500 commits and
// 1,000 manifests.
func TestHistoryCost(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	first := map[string]string{}
	name := func(i int) string { return fmt.Sprintf("deploy/team%02d/app%04d.yaml", i%20, i) }
	manifest := func(i, v int) string {
		return strings.Replace(strings.ReplaceAll(deployment, "web", fmt.Sprintf("app%04d", i)), ":1.4", fmt.Sprintf(":%d", v), 1)
	}
	for i := range 1000 {
		first[name(i)] = manifest(i, 0)
	}
	h.commit(first)
	var stream strings.Builder
	for n := range 520 {
		i := n * 7 % 1000
		content := manifest(i, n+1)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter c <c@example.org> %d +0000\ndata 0\n", 1_700_000_000+n)
		if n == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name(i), len(content), content)
	}
	h.git(stream.String(), "fast-import", "--quiet")
	config := h.config()
	config.Timeout = time.Hour
	loader, err := open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, try := range []string{"first call", "second call"} {
		begin := time.Now()
		_, gap := h.past(loader, "default/app0007", "spec", "template")
		t.Logf("%s, with Load: %s", try, time.Since(begin).Round(time.Millisecond))
		if gap != "history is cut at 500 commits" {
			t.Errorf("gap %q", gap)
		}
	}
}
