package kubernetes_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

func mustPlan(t *testing.T, a *kubernetes.Actuator, s reconcile.Subject) reconcile.Change {
	t.Helper()
	c, err := a.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPutBack(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	a := f.actuator(t)
	c := mustPlan(t, a, webSubject())
	p := c.Plan()
	want := reconcile.Plan{UID: "u1", Endpoint: f.URL, Identity: "system:serviceaccount:driftd:writer", HandBack: "git", Restarts: "the pods of Deployment web (2 replicas)",
		Changes: []reconcile.FieldChange{
			{Path: container + ".env[name=B]", New: optional(`{"name":"B","value":"2"}`)},
			{Path: container + ".env[name=EXTRA]", Old: optional(`{"name":"EXTRA","value":"x"}`)},
			{Path: container + ".image", Old: optional(`"evil:1"`), New: optional(`"web:1"`)},
		}}
	if !p.Equal(&want) {
		t.Errorf("Plan() = %+v, want %+v", p, want)
	}
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sight, err := a.Look(t.Context(), webFinding().Key, p); sight != reconcile.AsBefore || err != nil {
		t.Errorf("Look() before the write = %v, %v", sight, err)
	}
	receipt, err := c.Write(t.Context())
	if err != nil || receipt.Status != 200 || receipt.Request != "audit-1" || receipt.At.IsZero() {
		t.Errorf("Write() = %+v, %v", receipt, err)
	}
	if sight, err := a.Look(t.Context(), webFinding().Key, p); sight != reconcile.AsWanted || err != nil {
		t.Errorf("Look() after the write = %v, %v", sight, err)
	}
	containers := value(f.objects[webPath]).At("spec", "template", "spec", "containers")
	if got := containers.String(); got != `[{"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"web:1","name":"web"}]` {
		t.Errorf("containers are %s", got)
	}
	_, err = c.Write(t.Context())
	if not, ok := errors.AsType[*reconcile.NotWrittenError](err); !ok || !strings.Contains(not.Error(), "changed since") {
		t.Errorf("second Write() = %v", err)
	}
}

func TestWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	answer := func(code int, header ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPatch {
				return false
			}
			for _, h := range header {
				name, value, _ := strings.Cut(h, ": ")
				w.Header().Set(name, value)
			}
			status(w, code, "words")
			return true
		}
	}
	cut := func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		panic(http.ErrAbortHandler)
	}
	tests := map[string]struct {
		reason        string
		before, after func(http.ResponseWriter, *http.Request) bool
		notWritten    bool
		sight         reconcile.Sight
	}{
		"dropped after the write": {reason: "nothing shows that it was carried out", after: cut, sight: reconcile.AsWanted},
		"dropped before":          {reason: "nothing shows that it was not", before: cut, sight: reconcile.AsBefore},
		"500":                     {reason: "it may have been carried out", after: answer(500), sight: reconcile.AsWanted},
		"503, try again":          {reason: "a write is never repeated", before: answer(503, "Retry-After: 0"), sight: reconcile.AsBefore},
		"504":                     {reason: "the server may go on", before: answer(504), sight: reconcile.AsBefore},
		"408":                     {reason: "a proxy timed out", before: answer(408), sight: reconcile.AsBefore},
		"429":                     {reason: "it was not begun", before: answer(429, "Retry-After: 0"), notWritten: true, sight: reconcile.AsBefore},
		"409":                     {reason: "it lost against another write", before: answer(409), notWritten: true, sight: reconcile.AsBefore},
		"403":                     {reason: "a right is missing", before: answer(403), notWritten: true, sight: reconcile.AsBefore},
		"redirect":                {reason: "no API server answers so", before: answer(307, "Location: /elsewhere"), sight: reconcile.AsBefore},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			a := f.actuator(t)
			c := mustPlan(t, a, webSubject())
			f.mu.Lock()
			f.before, f.after = tt.before, tt.after
			f.mu.Unlock()
			_, err := c.Write(t.Context())
			if err == nil {
				t.Fatalf("%s: no error", tt.reason)
			}
			if _, ok := errors.AsType[*reconcile.NotWrittenError](err); ok != tt.notWritten {
				t.Errorf("%s: Write() = %v", tt.reason, err)
			}
			if n := len(f.writes()); n != 1 {
				t.Errorf("%s: %d writes were sent", tt.reason, n)
			}
			f.mu.Lock()
			f.before, f.after = nil, nil
			f.mu.Unlock()
			if sight, err := a.Look(t.Context(), webFinding().Key, c.Plan()); sight != tt.sight || err != nil {
				t.Errorf("%s: Look() = %v, %v", tt.reason, sight, err)
			}
		})
	}
}

