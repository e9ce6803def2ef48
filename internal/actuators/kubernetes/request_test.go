package kubernetes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	// kustomization is one that would apply the object of the tests again.
	kustomization = `{"metadata":{"name":"apps","namespace":"flux-system","uid":"k1","generation":2,"resourceVersion":"7"},
"spec":{"sourceRef":{"kind":"GitRepository","name":"shop"}},
"status":{"observedGeneration":2,"lastAppliedRevision":"main@sha1:` + commit + `","conditions":[{"type":"Ready","status":"True"}],
"inventory":{"entries":[{"id":"shop_web_apps_Deployment","v":"v1"},{"id":"shop_db_apps_Deployment","v":"v1"}]}}}`
)

// serveFlux serves a Kustomization, and a GitRepository with a revision.
func serveFlux(f *fake, kustomizations, revision string) {
	kind := func(resource, kind string) string {
		return `{"name":"` + resource + `","kind":"` + kind + `","namespaced":true,"verbs":["list"]}`
	}
	f.kinds["/apis/kustomize.toolkit.fluxcd.io/v1"] = kind("kustomizations", "Kustomization")
	f.kinds["/apis/source.toolkit.fluxcd.io/v1"] = kind("gitrepositories", "GitRepository")
	f.objects["/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"] = `{"items":[` + kustomizations + `]}`
	f.objects["/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/shop"] = `{"status":{"artifact":{"revision":"` + revision + `"}}}`
}

// TestPlanRequest plans to ask Flux, for all findings of its inventory.
func TestPlanRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	serveFlux(f, kustomization, "main@sha1:"+commit)
	s := webSubject()
	s.Revision = commit
	other := func(id, resource string) *model.Finding {
		return &model.Finding{ID: id, Basis: "b", Key: model.Key{Source: s.Finding.Source, Kind: "kubernetes/Deployment.apps", ID: resource}}
	}
	elsewhere := other("3", "shop/db")
	elsewhere.Source = "another"
	s.Others = []*model.Finding{other("2", "shop/db"), other("1", "shop/web"), elsewhere, other("4", "shop/other")}
	c, err := f.actuator(t).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Plan()
	if p.Asks != "Kustomization flux-system/apps of Flux to apply main@sha1:"+commit+" again" || p.Person == "" || p.HandBack != "" || p.Content == "" || len(p.Changes) == 0 {
		t.Errorf("the plan is %+v", p)
	}
	if len(p.Also) != 2 || p.Also[0].Finding != "1" || p.Also[1].Finding != "2" {
		t.Errorf("it also puts back %+v", p.Also)
	}
}

// TestPlanRequestRefuses checks that Flux is not asked if it would do something else, or nothing.
func TestPlanRequestRefuses(t *testing.T) {
	t.Parallel()
	edit := func(old, with string) string { return strings.Replace(kustomization, old, with, 1) }
	another := strings.Replace(kustomization, `"name":"apps"`, `"name":"copy"`, 1)
	for name, tc := range map[string]struct{ kustomizations, revision, commit, guard, want string }{
		"being deleted":    {edit(`"uid"`, `"deletionTimestamp":"2026-11-27T10:00:00Z","uid"`), "", "", "declarer", "is being deleted"},
		"suspended":        {edit(`"spec":{`, `"spec":{"suspend":true,`), "", "", "declarer", "flux resume kustomization apps --namespace=flux-system"},
		"another cluster":  {edit(`"spec":{`, `"spec":{"kubeConfig":{},`), "", "", "declarer", "applies to another cluster"},
		"force":            {edit(`"spec":{`, `"spec":{"force":true,`), "", "", "scope", "spec.force"},
		"changed":          {edit(`"observedGeneration":2`, `"observedGeneration":1`), "", "", "scope", "was changed, and Flux has not applied that yet"},
		"at work":          {edit(`"status":"True"`, `"status":"Unknown","message":"reconciling"`), "", "", "still-so", "is at work: reconciling"},
		"not ready":        {edit(`"status":"True"`, `"status":"False","message":"build failed"`), "", "", "declarer", "is not ready: build failed"},
		"another commit":   {kustomization, "", "ffff", "scope", "declaration shop was read at ffff"},
		"no commit":        {edit("main@sha1:"+commit, ""), "", "", "scope", "would not apply what is declared here"},
		"a commit waits":   {kustomization, "main@sha1:ffff", "", "scope", "has main@sha1:ffff, which Kustomization flux-system/apps of Flux has not applied yet"},
		"another source":   {edit(`"kind":"GitRepository"`, `"kind":"OCIRepository"`), "", "", "declarer", "has the kind OCIRepository, and not GitRepository"},
		"a path as a name": {edit(`"name":"shop"`, `"name":"../../secrets/x"`), "", "", "", ""},
		"two apply it":     {kustomization + "," + another, "", "", "declarer", "both apply it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			revision := "main@sha1:" + commit
			if tc.revision != "" {
				revision = tc.revision
			}
			serveFlux(f, tc.kustomizations, revision)
			s := webSubject()
			if s.Revision = commit; tc.commit != "" {
				s.Revision = tc.commit
			}
			_, err := f.actuator(t).Plan(t.Context(), s)
			refusal, ok := errors.AsType[*reconcile.Refusal](err)
			switch {
			case tc.guard == "" && err == nil:
				t.Error("it was planned")
			case tc.guard != "" && (!ok || refusal.Guard != tc.guard || !strings.Contains(refusal.Why, tc.want)):
				t.Errorf("Plan() = %v, want guard %s: %s", err, tc.guard, tc.want)
			}
			if n := len(f.writes()); n != 0 {
				t.Errorf("%d writes were sent", n)
			}
		})
	}
}
