package kubernetes_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
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
	if inspection, err := a.Inspect(t.Context(), webFinding().Key, p); inspection != reconcile.AsBefore || err != nil {
		t.Errorf("Inspect() before the write = %v, %v", inspection, err)
	}
	receipt, err := c.Write(t.Context())
	if err != nil || receipt.Status != 200 || receipt.Request != "audit-1" || receipt.At.IsZero() {
		t.Errorf("Write() = %+v, %v", receipt, err)
	}
	if inspection, err := a.Inspect(t.Context(), webFinding().Key, p); inspection != reconcile.AsWanted || err != nil {
		t.Errorf("Inspect() after the write = %v, %v", inspection, err)
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
		inspection    reconcile.Inspection
	}{
		"dropped after the write": {reason: "nothing shows that it was carried out", after: cut, inspection: reconcile.AsWanted},
		"dropped before":          {reason: "nothing shows that it was not", before: cut, inspection: reconcile.AsBefore},
		"500":                     {reason: "it may have been carried out", after: answer(500), inspection: reconcile.AsWanted},
		"503, try again":          {reason: "a write is never repeated", before: answer(503, "Retry-After: 0"), inspection: reconcile.AsBefore},
		"504":                     {reason: "the server may go on", before: answer(504), inspection: reconcile.AsBefore},
		"408":                     {reason: "a proxy timed out", before: answer(408), inspection: reconcile.AsBefore},
		"429":                     {reason: "it was not begun", before: answer(429, "Retry-After: 0"), notWritten: true, inspection: reconcile.AsBefore},
		"409":                     {reason: "it lost against another write", before: answer(409), notWritten: true, inspection: reconcile.AsBefore},
		"403":                     {reason: "a right is missing", before: answer(403), notWritten: true, inspection: reconcile.AsBefore},
		"redirect":                {reason: "no API server answers so", before: answer(307, "Location: /elsewhere"), inspection: reconcile.AsBefore},
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
			if inspection, err := a.Inspect(t.Context(), webFinding().Key, c.Plan()); inspection != tt.inspection || err != nil {
				t.Errorf("%s: Inspect() = %v, %v", tt.reason, inspection, err)
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
		Declared: declaredSealed, UID: lastRead,
		Plain: func(context.Context) (model.Value, model.Value, error) { return value(declared), declaredSealed, nil },
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
	if inspection, err := a.Inspect(t.Context(), subject.Finding.Key, c.Plan()); inspection != reconcile.AsWanted || err != nil {
		t.Errorf("Inspect() = %v, %v", inspection, err)
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
	subject := subject(finding("ConfigMap", "shop/web"), `{"data":{"a":"1"},"metadata":{"labels":{"app":"web"}}}`)
	subject.Finding.Verdict = model.Missing
	f := newFake(t)
	a := f.actuator(t)
	c := mustPlan(t, a, subject)
	p := c.Plan()
	if !p.Creates || len(p.Changes) != 2 || p.UID != "" || p.System != "ns-shop" {
		t.Errorf("Plan() = %+v", p)
	}
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if inspection, err := a.Inspect(t.Context(), subject.Finding.Key, p); inspection != reconcile.AsBefore || err != nil {
		t.Errorf("Inspect() before = %v, %v", inspection, err)
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if inspection, err := a.Inspect(t.Context(), subject.Finding.Key, p); inspection != reconcile.AsWanted || err != nil {
		t.Errorf("Inspect() after = %v, %v", inspection, err)
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

// TestInspectBehindProxy checks that a 404 that is not one of the API server proves no absence.
func TestInspectBehindProxy(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/configmaps/web") {
			return false
		}
		http.NotFound(w, r)
		return true
	}
	key := finding("ConfigMap", "shop/web").Key
	a := f.actuator(t)
	if inspection, err := a.Inspect(t.Context(), key, reconcile.Plan{Creates: true}); err == nil {
		t.Errorf("Inspect() = %s", inspection)
	}
	if err := a.HandBack(t.Context(), key, reconcile.Plan{Creates: true}); err == nil {
		t.Error("HandBack() succeeds")
	}
}

// TestCreateScaled checks that an object with a number of replicas is not created for an autoscaler.
func TestCreateScaled(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects["/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"] = `{"items":[{"metadata":{"name":"web"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"}}}]}`
	subject := subject(finding("Deployment.apps", "shop/web"), `{"spec":{"replicas":1}}`)
	subject.Finding.Verdict = model.Missing
	if _, err := f.actuator(t).Plan(t.Context(), subject); err == nil || !strings.Contains(err.Error(), "HorizontalPodAutoscaler web sets spec.replicas") {
		t.Errorf("Plan() = %v", err)
	}
	subject.Written = value(`{"spec":{"paused":false}}`)
	mustPlan(t, f.actuator(t), subject)
}