func TestWriteToNobody(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	c := mustPlan(t, f.actuator(t), webSubject())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Write(ended); !isNotWritten(err) {
		t.Errorf("Write() after the end of its context = %v", err)
	}
	if n := len(f.writes()); n != 0 {
		t.Errorf("%d writes were sent", n)
	}
	f.Close()
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("Write() without a server = %v", err)
	}
}

func isNotWritten(err error) bool {
	_, ok := errors.AsType[*reconcile.NotWrittenError](err)
	return ok
}

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
			change: func(_ *fake, s *reconcile.Subject) { s.Finding.Changes[2].LivePath = container + ".image" }},
		"in the middle of a list": {reason: "the next element would have its path", guard: "kind", want: "removes only the last element of a list without keys",
			change: both(edit(`"spec":{"replicas":2`, `"spec":{"rules":[1,2],"replicas":2`), func(_ *fake, s *reconcile.Subject) {
				s.Finding.Changes = []model.Change{change("spec.rules[0]", "", "1")}
			})},
		"at the end of a list": {reason: "no path changes",
			change: both(edit(`"spec":{"replicas":2`, `"spec":{"rules":[1,2],"replicas":2`), func(_ *fake, s *reconcile.Subject) {
				s.Finding.Changes = []model.Change{change("spec.rules[1]", "", "2")}
			})},
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
		"HPA unread": {reason: "there may be one", guard: "kind", want: "may not list horizontalpodautoscalers.autoscaling: grant list",
			change: both(replicas, forbid("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"))},
		"scale": {reason: "an autoscaler may have been there", guard: "kind", want: "through the subresource scale by hpa",
			change: both(replicas, edit(`{"manager":"kubectl-edit"`, `{"manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:replicas":{}}}},{"manager":"kubectl-edit"`))},
		"Flux": {reason: "its inventory proves it", guard: "declarer", want: "Kustomization flux-system/apps of Flux applies it, and would overrule another writer: run flux reconcile kustomization apps --namespace=flux-system --with-source",
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
		"Helm broken": {reason: "it may apply it", guard: "declarer", want: "read the release in Secret shop/sh.helm.release.v1.web.v1: it is not the record of a release",
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

// TestAnotherCluster checks that credentials for writing that lead to another cluster are found out.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	one, other := newFake(t), newFake(t)
	one.objects[webPath], other.objects[webPath] = web, strings.Replace(web, `"uid":"u1"`, `"uid":"u2"`, 1)
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: other.URL}, Reading: &kubeapi.Access{Server: one.URL}, Room: room()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = a.Plan(t.Context(), webSubject()); err == nil || !strings.Contains(err.Error(), "lead to another cluster") {
		t.Errorf("Plan() = %v", err)
	}
}

