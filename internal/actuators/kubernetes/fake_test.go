package kubernetes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/jsonpatch/jsonpatchtest"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// A fake is an API server that applies JSON Patches. Its field managers own nothing by themselves.
type fake struct {
	*httptest.Server

	mu sync.Mutex
	// objects are the objects and lists by path.
	objects map[string]string
	// kinds are the resources of each version of a group, by path.
	kinds map[string]string
	// forbidden are paths that answer 403.
	forbidden []string
	// admit changes what is written; nil admits everything as it is.
	admit func(object map[string]any)
	// before may answer a request instead of the server, and after may do so once it was carried
	// out. They return true then.
	before, after func(w http.ResponseWriter, r *http.Request) bool
	// requests are the methods, paths and queries of all requests, and bodies what was sent.
	requests, bodies []string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{objects: map[string]string{}, kinds: map[string]string{
		"/api/v1":              `{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list"]},{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["list"]},{"name":"services","kind":"Service","namespaced":true,"verbs":["list"]}`,
		"/apis/apps/v1":        `{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["list"]},{"name":"deployments/status","kind":"Deployment","namespaced":true,"verbs":["get"]}`,
		"/apis/autoscaling/v2": `{"name":"horizontalpodautoscalers","kind":"HorizontalPodAutoscaler","namespaced":true,"verbs":["list"]}`,
	}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.objects["/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"] = `{"items":[]}`
	f.objects["/api/v1/secrets"] = `{"items":[]}`
	f.objects["/api/v1/namespaces/shop"] = `{"metadata":{"name":"shop","uid":"ns-shop"}}`
	f.objects["/api/v1/namespaces/kube-system"] = `{"metadata":{"name":"kube-system","uid":"ns-system"}}`
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	f.requests = append(f.requests, strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery, "?"))
	f.bodies = append(f.bodies, string(body))
	w.Header().Set("Audit-Id", "audit-1")
	if f.before != nil && f.before(w, r) {
		return
	}
	if slices.Contains(f.forbidden, r.URL.Path) {
		status(w, http.StatusForbidden, "forbidden: User \"driftd\" cannot list it")
		return
	}
	code, answer := f.handle(r, body)
	if f.after != nil && f.after(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, answer)
}

func status(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, statusText(message))
}

func statusText(message string) string {
	return `{"kind":"Status","message":` + strconv.Quote(message) + `}`
}

func (f *fake) handle(r *http.Request, body []byte) (int, string) {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/selfsubjectreviews"):
		return http.StatusCreated, `{"status":{"userInfo":{"username":"system:serviceaccount:driftd:writer"}}}`
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		return http.StatusCreated, `{"status":{"allowed":false}}`
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/selfsubjectrulesreviews"):
		return http.StatusCreated, f.objects[path]
	case r.Method == http.MethodPost:
		return f.create(r, body)
	case r.Method == http.MethodPatch:
		return f.patch(r, body)
	case f.kinds[path] != "":
		return http.StatusOK, `{"resources":[` + f.kinds[path] + `]}`
	case f.objects[path] != "":
		return http.StatusOK, f.objects[path]
	case strings.HasPrefix(path, "/api/v1/namespaces/") && strings.HasSuffix(path, "/secrets"):
		return http.StatusOK, f.records(strings.Split(path, "/")[4])
	}
	if path == "/apis" {
		return http.StatusOK, f.groups()
	}
	var versions []string
	for _, p := range slices.Sorted(maps.Keys(f.kinds)) {
		if version, ok := strings.CutPrefix(p, path+"/"); ok {
			versions = append(versions, fmt.Sprintf(`{"version":%q}`, version))
		}
	}
	if len(versions) > 0 && strings.Count(path, "/") == 2 {
		return http.StatusOK, `{"preferredVersion":` + versions[0] + `,"versions":[` + strings.Join(versions, ",") + `]}`
	}
	return http.StatusNotFound, statusText("not found")
}

// records returns the items of the list of all Secrets that are in a namespace.
func (f *fake) records(namespace string) string {
	var own []model.Value
	for _, item := range value(f.objects["/api/v1/secrets"]).At("items").Items() {
		if item.At("metadata", "namespace").Str() == namespace {
			own = append(own, item)
		}
	}
	return `{"items":` + model.ListOf(own...).String() + `}`
}

// groups returns the list of the API groups.
func (f *fake) groups() string {
	var groups []string
	for path := range f.kinds {
		if parts := strings.Split(path, "/"); parts[1] == "apis" {
			groups = append(groups, fmt.Sprintf(`{"name":%q}`, parts[2]))
		}
	}
	return `{"kind":"APIGroupList","groups":[` + strings.Join(groups, ",") + `]}`
}

