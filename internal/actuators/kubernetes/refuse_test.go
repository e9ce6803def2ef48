package kubernetes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	const (
		flux = `{"items":[{"metadata":{"name":"apps","namespace":"flux-system"},"status":{"inventory":{"entries":[{"id":"shop_web_apps_Deployment","v":"v1"}]}}}]}`
		argo = `{"items":[{"metadata":{"name":"shop","namespace":"argocd"},"status":{"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web","version":"v1"}]}}]}`
	)
	replicas := func(_ *fake, s *reconcile.Subject) {
		s.Finding.Changes = []model.Change{change("spec.replicas", "1", "2")}
		s.Declared = value(strings.Replace(webDeclared, `"replicas":2`, `"replicas":1`, 1))
	}
	serve := func(path, resource, kind, list, items string) func(*fake, *reconcile.Subject) {
		return func(f *fake, _ *reconcile.Subject) {
			f.kinds[path] = `{"name":"` + resource + `","kind":"` + kind + `","namespaced":true,"verbs":["list"]}`
			f.objects[list] = items
		}
	}
	both := func(all ...func(*fake, *reconcile.Subject)) func(*fake, *reconcile.Subject) {
		return func(f *fake, s *reconcile.Subject) {
			for _, change := range all {
				change(f, s)
			}
		}
	}
	forbid := func(path string) func(*fake, *reconcile.Subject) {
		return func(f *fake, _ *reconcile.Subject) { f.forbidden = append(f.forbidden, path) }
	}
	edit := func(old, now string) func(*fake, *reconcile.Subject) {
		return func(f *fake, _ *reconcile.Subject) {
			if !strings.Contains(f.objects[webPath], old) {
				panic(old)
			}
			f.objects[webPath] = strings.Replace(f.objects[webPath], old, now, 1)
		}
	}
	const kustomizations = "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"
	fluxServed := func(items string) func(*fake, *reconcile.Subject) {
		return serve("/apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations", "Kustomization", kustomizations, items)
	}
	tests := map[string]struct {
		reason string
		change func(*fake, *reconcile.Subject)
		guard  string
		want   string
	}{
		"nothing": {reason: "it may be put back", change: func(*fake, *reconcile.Subject) {}},
		"kind": {reason: "data", guard: "kind", want: "never changes a PersistentVolumeClaim: data is lost",
			change: func(_ *fake, s *reconcile.Subject) { s.Finding.Kind = "kubernetes/PersistentVolumeClaim" }},
		"rights": {reason: "rights", guard: "kind", want: "who may do what",
			change: func(_ *fake, s *reconcile.Subject) {
				s.Finding.Kind = "kubernetes/RoleBinding.rbac.authorization.k8s.io"
			}},
		"finalizers": {reason: "they are the API server's", guard: "kind", want: "never changes metadata.finalizers",
			change: func(_ *fake, s *reconcile.Subject) {
				s.Finding.Changes = []model.Change{change("metadata.finalizers[=a]", "", `"a"`)}
			}},
		"terraform": {reason: "its form may be another", guard: "declarer", want: "apply declaration shop with its own tool",
			change: func(_ *fake, s *reconcile.Subject) { s.Lens = struct{ model.Lens }{} }},
		"gone": {reason: "there is nothing to put back", guard: "still-so", want: "does not exist any more",
			change: func(f *fake, _ *reconcile.Subject) { delete(f.objects, webPath) }},
		"moved": {reason: "a hand was there again", guard: "still-so", want: ".image changed since the scan",
			change: edit("evil:1", "evil:2")},
		"put back": {reason: "somebody else did it", guard: "still-so", want: ".env[name=EXTRA] changed since the scan",
			change: edit(`,{"name":"EXTRA","value":"x"}`, "")},
		"declared otherwise": {reason: "git moved", guard: "still-so", want: "is not declared any more as the finding says",
			change: func(_ *fake, s *reconcile.Subject) {
				s.Declared = value(strings.Replace(webDeclared, "web:1", "web:2", 1))
			}},
		"declared now": {reason: "git adopted it", guard: "still-so", want: ".env[name=EXTRA] is not declared any more as the finding says",
			change: func(_ *fake, s *reconcile.Subject) {
				s.Declared = value(strings.Replace(webDeclared, `{"name":"B"`, `{"name":"EXTRA","value":"x"},{"name":"B"`, 1))
			}},
		"deleted": {reason: "it is on its way out", guard: "still-so", want: "is being deleted",
			change: edit(`"uid":"u1"`, `"uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x"]`)},
		"controlled": {reason: "the controller would undo it", guard: "declarer", want: "Rollout.argoproj.io web controls it",
			change: edit(`"uid":"u1"`, `"uid":"u1","ownerReferences":[{"apiVersion":"argoproj.io/v1","kind":"Rollout","name":"web","uid":"o","controller":true}]`)},
		"replicas": {reason: "nothing scales it", change: replicas},
		"replicas undeclared": {reason: "their default is 1", guard: "kind", want: "would scale to 1", change: func(_ *fake, s *reconcile.Subject) {
			s.Finding.Changes = []model.Change{change("spec.replicas", "", "2")}
			s.Declared = value(strings.Replace(webDeclared, `"replicas":2,`, "", 1))
		}},
		"HPA": {reason: "it scales it", guard: "kind", want: "HorizontalPodAutoscaler web-hpa sets spec.replicas",
			change: both(replicas, serve("/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
				`{"items":[{"metadata":{"name":"web-hpa"},"spec":{"scaleTargetRef":{"apiVersion":"extensions/v1beta1","kind":"Deployment","name":"web"}}}]}`))},
		"HPA of another": {reason: "it scales another one", change: both(replicas, serve("/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
			`{"items":[{"metadata":{"name":"web-hpa"},"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"web"}}}]}`))},
		"KEDA": {reason: "its kind has a default", guard: "kind", want: "ScaledObject web sets spec.replicas",
			change: both(replicas, serve("/apis/keda.sh/v1alpha1", "scaledobjects", "ScaledObject", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
				`{"items":[{"metadata":{"name":"web"},"spec":{"scaleTargetRef":{"name":"web"}}}]}`))},
		"list of a proxy": {reason: "it proves no absence", guard: "kind", want: `the answer has no field "items"`,
			change: both(replicas, func(f *fake, _ *reconcile.Subject) {
				f.objects["/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"] = `{}`
			})},
		"404 of a proxy": {reason: "the server may have the group", guard: "kind", want: "nothing proves that the server does not have it",
			change: both(replicas, func(f *fake, _ *reconcile.Subject) { f.objects["/apis"] = `{"kind":"Gone"}` })},
		"HPA unread": {reason: "there may be one", guard: "kind", want: "may not list horizontalpodautoscalers.autoscaling: grant list",
			change: both(replicas, forbid("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"))},
		"scale": {reason: "an autoscaler may have been there", guard: "kind", want: "through the subresource scale by hpa",
			change: both(replicas, edit(`{"manager":"kubectl-edit"`, `{"manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:replicas":{}}}},{"manager":"kubectl-edit"`))},
		"Flux": {reason: "its inventory proves it", guard: "declarer", want: "Kustomization flux-system/apps of Flux is not ready",
			change: fluxServed(flux)},
		"Flux's label": {reason: "a label proves nothing", change: both(fluxServed(`{"items":[]}`), edit(`"uid":"u1"`, `"uid":"u1","labels":{"kustomize.toolkit.fluxcd.io/name":"apps","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}`))},
		"Flux unread": {reason: "it may apply it", guard: "declarer", want: "Flux may apply it: the credentials for reading may not list kustomizations.kustomize.toolkit.fluxcd.io: grant list",
			change: both(fluxServed(`{"items":[]}`), forbid(kustomizations))},
		"Flux group unread": {reason: "it may apply it", guard: "declarer", want: "Flux may apply it",
			change: forbid("/apis/kustomize.toolkit.fluxcd.io")},
		"Argo CD": {reason: "its resources prove it", guard: "declarer", want: "run argocd app sync shop",
			change: serve("/apis/argoproj.io/v1alpha1", "applications", "Application", "/apis/argoproj.io/v1alpha1/applications", argo)},
		"Helm": {reason: "its record proves it", guard: "declarer", want: "it is part of release web of Helm in namespace tools: run helm upgrade web --namespace=tools",
			change: func(f *fake, _ *reconcile.Subject) {
				f.objects["/api/v1/secrets"] = `{"items":[{"metadata":{"name":"sh.helm.release.v1.web.v2","namespace":"tools","resourceVersion":"1","labels":{"status":"failed"}}}]}`
				f.objects["/api/v1/namespaces/tools/secrets/sh.helm.release.v1.web.v2"] = `{"data":{"release":"` + kubernetes.PackRelease(`{"name":"web","namespace":"shop","manifest":"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"}`) + `"}}`
			}},
		"Helm's past": {reason: "an older revision does not count", change: func(f *fake, _ *reconcile.Subject) {
			f.objects["/api/v1/secrets"] = `{"items":[{"metadata":{"name":"sh.helm.release.v1.web.v1","namespace":"shop","resourceVersion":"1","labels":{"status":"superseded"}}},{"metadata":{"name":"sh.helm.release.v1.web.v2","namespace":"shop","resourceVersion":"2","labels":{"status":"deployed"}}}]}`
			f.objects["/api/v1/namespaces/shop/secrets/sh.helm.release.v1.web.v1"] = `{"data":{"release":"` + kubernetes.PackRelease(`{"manifest":"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"}`) + `"}}`
			f.objects["/api/v1/namespaces/shop/secrets/sh.helm.release.v1.web.v2"] = `{"data":{"release":"` + kubernetes.PackRelease(`{"manifest":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"}`) + `"}}`
		}},
		"Helm unread": {reason: "it may apply it", guard: "declarer", want: "grant get and list on secrets", change: forbid("/api/v1/secrets")},
		"Helm broken": {reason: "it may apply it", guard: "declarer", want: "the release in Secret shop/sh.helm.release.v1.web.v1: it is not the record of a release",
			change: func(f *fake, _ *reconcile.Subject) {
				f.objects["/api/v1/secrets"] = `{"items":[{"metadata":{"name":"sh.helm.release.v1.web.v1","namespace":"shop","resourceVersion":"1"}}]}`
				f.objects["/api/v1/namespaces/shop/secrets/sh.helm.release.v1.web.v1"] = `{"data":{"release":"eA=="}}`
			}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			s := webSubject()
			tt.change(f, &s)
			_, err := f.actuator(t).Plan(t.Context(), s)
			if tt.guard == "" {
				if err != nil {
					t.Errorf("%s: Plan() = %v", tt.reason, err)
				}
				return
			}
			refusal, ok := errors.AsType[*reconcile.Refusal](err)
			if !ok || refusal.Guard != tt.guard || !strings.Contains(refusal.Why, tt.want) {
				t.Errorf("%s: Plan() = %v, want guard %s: %s", tt.reason, err, tt.guard, tt.want)
			}
			if n := len(f.writes()); n != 0 {
				t.Errorf("%s: %d writes were sent", tt.reason, n)
			}
		})
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	never := []string{"PersistentVolume", "PersistentVolumeClaim", "Namespace", "Node", "StorageClass.storage.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io", "APIService.apiregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "HelmRelease.helm.toolkit.fluxcd.io", "GitRepository.source.toolkit.fluxcd.io", "Application.argoproj.io",
		"Provider.pkg.crossplane.io", "Bucket.s3.aws.upbound.io", "ClusterPolicy.kyverno.io", "K8sRequiredLabels.constraints.gatekeeper.sh", "Machine.cluster.x-k8s.io",
		"Terraform.infra.contrib.fluxcd.io", "HelmChart.helm.cattle.io", "Bundle.fleet.cattle.io", "Workspace.app.terraform.io", "Stack.pulumi.com"}
	for _, kind := range never {
		_, err := newFake(t).actuator(t).Plan(t.Context(), subject(finding(kind, "x"), ""))
		if r, ok := errors.AsType[*reconcile.Refusal](err); !ok || r.Guard != "kind" || !strings.HasPrefix(r.Why, "driftd never changes a "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, path := range []string{"status", "status.replicas", "metadata.uid", "metadata.ownerReferences", "metadata.labelsx", "apiVersion", "kind"} {
		_, err := newFake(t).actuator(t).Plan(t.Context(), subject(finding("Deployment.apps", "shop/web", change(path, "", "1")), ""))
		if r, ok := errors.AsType[*reconcile.Refusal](err); !ok || r.Guard != "kind" {
			t.Errorf("%s: %v", path, err)
		}
	}
	// They fail later, because the stand-in does not serve them.
	for _, kind := range []string{"Deployment.apps", "ConfigMap", "Secret", "Service", "Rollout.argoproj.io", "Certificate.cert-manager.io", "ServiceAccount"} {
		_, err := newFake(t).actuator(t).Plan(t.Context(), subject(finding(kind, "shop/x"), ""))
		if r, ok := errors.AsType[*reconcile.Refusal](err); ok && r.Guard == "kind" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
