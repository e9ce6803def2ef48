package kubernetes_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// between returns an actuator that reads from one server and writes to another.
func between(t *testing.T, reader, writer *fake) *kubernetes.Actuator {
	t.Helper()
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: writer.URL}, Reading: &kubeapi.Access{Server: reader.URL}, Room: room()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAnotherCluster checks that nothing is written if the credentials lead to another cluster than the
// last read of the source.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reader, writer, want string }{
		"neither":          {"u1", "u1", ""},
		"the writer":       {"u1", "u2", "leads to another cluster: look again"},
		"the reader":       {"u2", "u1", "the credentials for writing lead to another cluster than those for reading"},
		"both":             {"u2", "u2", "it is not the object that the last read of source k8s has"},
		"not in last read": {"u1", "u1", "the last read of source k8s does not have it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, writer := newFake(t), newFake(t)
			reader.objects[webPath], writer.objects[webPath] = strings.Replace(web, `"u1"`, `"`+tt.reader+`"`, 1), strings.Replace(web, `"u1"`, `"`+tt.writer+`"`, 1)
			s := webSubject()
			if strings.HasPrefix(tt.want, "the last read") {
				s.UID = func(model.Ref) string { return "" }
			}
			_, err := between(t, reader, writer).Plan(t.Context(), s)
			checkRefusal(t, err, "still-so", tt.want)
		})
	}
}

func missing() reconcile.Subject {
	s := subject(finding("ConfigMap", "shop/web"), `{"data":{"a":"1"}}`)
	s.Finding.Verdict = model.Missing
	return s
}

const shopPath, systemPath = "/api/v1/namespaces/shop", "/api/v1/namespaces/kube-system"

// TestCreateInCluster checks that an object is created only in the cluster that the source was read from.
func TestCreateInCluster(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("ns-shop", "ns-x", "ns-system", "ns-y")
	move := func(f *fake) {
		for _, path := range []string{shopPath, systemPath} {
			f.objects[path] = other.Replace(f.objects[path])
		}
	}
	tests := map[string]struct {
		reason string
		change func(reader, writer *fake, s *reconcile.Subject)
		system string
		want   string
	}{
		"one cluster": {reason: "it may have two addresses", change: func(*fake, *fake, *reconcile.Subject) {}, system: "ns-shop"},
		"the writer moved": {reason: "its kubeconfig has another context now", want: "leads to another cluster than the last read of source k8s",
			change: func(_, writer *fake, _ *reconcile.Subject) { move(writer) }},
		"the reader moved": {reason: "the records of Flux would be another cluster's", want: "leads to another cluster",
			change: func(reader, _ *fake, _ *reconcile.Subject) { move(reader) }},
		"both moved": {reason: "a tunnel leads elsewhere now", want: "leads to another cluster",
			change: func(reader, writer *fake, _ *reconcile.Subject) { move(reader); move(writer) }},
		"no such namespace": {reason: "it is not there", want: "leads to another cluster",
			change: func(_, writer *fake, _ *reconcile.Subject) { delete(writer.objects, shopPath) }},
		"only kube-system": {reason: "the credentials may get that", system: "ns-system",
			change: func(_, writer *fake, _ *reconcile.Subject) { writer.forbidden = []string{shopPath} }},
		"list": {reason: "one of the rights is enough", system: "ns-shop", change: func(reader, _ *fake, _ *reconcile.Subject) {
			reader.forbidden = []string{shopPath}
			reader.objects["/api/v1/namespaces"] = `{"items":[` + reader.objects[shopPath] + `]}`
		}},
		"no right": {reason: "nothing can be compared", want: "grant the credentials for writing get on namespace shop or kube-system",
			change: func(_, writer *fake, _ *reconcile.Subject) { writer.forbidden = []string{shopPath, systemPath} }},
		"not read": {reason: "nothing can be compared", want: "grant the credentials for reading list on namespaces",
			change: func(_, _ *fake, s *reconcile.Subject) { s.UID = func(model.Ref) string { return "" } }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, writer, s := newFake(t), newFake(t), missing()
			tt.change(reader, writer, &s)
			c, err := between(t, reader, writer).Plan(t.Context(), s)
			checkRefusal(t, err, "still-so", tt.want)
			if err == nil && c.Plan().System != tt.system {
				t.Errorf("%s: the system is %s", tt.reason, c.Plan().System)
			}
			if n := len(writer.writes()) + len(reader.writes()); n != 0 {
				t.Errorf("%s: %d writes were sent", tt.reason, n)
			}
		})
	}
}

// TestClusterMovesAfterPlan checks that the cluster is compared again when an object is created, read and handed
// back.
func TestClusterMovesAfterPlan(t *testing.T) {
	t.Parallel()
	f, s := newFake(t), missing()
	a := f.actuator(t)
	c := mustPlan(t, a, s)
	f.objects[shopPath] = strings.Replace(f.objects[shopPath], "ns-shop", "ns-x", 1)
	_, err := c.Write(t.Context())
	if !isNotWritten(err) || !strings.Contains(err.Error(), "leads to another cluster than when the action was planned") {
		t.Errorf("Write() = %v", err)
	}
	if _, err := a.Inspect(t.Context(), s.Finding.Key, c.Plan()); err == nil {
		t.Error("Inspect() of another cluster returns a result")
	}
	if err := a.HandBack(t.Context(), s.Finding.Key, c.Plan()); err == nil {
		t.Error("HandBack() changes another cluster")
	}
	f.forbidden = []string{shopPath, systemPath}
	if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "compare the cluster with that of the plan") {
		t.Errorf("Write() without a comparison = %v", err)
	}
	if slices.ContainsFunc(f.requests, func(r string) bool {
		return strings.HasPrefix(r, http.MethodPost+" /api/v1/") && !strings.Contains(r, "dryRun")
	}) {
		t.Errorf("requests are %q", f.requests)
	}
}
