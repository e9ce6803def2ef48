//go:build e2e

package actuator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/test/kubetest"
)

var (
	// cluster is the cluster of all tests; each uses a namespace of its own.
	cluster *kubetest.Cluster
	// kubeconfig is that of the admin.
	kubeconfig string
	namespaces atomic.Int32
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "driftd-actuator-")
	if err != nil {
		return 1, fmt.Errorf("make folder for the cluster: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cluster, err = kubetest.Start(context.Background(), kubetest.Options{Dir: dir, Controllers: true})
	if err != nil {
		return 1, err
	}
	kubeconfig = filepath.Join(dir, "admin.kubeconfig")
	if err := cluster.WriteKubeconfig(kubeconfig, "default", cluster.Admin()); err != nil {
		return 1, errors.Join(err, cluster.Stop())
	}
	if err := installKinds(); err != nil {
		return 1, errors.Join(err, cluster.Stop())
	}
	code = m.Run()
	return code, cluster.Stop()
}

// installKinds makes the kinds of Flux and Argo CD before the tests, which run at the same time: a kind that was found and
// cannot be listed yet refuses all actions.
func installKinds() error {
	argo := os.Getenv("DRIFTD_TEST_ARGOCD_BIN")
	if argo == "" {
		return errors.New("DRIFTD_TEST_ARGOCD_BIN is not set: run the tests through make, or set it to what `sh tools/build.sh argocd` prints")
	}
	kinds, args := fluxKinds(), []string{"apply", "--server-side", "--filename=-"}
	for _, kind := range []string{"application", "appproject"} {
		kinds = append(kinds, kind+"s.argoproj.io")
		args = append(args, "--filename="+filepath.Join(argo, kind+"-crd.yaml"))
	}
	if _, err := kubectl(fluxManifests(), args...); err != nil {
		return err
	}
	for _, kind := range kinds {
		if _, err := kubectl("", "wait", "--for=condition=Established", "--timeout=3m", "crd/"+kind); err != nil {
			return err
		}
		// The server lists a kind a moment after it is established.
		var err error
		listed := becomes(func() bool {
			_, err = kubectl("", "get", kind, "--all-namespaces")
			return err == nil
		})
		if !listed {
			return err
		}
	}
	return nil
}

// A desk is a namespace with what a test does in it.
type desk struct {
	*testing.T

	namespace string
	actuator  *kubernetes.Actuator
}

func room() *secret.Room { return secret.New(model.NewSealer([]byte("key")), secret.Options{}) }

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, namespace: fmt.Sprintf("n%d", namespaces.Add(1))}
	d.kubectl("create", "namespace", d.namespace)
	d.actuator = d.with(kubernetes.Options{Writing: kubeapi.Access{Kubeconfig: kubeconfig}})
	return d
}