func TestRehearse(t *testing.T) {
	t.Parallel()
	dig := func(object map[string]any, path ...string) map[string]any {
		for _, name := range path {
			object = object[name].(map[string]any)
		}
		return object
	}
	first := func(object map[string]any) map[string]any {
		return dig(object, "spec", "template", "spec")["containers"].([]any)[0].(map[string]any)
	}
	tests := map[string]struct {
		reason string
		admit  func(map[string]any)
		want   string
	}{
		"as it is": {reason: "nothing interferes"},
		"defaults": {reason: "an element gets the defaults of its kind", admit: func(o map[string]any) {
			env := first(o)["env"].([]any)
			env[1].(map[string]any)["valueFrom"] = nil
			dig(o, "spec")["revisionHistoryLimit"] = nil
		}},
		"status":          {reason: "it is not compared", admit: func(o map[string]any) { o["status"] = map[string]any{"replicas": 7.0} }},
		"another value":   {reason: "a policy rewrites it", admit: func(o map[string]any) { first(o)["image"] = "mirror/web:1" }, want: "admission makes it " + container + ".image mirror/web:1 (guard rehearsal)"},
		"another field":   {reason: "a policy adds one", admit: func(o map[string]any) { dig(o, "spec")["paused"] = true }, want: "would change more: spec.paused"},
		"another element": {reason: "a policy adds one", admit: func(o map[string]any) { first(o)["env"] = append(first(o)["env"].([]any), map[string]any{"name": "Z"}) }, want: "would change more: spec.template.spec.containers.env"},
		"not removed": {reason: "a policy adds it again", admit: func(o map[string]any) {
			first(o)["env"] = append(first(o)["env"].([]any), map[string]any{"name": "EXTRA", "value": "y"})
		}, want: "admission makes it " + container + `.env[name=EXTRA] {"name":"EXTRA","value":"y"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath], f.admit = web, tt.admit
			err := mustPlan(t, f.actuator(t), webSubject()).Rehearse(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: Rehearse() = %v, want %q", tt.reason, err, tt.want)
			}
			if n := len(f.writes()); n != 0 {
				t.Errorf("%s: %d writes were sent", tt.reason, n)
			}
		})
	}
}

// TestSecret puts a Secret back. Its values are in the body of the requests and nowhere else.
func TestSecret(t *testing.T) {
	t.Parallel()
	const (
		path     = "/api/v1/namespaces/shop/secrets/db"
		live     = `{"apiVersion":"v1","kind":"Secret","type":"Opaque","metadata":{"name":"db","namespace":"shop","uid":"u2"},"data":{"password":"aGFuZC1tYWRlLXBhc3N3b3Jk","user":"YXBw"}}`
		declared = `{"type":"Opaque","metadata":{},"data":{"password":"ZGVjbGFyZWQtcGFzc3dvcmQ=","user":"YXBw"}}`
	)
	sealed := func(text string) model.Value { return room().Sealer().Seal(text) }
	declaredSealed := value(declared).With("data", model.MapOf(model.Field{Name: "password", Value: sealed("declared-password")}, model.Field{Name: "user", Value: sealed("app")}))
	d, l := sealed("declared-password"), sealed("hand-made-password")
	subject := reconcile.Subject{
		Finding:  finding("Secret", "shop/db", model.Change{Path: "data.password", Declared: &d, Live: &l, Secret: true}),
		Declared: declaredSealed,
		Plain:    func(context.Context) (model.Value, model.Value, error) { return value(declared), declaredSealed, nil },
	}
	f := newFake(t)
	f.objects[path] = live
	a := f.actuator(t)
	c := mustPlan(t, a, subject)
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value(f.objects[path]).At("data", "password").Str(); got != "ZGVjbGFyZWQtcGFzc3dvcmQ=" {
		t.Errorf("the password is %q", got)
	}
	if sight, err := a.Look(t.Context(), subject.Finding.Key, c.Plan()); sight != reconcile.AsWanted || err != nil {
		t.Errorf("Look() = %v, %v", sight, err)
	}
	p := c.Plan()
	text := string(p.Changes[0].Old.AppendJSON(nil)) + string(p.Changes[0].New.AppendJSON(nil))
	_, again := c.Write(t.Context())
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch {
			status(w, http.StatusForbidden, `admission webhook "x" denied the request: data.password ZGVjbGFyZWQtcGFzc3dvcmQ= is weak`)
		}
		return r.Method == http.MethodPatch
	}
	f.objects[path] = live
	denied := mustPlan(t, a, subject).Rehearse(t.Context())
	for _, where := range []string{text, again.Error(), denied.Error()} {
		for _, word := range []string{"declared-password", "hand-made-password", "ZGVjbGFyZWQ", "aGFuZC1tYWRl"} {
			if strings.Contains(where, word) {
				t.Errorf("%s has a secret", where)
			}
		}
	}
	if !strings.Contains(denied.Error(), `admission webhook "x"`) {
		t.Errorf("Rehearse() = %v", denied)
	}
	subject.Plain = func(context.Context) (model.Value, model.Value, error) {
		return value(strings.Replace(declared, "ZGVj", "AGVj", 1)), declaredSealed.With("data", model.MapOf(model.Field{Name: "password", Value: sealed("other")})), nil
	}
	if _, err := a.Plan(t.Context(), subject); err == nil || !strings.Contains(err.Error(), "the declared secret data.password changed since the scan") {
		t.Errorf("Plan() = %v", err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/namespaces/shop/configmaps/web"
	subject := reconcile.Subject{Finding: finding("ConfigMap", "shop/web"), Declared: value(`{"data":{"a":"1"},"metadata":{"labels":{"app":"web"}}}`)}
	subject.Finding.Verdict = model.Missing
	f := newFake(t)
	a := f.actuator(t)
	c := mustPlan(t, a, subject)
	p := c.Plan()
	if !p.Creates || len(p.Changes) != 2 || p.UID != "" {
		t.Errorf("Plan() = %+v", p)
	}
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sight, err := a.Look(t.Context(), subject.Finding.Key, p); sight != reconcile.AsBefore || err != nil {
		t.Errorf("Look() before = %v, %v", sight, err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sight, err := a.Look(t.Context(), subject.Finding.Key, p); sight != reconcile.AsWanted || err != nil {
		t.Errorf("Look() after = %v, %v", sight, err)
	}
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "exists again") {
		t.Errorf("second Write() = %v", err)
	}
	if _, err := a.Plan(t.Context(), subject); err == nil || !strings.Contains(err.Error(), "it exists again") {
		t.Errorf("Plan() of what exists = %v", err)
	}
	delete(f.objects, path)
	f.admit = func(o map[string]any) { o["data"].(map[string]any)["a"] = "2" }
	if err := mustPlan(t, a, subject).Rehearse(t.Context()); err == nil || !strings.Contains(err.Error(), "admission changes data of it") {
		t.Errorf("Rehearse() = %v", err)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects["/api/v1/namespaces"] = `{"items":[{"metadata":{"name":"shop"}},{"metadata":{"name":"web"}}]}`
	f.objects["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"] = `{"status":{"resourceRules":[
{"verbs":["get","patch"],"apiGroups":["apps"],"resources":["deployments"]},
{"verbs":["create"],"apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews"]},
{"verbs":["delete"],"apiGroups":[""],"resources":["pods"]},
{"verbs":["patch"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]},
{"verbs":["patch"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["db"]},
{"verbs":["*"],"apiGroups":["batch"],"resources":["*"]}]}}`
	got, err := f.actuator(t).Rights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := reconcile.Rights{Endpoint: f.URL, Identity: "system:serviceaccount:driftd:writer",
		May: []string{"* *.batch", "get deployments.apps", "patch deployments.apps", "delete pods", "patch roles.rbac.authorization.k8s.io", "patch secrets db"},
		Excess: []string{"* *.batch: it covers more than driftd changes: name the kinds and the verbs get and patch", "delete pods: driftd deletes nothing",
			"patch roles.rbac.authorization.k8s.io: driftd never changes it: it decides who may do what", "patch secrets db: driftd needs it only to put Secrets back"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Rights() (-want +got):\n%s", diff)
	}
	if n := len(slices.DeleteFunc(slices.Clone(f.bodies), func(b string) bool { return !strings.Contains(b, `"namespace":"web"`) })); n != 1 {
		t.Errorf("%d reviews of namespace web", n)
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	never := []string{"PersistentVolume", "PersistentVolumeClaim", "Namespace", "Node", "StorageClass.storage.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io", "APIService.apiregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "HelmRelease.helm.toolkit.fluxcd.io", "GitRepository.source.toolkit.fluxcd.io", "Application.argoproj.io",
		"Provider.pkg.crossplane.io", "Bucket.s3.aws.upbound.io", "ClusterPolicy.kyverno.io", "K8sRequiredLabels.constraints.gatekeeper.sh", "Machine.cluster.x-k8s.io"}
	for _, kind := range never {
		_, err := newFake(t).actuator(t).Plan(t.Context(), reconcile.Subject{Finding: finding(kind, "x")})
		if r, ok := errors.AsType[*reconcile.Refusal](err); !ok || r.Guard != "kind" || !strings.HasPrefix(r.Why, "driftd never changes a "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, path := range []string{"status", "status.replicas", "metadata.uid", "metadata.ownerReferences", "metadata.labelsx", "apiVersion", "kind"} {
		_, err := newFake(t).actuator(t).Plan(t.Context(), reconcile.Subject{Finding: finding("Deployment.apps", "shop/web", change(path, "", "1"))})
		if r, ok := errors.AsType[*reconcile.Refusal](err); !ok || r.Guard != "kind" {
			t.Errorf("%s: %v", path, err)
		}
	}
	// They fail later, because the stand-in does not serve them.
	for _, kind := range []string{"Deployment.apps", "ConfigMap", "Secret", "Service", "Rollout.argoproj.io", "Certificate.cert-manager.io", "ServiceAccount"} {
		_, err := newFake(t).actuator(t).Plan(t.Context(), reconcile.Subject{Finding: finding(kind, "shop/x")})
		if r, ok := errors.AsType[*reconcile.Refusal](err); ok && r.Guard == "kind" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