func (f *fake) patch(r *http.Request, body []byte) (int, string) {
	var tree any
	if json.Unmarshal([]byte(f.objects[r.URL.Path]), &tree) != nil {
		return http.StatusNotFound, statusText("not found")
	}
	changed, err := jsonpatchtest.Apply(tree, body)
	if err != nil {
		return http.StatusUnprocessableEntity, statusText("the server rejected our request due to an error in our request")
	}
	return f.store(r, r.URL.Path, changed.(map[string]any), http.StatusOK)
}

func (f *fake) create(r *http.Request, body []byte) (int, string) {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return http.StatusBadRequest, statusText("not an object")
	}
	path := r.URL.Path + "/" + object["metadata"].(map[string]any)["name"].(string)
	if f.objects[path] != "" {
		return http.StatusConflict, statusText("already exists")
	}
	object["metadata"].(map[string]any)["uid"] = "new"
	return f.store(r, path, object, http.StatusCreated)
}

func (f *fake) store(r *http.Request, path string, object map[string]any, code int) (int, string) {
	if f.admit != nil {
		f.admit(object)
	}
	metadata := object["metadata"].(map[string]any)
	if n, ok := metadata["generation"].(float64); ok {
		metadata["generation"] = n + 1
	}
	text, err := json.Marshal(object)
	if err != nil {
		return http.StatusInternalServerError, ""
	}
	if r.URL.Query().Get("dryRun") != "All" {
		f.objects[path] = string(text)
	}
	return code, string(text)
}

// writes returns the writes that were sent, without those that change nothing.
func (f *fake) writes() (sent []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if !strings.HasPrefix(r, "GET ") && !strings.Contains(r, "dryRun=All") && !strings.Contains(r, "/selfsubject") {
			sent = append(sent, r)
		}
	}
	return sent
}

func room() *secret.Room { return secret.New(model.NewSealer([]byte("key")), secret.Options{}) }

func (f *fake) actuator(t *testing.T) *kubernetes.Actuator {
	t.Helper()
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: f.URL}, Timeout: time.Hour, Room: room()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const webPath = "/apis/apps/v1/namespaces/shop/deployments/web"

// web is a Deployment of which a hand changed the image, added a variable, and removed another.
const web = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"u1","generation":4,"resourceVersion":"9",
"managedFields":[{"manager":"git","operation":"Apply","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}},
{"manager":"kubectl-edit","operation":"Update","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{},"f:env":{"k:{\"name\":\"EXTRA\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}}]},
"spec":{"replicas":2,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"evil:1","env":[{"name":"A","value":"1"},{"name":"EXTRA","value":"x"}]}]}}},
"status":{"replicas":2}}`

const webDeclared = `{"metadata":{},"spec":{"replicas":2,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}]}}}}`

const container = "spec.template.spec.containers[name=web]"

func webFinding() *model.Finding {
	return finding("Deployment.apps", "shop/web",
		change(container+".env[name=B]", `{"name":"B","value":"2"}`, ""),
		change(container+".env[name=EXTRA]", "", `{"name":"EXTRA","value":"x"}`),
		change(container+".image", `"web:1"`, `"evil:1"`))
}

func finding(kind, id string, changes ...model.Change) *model.Finding {
	return &model.Finding{ID: "f1", Basis: "b1", Verdict: model.Changed, Declaration: "shop", Changes: changes,
		Key: model.Key{Source: "k8s", Kind: "kubernetes/" + kind, ID: id}}
}

func change(path, declared, live string) model.Change {
	return model.Change{Path: path, Declared: optional(declared), Live: optional(live)}
}

func optional(text string) *model.Value {
	if text == "" {
		return nil
	}
	v := value(text)
	return &v
}

func value(text string) model.Value {
	v, err := decode.JSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func webSubject() reconcile.Subject { return subject(webFinding(), webDeclared) }

// subject returns a subject whose declaration the API server would not change, and of a rule that names its kind.
func subject(f *model.Finding, declared string) reconcile.Subject {
	s := reconcile.Subject{Finding: f, UID: lastRead, Named: true}
	if declared != "" {
		s.Declared, s.Written = value(declared), value(declared)
	}
	return s
}

// lastRead returns the UIDs of the objects of the tests.
func lastRead(ref model.Ref) string {
	return map[model.Ref]string{
		{Kind: "kubernetes/Deployment.apps", ID: "shop/web"}: "u1",
		{Kind: "kubernetes/Secret", ID: "shop/db"}:           "u2",
		{Kind: "kubernetes/Namespace", ID: "shop"}:           "ns-shop",
		{Kind: "kubernetes/Namespace", ID: "kube-system"}:    "ns-system",
	}[ref]
}

// checkRefusal checks that an error is the refusal of a guard, or nil if want is "".
func checkRefusal(t *testing.T, err error, guard, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	r, ok := errors.AsType[*reconcile.Refusal](err)
	if !ok || r.Guard != guard || !strings.Contains(r.Why, want) {
		t.Errorf("got %v, want guard %s: %s", err, guard, want)
	}
}