// with returns an actuator with other options.
func (d *desk) with(o kubernetes.Options) *kubernetes.Actuator {
	d.Helper()
	o.Source, o.Room = "k8s", room()
	a, err := kubernetes.New(o)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

// try runs kubectl as the admin.
func (d *desk) try(input string, args ...string) (string, error) { return kubectl(input, args...) }

func kubectl(input string, args ...string) (string, error) {
	cmd := exec.Command(cluster.Kubectl(), append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

func (d *desk) kubectl(args ...string) string {
	d.Helper()
	out, err := d.try("", args...)
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// in runs kubectl in the namespace.
func (d *desk) in(args ...string) string {
	d.Helper()
	return d.kubectl(append([]string{"--namespace=" + d.namespace}, args...)...)
}

// apply is the pipeline: it applies a manifest by server-side apply and forces nothing.
func (d *desk) apply(manifest string) error {
	_, err := d.try(manifest, "--namespace="+d.namespace, "apply", "--server-side", "--field-manager=git", "--filename=-")
	return err
}

func (d *desk) mustApply(manifest string) {
	d.Helper()
	if err := d.apply(manifest); err != nil {
		d.Fatal(err)
	}
}

// get returns an object.
func (d *desk) get(kind, name string) model.Value {
	d.Helper()
	v, err := decode.JSON([]byte(d.in("get", kind, name, "--output=json", "--show-managed-fields")))
	if err != nil {
		d.Fatal(err)
	}
	return v
}

// managers returns the field managers of an object with their operations, without those of the
// status.
func (d *desk) managers(kind, name string) (all []string) {
	d.Helper()
	for _, e := range d.get(kind, name).At("metadata", "managedFields").Items() {
		if sub := e.At("subresource").Str(); sub != "status" {
			all = append(all, strings.TrimSpace(e.At("manager").Str()+" "+e.At("operation").Str()+" "+sub))
		}
	}
	slices.Sort(all)
	return all
}

// claim returns the claim of a manifest, and its value without sealing.
func (d *desk) claim(manifest string) (sealed model.Claim, plain model.Value) {
	d.Helper()
	docs, err := decode.YAML(strings.NewReader(manifest))
	if err != nil {
		d.Fatal(err)
	}
	kinds, err := kube.Builtin()
	if err != nil {
		d.Fatal(err)
	}
	c, err := kube.NewClaim(docs[0].Value, kube.ClaimOptions{Declaration: "git", DefaultNamespace: d.namespace, Kinds: kinds, Sealer: room().Sealer()})
	if err != nil {
		d.Fatal(err)
	}
	plain = docs[0].Value.Without("apiVersion", "kind").With("metadata", model.MapOf())
	return room().Declaration(model.Declaration{Claims: []model.Claim{c}}).Claims[0], plain
}

// subjects returns the findings on an object that is declared by a manifest, with what is declared.
func (d *desk) subjects(kind, name, manifest string) (all []reconcile.Subject) {
	d.Helper()
	claim, plain := d.claim(manifest)
	live, err := kube.NewResource("k8s", d.get(kind, name), room().Sealer())
	if err != nil {
		d.Fatal(err)
	}
	live = room().Snapshot(model.Snapshot{Resources: []model.Resource{live}}).Resources[0]
	kinds, err := kube.Builtin()
	if err != nil {
		d.Fatal(err)
	}
	s := model.Subject{Key: live.Key, Place: live.Place, Name: live.Name, Live: &live, Kind: kinds[live.Kind], Claims: []*model.Claim{&claim}}
	for _, o := range diff.Compare(&s, diff.Options{}) {
		all = append(all, reconcile.Subject{
			Finding:  &model.Finding{ID: string(o.Verdict), Verdict: o.Verdict, Key: live.Key, Place: live.Place, Name: live.Name, Declaration: "git", Changes: o.Changes, Actor: o.Actor},
			Declared: claim.Value, Written: claim.Value, Named: true, UID: d.uids(live),
			Plain: func(context.Context) (model.Value, model.Value, error) { return plain, claim.Value, nil },
		})
	}
	return all
}

// uids returns the function that returns the UIDs of namespaces, and those of resources that were read.
func (d *desk) uids(read ...model.Resource) func(model.Ref) string {
	return func(ref model.Ref) string {
		for i := range read {
			if read[i].Kind == ref.Kind && read[i].ID == ref.ID {
				return read[i].Origin.UID
			}
		}
		if ref.Kind != "kubernetes/Namespace" {
			return ""
		}
		return d.kubectl("get", "namespace", ref.ID, "--output=jsonpath={.metadata.uid}")
	}
}

// subject returns the finding on an object with a verdict.
func (d *desk) subject(verdict model.Verdict, kind, name, manifest string) reconcile.Subject {
	d.Helper()
	all := d.subjects(kind, name, manifest)
	for _, s := range all {
		if s.Finding.Verdict == verdict {
			return s
		}
	}
	d.Fatalf("%s %s is not %s: %s", kind, name, verdict, describe(all))
	return reconcile.Subject{}
}

func describe(all []reconcile.Subject) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(string(s.Finding.Verdict))
		for _, c := range s.Finding.Changes {
			b.WriteString(" " + c.Path)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func (d *desk) plan(s reconcile.Subject) reconcile.Change {
	d.Helper()
	c, err := d.actuator.Plan(d.Context(), s)
	if err != nil {
		d.Fatal(err)
	}
	return c
}

// putBack plans, rehearses, writes, looks, and hands the fields back.
func (d *desk) putBack(s reconcile.Subject) reconcile.Plan {
	d.Helper()
	began := time.Now()
	c := d.plan(s)
	if err := c.Rehearse(d.Context()); err != nil {
		d.Fatal(err)
	}
	receipt, err := c.Write(d.Context())
	if err != nil || receipt.Request == "" {
		d.Fatalf("Write() = %+v, %v", receipt, err)
	}
	d.see(s, c.Plan(), reconcile.AsWanted)
	d.handBack(s, c.Plan())
	d.see(s, c.Plan(), reconcile.AsWanted)
	d.Logf("put back in %s", time.Since(began).Round(time.Millisecond))
	if _, err := c.Write(d.Context()); !isNotWritten(err) {
		d.Errorf("the same patch again: %v", err)
	}
	return c.Plan()
}

func (d *desk) handBack(s reconcile.Subject, p reconcile.Plan) {
	d.Helper()
	for range 2 {
		if err := d.actuator.HandBack(d.Context(), s.Finding.Key, p); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *desk) see(s reconcile.Subject, p reconcile.Plan, want reconcile.Inspection) {
	d.Helper()
	if inspection, err := d.actuator.Inspect(d.Context(), s.Finding.Key, p); inspection != want || err != nil {
		d.Errorf("Inspect() = %v, %v, want %v", inspection, err, want)
	}
}

// putAllBack puts every finding on an object back that is no pending one.
func (d *desk) putAllBack(kind, name, manifest string) {
	d.Helper()
	for range 5 {
		all := d.subjects(kind, name, manifest)
		if len(all) == 0 {
			return
		}
		d.putBack(all[0])
	}
	d.Fatalf("%s %s still differs: %s", kind, name, describe(d.subjects(kind, name, manifest)))
}

func isNotWritten(err error) bool {
	_, ok := errors.AsType[*reconcile.NotWrittenError](err)
	return ok
}

// refused checks that an error is the refusal of a guard.
func (d *desk) refused(err error, guard, want string) {
	d.Helper()
	r, ok := errors.AsType[*reconcile.Refusal](err)
	if !ok || r.Guard != guard || !strings.Contains(r.Why, want) {
		d.Errorf("got %v, want guard %s: %s", err, guard, want)
	}
}

// wait polls until a condition holds.
func (d *desk) wait(what string, holds func() bool) {
	d.Helper()
	if !becomes(holds) {
		d.Fatalf("%s: not within three minutes", what)
	}
}

// becomes waits until a function returns true, and reports whether it does within three minutes.
func becomes(holds func() bool) bool {
	deadline := time.After(3 * time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}

// needs returns the value of a variable that make sets.
func needs(t *testing.T, variable, command string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("%s is not set: run the tests through make, or set it to what `%s` prints", variable, command)
	}
	return value
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
