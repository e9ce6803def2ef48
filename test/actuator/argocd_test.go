//go:build e2e

package actuator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestArgoCD puts objects that Argo CD applies back by asking Argo CD. Its steps use one Argo CD, one after the other.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	a := newArgo(t)
	a.isAsked()
	a.withdraws()
	a.fails()
	a.windows()
	a.refuses()
}

// isAsked checks that one object is put back, and nothing else is written.
func (a *argo) isAsked() {
	a.Helper()
	history := a.app("{.status.history}")
	a.in("patch", "configmap", "settings", "--type=merge", `--patch={"data":{"level":"debug"}}`)
	a.seen("ConfigMap", "OutOfSync")
	s := a.drifted()
	// The last operation must not be mixed with the request.
	a.patch("applications.argoproj.io/shop", `{"status":{"operationState":{"operation":{"initiatedBy":{"automated":true},"retry":{"limit":5},"sync":{"prune":true,"syncStrategy":{"apply":{"force":true}}}}}}}`)
	other := *s.Finding
	other.ID, other.Key.Kind, other.Key.ID = "other", "kubernetes/ConfigMap", a.namespace+"/settings"
	s.Others = []*model.Finding{&other}
	p := a.putBack(s)
	if p.Asks != "Application "+a.namespace+"/shop of Argo CD to sync Deployment "+a.namespace+"/web at "+a.head() || p.Person == "" || len(p.Also) > 0 || p.HandBack != "" {
		a.Errorf("the plan is %+v", p)
	}
	if got := a.in("get", "configmap", "settings", "--output=jsonpath={.data.level}"); got != "debug" {
		a.Errorf("the other object has %s", got)
	}
	a.wait("the request", func() bool { return a.app("{.status.operationState.phase}{.operation}") == "Succeeded" })
	if got := a.app("{.status.history}"); got != history {
		a.Errorf("the history is %s", got)
	}
	if got := a.app("{.status.operationState.operation.info[1].value} {.status.operationState.operation.initiatedBy.username}"); got != s.Note+" driftd" {
		a.Errorf("Argo CD shows %q", got)
	}
	if got := a.app("{.status.operationState.operation.sync}{.status.operationState.operation.retry}{.status.operationState.operation.initiatedBy.automated}"); strings.Contains(got, "prune") ||
		strings.Contains(got, "force") || strings.Contains(got, "true") || strings.Contains(got, "limit") {
		a.Errorf("the operation is %s", got)
	}
	for _, m := range a.managers("deployment", "web") {
		if strings.Contains(m, "driftd") {
			a.Errorf("the field managers are %s", a.managers("deployment", "web"))
		}
	}

	// An object that is gone is made again.
	claim, _ := a.claim(deployment)
	a.in("delete", "deployment", "web", "--wait")
	a.wait("Argo CD", func() bool { return a.app(`{.status.resources[?(@.kind=="Deployment")].health.status}`) == "Missing" })
	m := a.missing(model.Key{Source: "k8s", Kind: "kubernetes/Deployment.apps", ID: a.namespace + "/web"}, claim.Value)
	m.Revision = a.head()
	if p := a.putBack(m); !p.Creates || p.Asks == "" {
		a.Errorf("the plan is %+v", p)
	}
	a.in("patch", "configmap", "settings", "--type=merge", `--patch={"data":{"level":"info"}}`)
	a.seen("ConfigMap", "Synced")
}

// withdraws checks that a request that Argo CD does not begin is not left behind.
func (a *argo) withdraws() {
	a.Helper()
	s := a.drifted()
	c := a.plan(s)
	a.stop(func() {
		if _, err := c.Write(a.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "it has not begun: see argocd app get shop --app-namespace="+a.namespace+"; it was withdrawn") {
			a.Errorf("Write() = %v", err)
		}
	})
	if got := a.app("{.operation}"); got != "" {
		a.Errorf("the Application has the operation %s", got)
	}
	a.see(s, c.Plan(), reconcile.AsBefore)
	a.putBack(s)
}

// fails checks that a sync that Argo CD does not carry out is reported with its reason.
func (a *argo) fails() {
	a.Helper()
	s := a.drifted()
	a.patch("appproject/default", `{"spec":{"namespaceResourceBlacklist":[{"group":"apps","kind":"Deployment"}]}}`)
	c := a.plan(s)
	if _, err := c.Write(a.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "not permitted in project default") {
		a.Errorf("Write() = %v", err)
	}
	a.see(s, c.Plan(), reconcile.AsBefore)
	a.patch("appproject/default", `{"spec":{"namespaceResourceBlacklist":null}}`)
	a.refresh()
}

