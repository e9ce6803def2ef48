//go:build e2e

package actuator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/process"
)

const fluxKind = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[3]s.%[1]s"},
"spec":{"group":"%[1]s","scope":"Namespaced","names":{"kind":"%[2]s","listKind":"%[2]sList","plural":"%[3]s","singular":"%[4]s"},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// fluxKinds returns the names of the definitions of the kinds of Flux, and fluxManifests the definitions.
func fluxKinds() (names []string) {
	for _, kind := range ofFlux() {
		names = append(names, fmt.Sprintf("%s.%s", kind[2], kind[0]))
	}
	return names
}

func fluxManifests() string {
	var all []string
	for _, kind := range ofFlux() {
		all = append(all, fmt.Sprintf(fluxKind, kind...))
	}
	return strings.Join(all, "\n---\n")
}

// ofFlux returns the group, the name, the plural and the singular of each kind of Flux.
func ofFlux() [][]any {
	return [][]any{{"kustomize.toolkit.fluxcd.io", "Kustomization", "kustomizations", "kustomization"}, {"source.toolkit.fluxcd.io", "GitRepository", "gitrepositories", "gitrepository"},
		{"source.toolkit.fluxcd.io", "OCIRepository", "ocirepositories", "ocirepository"}, {"source.toolkit.fluxcd.io", "Bucket", "buckets", "bucket"}}
}

// A flux is the genuine kustomize-controller in a namespace, with a stand-in of the source-controller: a GitRepository whose status a
// test writes.
type flux struct {
	*desk

	archives   string
	dir        string
	controller *process.Process
}

const (
	// requestedAt is the path of the annotation of a request, and begin the value of the first one.
	requestedAt = `{.metadata.annotations.reconcile\.fluxcd\.io/requestedAt}`
	begin       = "begin"

	firstCommit = "0123456789abcdef0123456789abcdef01234567"
	nextCommit  = "89abcdef0123456789abcdef0123456789abcdef"
)

func newFlux(t *testing.T) *flux {
	t.Helper()
	f := startFlux(t)
	f.archive("first", "web.yaml", deployment)
	f.archive("next", "web.yaml", strings.ReplaceAll(deployment, "web:1", "web:2"))
	f.create("source.toolkit.fluxcd.io/v1", "GitRepository", "shop", `{"interval":"1h","url":"https://git.example.org/shop.git"}`)
	f.source("first", firstCommit)
	f.create("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "apps",
		fmt.Sprintf(`{"interval":"1h","prune":true,"path":"./","targetNamespace":%q,"sourceRef":{"kind":"GitRepository","name":"shop"}}`, f.namespace))
	// The events of its start are over when it has handled a request.
	f.wait("Flux", func() bool { return f.status("{.status.lastAppliedRevision}") == "main@sha1:"+firstCommit })
	f.in("annotate", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "reconcile.fluxcd.io/requestedAt="+begin)
	f.wait("Flux", func() bool {
		return f.status(`{.status.lastHandledReconcileAt} {.status.conditions[?(@.type=="Ready")].status}`) == begin+" True"
	})
	return f
}

// startFlux runs the controller, without any object of Flux.
func startFlux(t *testing.T) *flux {
	t.Helper()
	bin := needs(t, "DRIFTD_TEST_FLUX_BIN", "sh tools/build.sh flux")
	dir := t.TempDir()
	f := &flux{desk: newDesk(t), dir: dir}
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(files.Close)
	f.archives = files.URL
	health, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	f.controller, err = process.Start(process.Options{Program: filepath.Join(bin, "kustomize-controller"), Log: filepath.Join(dir, "log"),
		Args: []string{"--watch-all-namespaces=false", "--enable-leader-election=false", "--events-addr=", "--metrics-addr=0", "--health-addr=" + health},
		Env:  []string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + f.namespace, "TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.controller.Kill(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log of kustomize-controller:\n%s", f.controller.Log())
		}
	})
	return f
}

// status returns a part of the Kustomization.
func (f *flux) status(path string) string {
	f.Helper()
	return f.in("get", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "--output=jsonpath="+path)
}

func (f *flux) create(version, kind, name, spec string) {
	f.Helper()
	// With the finalizer, which Flux adds otherwise, no pass is due a moment after the first one.
	object := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"finalizers":["finalizers.fluxcd.io"]},"spec":%s}`, version, kind, name, spec)
	if _, err := f.try(object, "--namespace="+f.namespace, "create", "--filename=-"); err != nil {
		f.Fatal(err)
	}
}

// set sets fields of the spec of the Kustomization.
func (f *flux) set(spec string) {
	f.Helper()
	f.in("patch", "kustomizations.kustomize.toolkit.fluxcd.io", "apps", "--type=merge", `--patch={"spec":`+spec+`}`)
}

// archive writes the archive of a source, from names and contents of files.
func (f *flux) archive(name string, files ...string) {
	f.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))}); err != nil {
			f.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, name+".tar.gz"), b.Bytes(), 0o600); err != nil {
		f.Fatal(err)
	}
}

// source makes an archive the one of a commit of the GitRepository.
func (f *flux) source(name, commit string) {
	f.Helper()
	f.sourceOf("shop", name, commit)
}

// sourceOf makes an archive the one of a commit of a GitRepository.
func (f *flux) sourceOf(repository, name, commit string) {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name+".tar.gz"))
	if err != nil {
		f.Fatal(err)
	}
	sum := sha256.Sum256(data)
	f.in("patch", "gitrepositories.source.toolkit.fluxcd.io", repository, "--subresource=status", "--type=merge",
		fmt.Sprintf(`--patch={"status":{"observedGeneration":1,"artifact":{"url":"%s/%s.tar.gz","path":"x","revision":"main@sha1:%s","digest":"sha256:%s","lastUpdateTime":"2026-11-27T10:00:00Z"},
"conditions":[{"type":"Ready","status":"True","reason":"Succeeded","message":"stored","lastTransitionTime":"2026-11-27T10:00:00Z"}]}}`, f.archives, name, commit, hex.EncodeToString(sum[:])))
}

// drifted changes the object by hand, and returns the findings.
func (f *flux) drifted() reconcile.Subject {
	f.Helper()
	f.in("set", "image", "deployment/web", "web=evil:1")
	s := f.subject(model.Changed, "deployment", "web", deployment)
	s.Revision = firstCommit
	return s
}

func (f *flux) image() string {
	f.Helper()
	return f.in("get", "deployment", "web", "--output=jsonpath={.spec.template.spec.containers[0].image}")
}

// TestFluxIsAsked puts an object that Flux applies back by asking Flux, and writes nothing else.
func TestFluxIsAsked(t *testing.T) {
	t.Parallel()
	f := newFlux(t)
	s := f.drifted()
	other := *s.Finding
	other.ID, other.Basis = "other", "b"
	elsewhere := other
	elsewhere.ID, elsewhere.Key.ID = "elsewhere", f.namespace+"/db"
	s.Others = []*model.Finding{&other, &elsewhere}
	p := f.putBack(s)
	if !strings.Contains(p.Asks, "Kustomization "+f.namespace+"/apps of Flux to apply main@sha1:"+firstCommit) || p.Person == "" || len(p.Also) != 1 || p.Also[0].Finding != "other" || p.HandBack != "" {
		t.Errorf("the plan is %+v", p)
	}
	if got := f.image(); got != "registry.example.org/web:1" {
		t.Errorf("the image is %s", got)
	}
	for _, m := range f.managers("deployment", "web") {
		if strings.Contains(m, "driftd") {
			t.Errorf("the field managers are %s", f.managers("deployment", "web"))
		}
	}
	f.wait("the request", func() bool {
		return f.status("{.status.lastHandledReconcileAt}") == f.status(requestedAt)
	})

	// An object that is gone is made again.
	claim, _ := f.claim(deployment)
	f.in("delete", "deployment", "web", "--wait")
	m := f.desk.missing(model.Key{Source: "k8s", Kind: "kubernetes/Deployment.apps", ID: f.namespace + "/web"}, claim.Value)
	m.Revision = firstCommit
	if p := f.putBack(m); !p.Creates || p.Asks == "" {
		t.Errorf("the plan is %+v", p)
	}

	// What Flux does not put back is not taken for put back.
	f.in("annotate", "deployment/web", "kustomize.toolkit.fluxcd.io/reconcile=disabled")
	s = f.drifted()
	c := f.plan(s)
	if _, err := c.Write(t.Context()); err != nil {
		t.Error(err)
	}
	f.see(s, c.Plan(), reconcile.AsBefore)
}

// TestFluxIsNotAsked checks that Flux is not asked where it would do something else than put back, or nothing.
func TestFluxIsNotAsked(t *testing.T) {
	t.Parallel()
	f := newFlux(t)
	s := f.drifted()
	refused := func(guard, want string) {
		t.Helper()
		_, err := f.actuator.Plan(t.Context(), s)
		f.refused(err, guard, want)
	}
	s.Revision = nextCommit
	refused("scope", "was read at "+nextCommit)
	s.Revision = firstCommit
	c := f.plan(s)
	f.set(`{"suspend":true}`)
	refused("declarer", "is suspended, and applies nothing: ask who suspended it, then run flux resume kustomization apps --namespace="+f.namespace)
	_, err := c.Write(t.Context())
	f.refused(err, "declarer", "is suspended")
	if at := f.status(requestedAt); at != begin {
		t.Errorf("Flux was asked: %s", at)
	}
	f.set(`{"suspend":null}`)
	f.wait("Flux", func() bool {
		now := strings.Fields(f.status(`{.metadata.generation} {.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}`))
		return len(now) == 3 && now[0] == now[1] && now[2] == "True" && f.image() == "registry.example.org/web:1"
	})
	s = f.drifted()

	// Flux does not run, and has not seen the next commit.
	if err := f.controller.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c = f.plan(s)
	if receipt, err := c.Write(t.Context()); err == nil || isNotWritten(err) || !strings.Contains(err.Error(), "has not handled the request") {
		t.Errorf("Flux does not run: Write() = %+v, %v", receipt, err)
	}
	f.see(s, c.Plan(), reconcile.AsBefore)
	f.source("next", nextCommit)
	refused("scope", "has main@sha1:"+nextCommit+", which Kustomization "+f.namespace+"/apps of Flux has not applied yet")
	f.set(`{"force":true}`)
	refused("scope", "spec.force")
	f.set(`{"force":null,"kubeConfig":{"secretRef":{"name":"edge"}}}`)
	refused("declarer", "applies to another cluster")
}

// TestFluxRights checks that an account that may not ask Flux is refused with the right that it lacks.
func TestFluxRights(t *testing.T) {
	t.Parallel()
	f := newFlux(t)
	s := f.drifted()
	rules := `{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","patch"]},{"apiGroups":[""],"resources":["secrets","namespaces"],"verbs":["get","list"]},
{"apiGroups":["*"],"resources":["kustomizations","helmreleases","applications","gitrepositories","horizontalpodautoscalers"],"verbs":["get","list"]}`
	a := f.with(kubernetes.Options{Writing: f.user("asker", rules), Reading: &kubeapi.Access{Kubeconfig: kubeconfig}})
	c, err := a.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	f.refused(c.Rehearse(t.Context()), "rights", "grant patch on kustomizations.kustomize.toolkit.fluxcd.io in namespace "+f.namespace)
}