// windows checks that a window that would block the sync refuses it, and that Argo CD does block it.
func (a *argo) windows() {
	a.Helper()
	s := a.drifted()
	const deny, allow = `{"kind":"deny","schedule":"* * * * *","duration":"1h","applications":["*"]`, `{"kind":"allow","schedule":"0 0 29 2 *","duration":"1m","applications":["*"]`
	for window, want := range map[string]string{deny + `}`: `the deny window "* * * * *" for 1h of project default`, allow + `}`: `the allow window "0 0 29 2 *" for 1m of project default`} {
		c := a.plan(s)
		a.patch("appproject/default", `{"spec":{"syncWindows":[`+window+`]}}`)
		_, err := c.Write(a.Context())
		a.refused(err, "declarer", want)
		a.patch("appproject/default", `{"spec":{"syncWindows":null}}`)
	}

	// Argo CD would carry the request out at the end of the window, so that it is withdrawn if driftd found no window: here,
	// because its clock is three hours late.
	began := time.Now().UTC()
	a.patch("appproject/default", fmt.Sprintf(`{"spec":{"syncWindows":[{"kind":"deny","schedule":"%d %d * * *","duration":"30m","applications":["*"]}]}}`, began.Minute(), began.Hour()))
	late := a.with(kubernetes.Options{Writing: kubeapi.Access{Kubeconfig: kubeconfig}, Now: func() time.Time { return time.Now().Add(-3 * time.Hour) }})
	before := a.app("{.status.operationState}")
	c, err := late.Plan(a.Context(), s)
	if err != nil {
		a.Fatal(err)
	}
	if _, err := c.Write(a.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "blocked by sync window: see argocd app get shop --app-namespace="+a.namespace+"; it was withdrawn") {
		a.Errorf("Write() = %v", err)
	}
	if now := a.app("{.operation}{.status.operationState}"); now != before {
		a.Errorf("the last operation is\n%s\nand was\n%s", now, before)
	}
	a.patch("appproject/default", `{"spec":{"syncWindows":null}}`)
	compared := a.app("{.status.reconciledAt}")
	a.refresh()
	a.wait("Argo CD", func() bool { return a.app("{.status.reconciledAt}") != compared })
	a.see(s, c.Plan(), reconcile.AsBefore)

	// Without that, it is carried out.
	a.patch("appproject/default", `{"spec":{"syncWindows":[`+deny+`}]}}`)
	a.patch("applications.argoproj.io/shop", `{"operation":{"sync":{"revision":"`+a.head()+`","resources":[{"group":"apps","kind":"Deployment","name":"web","namespace":"`+a.namespace+`"}]}}}`)
	a.wait("Argo CD", func() bool {
		return a.app("{.status.operationState.message}") == "Sync operation blocked by sync window"
	})
	_, err = a.actuator.Plan(a.Context(), s)
	a.refused(err, "still-so", "has an operation already")
	a.patch("appproject/default", `{"spec":{"syncWindows":null}}`)
	a.refresh()
	a.wait("Argo CD", func() bool { return a.app("{.status.operationState.phase}{.operation}") == "Succeeded" })
	s = a.drifted()

	for _, window := range []string{deny, allow} {
		a.patch("appproject/default", `{"spec":{"syncWindows":[`+window+`,"manualSync":true}]}}`)
		a.putBack(s)
		s = a.drifted()
	}
	a.patch("appproject/default", `{"spec":{"syncWindows":null}}`)
}

// refuses checks that Argo CD is not asked where it would do something else, or nothing.
func (a *argo) refuses() {
	a.Helper()
	s := a.drifted()
	refused := func(guard, want string) {
		a.Helper()
		_, err := a.actuator.Plan(a.Context(), s)
		a.refused(err, guard, want)
	}
	rules := `{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get","patch"]},{"apiGroups":[""],"resources":["secrets","namespaces"],"verbs":["get","list"]},
{"apiGroups":["*"],"resources":["kustomizations","helmreleases","applications","appprojects","horizontalpodautoscalers"],"verbs":["get","list"]}`
	c, err := a.with(kubernetes.Options{Writing: a.user("syncer", rules), Reading: &kubeapi.Access{Kubeconfig: kubeconfig}}).Plan(a.Context(), s)
	if err != nil {
		a.Fatal(err)
	}
	a.refused(c.Rehearse(a.Context()), "rights", "grant patch on applications.argoproj.io in namespace "+a.namespace)

	// A commit that Argo CD has seen, and driftd has not read.
	before := a.head()
	a.commit("settings.yaml", strings.ReplaceAll(configmap, "info", "warn"))
	a.refresh()
	a.wait("Argo CD", func() bool { return a.app("{.status.sync.revision}") == a.head() })
	refused("scope", "compares with "+a.head()+", and declaration git was read at "+before)
	_, err = c.Write(a.Context())
	a.refused(err, "scope", "was read at "+before)

	// A change of the Application that was not synced.
	s.Revision = a.head()
	a.patch("applications.argoproj.io/shop", `{"spec":{"source":{"directory":{"recurse":true}}}}`)
	refused("scope", "was changed since it was synced")
	a.patch("applications.argoproj.io/shop", `{"spec":{"source":{"directory":null}}}`)
	a.putBack(s)

	// A difference that Argo CD ignores.
	a.patch("applications.argoproj.io/shop", `{"spec":{"ignoreDifferences":[{"group":"apps","kind":"Deployment","jsonPointers":["/spec/template/spec/containers/0/image"]}]}}`)
	a.in("set", "image", "deployment/web", "web=evil:1")
	a.seen("Deployment", "Synced")
	s = a.subject(model.Changed, "deployment", "web", deployment)
	s.Revision = a.head()
	refused("declarer", "has it as Synced")
}
