package kubernetes

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/kubernetes/audit"
	"github.com/driftd/driftd/internal/model"
)

// auditEvent returns the event of a successful request, as the API server logs it.
func auditEvent(id, user, verb, manager string, code int, object string, at time.Time) string {
	return fmt.Sprintf(`{"auditID":%q,"stage":"ResponseComplete","requestURI":"/x?fieldManager=%s","verb":%q,"user":{"username":%q},"userAgent":"kubectl/v1.36.3",`+
		`"objectRef":%s,"responseStatus":{"code":%d},"requestReceivedTimestamp":%[7]q,"stageTimestamp":%[7]q}`,
		id, manager, verb, user, object, code, at.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

func inShop(group, resource, name string) string {
	return fmt.Sprintf(`{"resource":%q,"namespace":"shop","name":%q,"apiGroup":%q}`, resource, name, group)
}

// edit changes the replicas of a Deployment, by kubectl edit at a time.
func (f *fake) edit(name string, replicas int, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.store("deployments", "shop/"+name, fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop","resourceVersion":"%d","creationTimestamp":%q,`+
		`"managedFields":[{"manager":"kubectl-edit","operation":"Update","time":%q,"fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":%d}}`,
		name, f.version, at.Add(-time.Hour).UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), replicas))
}

// users returns the owners of an object with their users.
func users(s model.Snapshot, kind, id string) string {
	var names []string
	for _, r := range s.Resources {
		if r.Kind != kind || r.ID != id {
			continue
		}
		for _, o := range r.Owners {
			names = append(names, o.Name+" "+o.User)
		}
	}
	return strings.Join(names, ", ")
}

// auditEvents returns the audit events of a snapshot, one line each.
func auditEvents(s model.Snapshot) []string {
	var all []string
	for _, t := range s.AuditEvents {
		action := map[model.Action]string{model.Edited: "edited", model.Created: "created", model.Deleted: "deleted"}[t.Action]
		all = append(all, fmt.Sprint(strings.TrimPrefix(t.Kind, Type+"/"), " ", t.ID, " ", action, " by ", t.Actor.Name))
	}
	return all
}

func TestCollectReadsTheAuditLog(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := newFake()
	f.edit("web", 9, noon)
	lines := []string{
		auditEvent("1", "alice", "patch", "kubectl-edit", 200, inShop("apps", "deployments", "web"), noon),
		auditEvent("2", "bob", "delete", "", 200, inShop("apps", "deployments", "gone"), noon),
		auditEvent("3", "carol", "delete", "", 200, `{"resource":"namespaces","namespace":"old","name":"old"}`, noon),
		auditEvent("4", "dave", "delete", "", 200, `{"resource":"nodes","name":"n9"}`, noon),
		auditEvent("5", "eve", "delete", "", 200, inShop("unknown.example.org", "things", "gone"), noon),
		auditEvent("6", "eve", "delete", "", 200, `{"resource":"deployments","name":"nowhere","apiGroup":"apps"}`, noon),
		auditEvent("7", "bob", "delete", "", 200, inShop("apps", "deployments", "gone"), noon.Add(-48*time.Hour)),
		auditEvent("8", "mallory", "patch", "kubectl-edit", 403, inShop("apps", "deployments", "web"), noon),
	}
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newTestCluster(t, f, func(c *Config) { c.AuditLog = path })
	c.now = func() time.Time { return noon.Add(time.Minute) }
	s, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkWriterUnknown(t, s, "the audit log has no event of the deletion", "24h0m0s ago (audit_since)")
	if got := users(s, deployment, "shop/web"); got != "kubectl-edit alice" {
		t.Errorf("owners of shop/web: %s", got)
	}
	want := []string{
		"Deployment.apps shop/gone deleted by bob", "Deployment.apps shop/web edited by alice", "Namespace old deleted by carol", "Node n9 deleted by dave",
	}
	if diff := cmp.Diff(want, auditEvents(s)); diff != "" {
		t.Errorf("audit events (-want +got):\n%s", diff)
	}
	again, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.AuditEvents, again.AuditEvents); diff != "" {
		t.Errorf("audit events of a second scan (-first +second):\n%s", diff)
	}
}

// checkWriterUnknown checks that the WriterUnknown of Deployment contains the words.
func checkWriterUnknown(t *testing.T, s model.Snapshot, words ...string) {
	t.Helper()
	for _, word := range words {
		if got := s.Kinds[deployment].WriterUnknown; !strings.Contains(got, word) {
			t.Errorf("WriterUnknown %q lacks %q", got, word)
		}
	}
}

func TestNoAuditLog(t *testing.T) {
	t.Parallel()
	s, err := newTestCluster(t, newFake(), nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkWriterUnknown(t, s, "managedFields do not record deletions", "set audit_log or audit_webhook")
	hooked := newTestCluster(t, newFake(), func(c *Config) { c.AuditWebhook = &AuditWebhook{TokenFile: "token"} })
	if s, err = hooked.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWriterUnknown(t, s, "the audit webhook sent no event of the deletion", "before driftd was started")
}

// TestCollectWithoutAuditLogFile checks that a missing audit log only costs the names of
// users.
func TestCollectWithoutAuditLogFile(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, newFake(), func(c *Config) { c.AuditLog = filepath.Join(t.TempDir(), "audit.log") })
	s, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkWriterUnknown(t, s, "the audit log could not be read: open audit log: ", "no such file")
	for scope, reason := range coverage(s) {
		if strings.Contains(reason, "audit") {
			t.Errorf("coverage of %q: %s", scope, reason)
		}
	}
}

// TestWatchWithAuditWebhook edits an object while the watch runs. The audit event arrives
// after the snapshot with the change: the next snapshot has the user.
func TestWatchWithAuditWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("hunter2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newTestCluster(t, f, func(c *Config) { c.AuditWebhook = &AuditWebhook{TokenFile: token} })
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := watchCluster(t, f, c)
		edited := time.Now()
		f.edit("web", 9, edited)
		if got := users(w.last(time.Second), deployment, "shop/web"); got != "kubectl-edit " {
			t.Errorf("before the event: %s", got)
		}
		sendEvents(t, c, http.StatusOK, "hunter2", auditEvent("1", "alice", "patch", "kubectl-edit", 200, inShop("apps", "deployments", "web"), edited))
		sendEvents(t, c, http.StatusUnauthorized, "hunter3", auditEvent("2", "mallory", "delete", "", 200, inShop("apps", "deployments", "db"), edited))
		if snapshots := w.after(time.Minute); len(snapshots) > 0 {
			t.Error("an audit event alone causes a snapshot")
		}
		f.remove("deployments", "shop/db")
		sendEvents(t, c, http.StatusOK, "hunter2", auditEvent("3", "bob", "delete", "", 200, inShop("apps", "deployments", "db"), time.Now()))
		s := w.last(time.Second)
		if got := users(s, deployment, "shop/web"); got != "kubectl-edit alice" {
			t.Errorf("after the event: %s", got)
		}
		if diff := cmp.Diff([]string{"Deployment.apps shop/db deleted by bob", "Deployment.apps shop/web edited by alice"}, auditEvents(s)); diff != "" {
			t.Errorf("audit events (-want +got):\n%s", diff)
		}
		// Reported snapshots must not change.
		if got := users(w.snapshots[0], deployment, "shop/web"); got != "kubectl-edit " {
			t.Errorf("an earlier snapshot was changed: %s", got)
		}
	})
}

// last waits and returns the last snapshot of that time.
func (w *watched) last(d time.Duration) model.Snapshot {
	w.t.Helper()
	snapshots := w.after(d)
	if len(snapshots) == 0 {
		w.t.Fatal("no snapshot was reported")
	}
	return snapshots[len(snapshots)-1]
}

// sendEvents sends audit events to the webhook.
func sendEvents(t *testing.T, c *cluster, code int, token string, events ...string) {
	t.Helper()
	body := strings.NewReader(`{"kind":"EventList","items":[` + strings.Join(events, ",") + `]}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/audit/prod", body)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	c.Hook().ServeHTTP(w, r)
	if w.Code != code {
		t.Errorf("event with token %s: %d %s, want %d", token, w.Code, w.Body, code)
	}
}

// TestCreatorOfOwnedObjects checks that an object with an owner reference has no makers if
// the audit log shows that a person created it.
func TestCreatorOfOwnedObjects(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for user, want := range map[string]int{
		"system:serviceaccount:gadgets:operator": 1,
		"mallory":                                0,
		"system:kube-controller-manager":         1,
		"system:admin":                           0,
		"system:serviceaccount:gadgets:operator (by admin)": 0,
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.mu.Lock()
			f.kinds = append(f.kinds, fakeKind{"new.example.org", "v1", "gadgets", "Gadget", false, readable})
			f.store("gadgets", "shop/g", `{"metadata":{"name":"g","namespace":"shop","uid":"1","resourceVersion":"1"}}`)
			f.store("deployments", "shop/web", `{"metadata":{"name":"web","namespace":"shop","resourceVersion":"2","creationTimestamp":"2026-03-01T12:00:00Z",`+
				`"ownerReferences":[{"apiVersion":"new.example.org/v1","kind":"Gadget","name":"g","uid":"1"}]}}`)
			f.mu.Unlock()
			path := filepath.Join(t.TempDir(), "audit.log")
			line := auditEvent("1", user, "create", "gadget-operator", 201, inShop("apps", "deployments", "web"), noon)
			if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := newTestCluster(t, f, func(c *Config) { c.AuditLog = path })
			c.now = func() time.Time { return noon.Add(time.Minute) }
			s, err := c.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.Resources {
				if r.ID == "shop/web" && r.Kind == "kubernetes/Deployment.apps" && len(r.Makers) != want {
					t.Errorf("makers = %v", r.Makers)
				}
			}
		})
	}
}

func TestHook(t *testing.T) {
	t.Parallel()
	var _ collectors.Listener = newTestCluster(t, newFake(), nil)
	for reason, change := range map[string]func(*Config){
		"no settings":    nil,
		"audit log file": func(c *Config) { c.AuditLog = "audit.log" },
	} {
		if newTestCluster(t, newFake(), change).Hook() != nil {
			t.Errorf("%s: Hook() is not nil", reason)
		}
	}
}

// TestAuditSkipsNoisyKinds checks that writes to kinds that are excluded by default are only
// kept if the settings include the kinds.
func TestAuditSkipsNoisyKinds(t *testing.T) {
	t.Parallel()
	noisy := []audit.Resource{
		{Name: "events"}, {Group: "events.k8s.io", Name: "events"}, {Group: "coordination.k8s.io", Name: "leases"},
	}
	byDefault := newTestCluster(t, newFake(), func(c *Config) { c.AuditLog = "audit.log" }).audit.Wanted
	all := newTestCluster(t, newFake(), func(c *Config) { c.AuditLog, c.ExcludeKinds = "audit.log", []string{} }).audit.Wanted
	if i := slices.IndexFunc(noisy, byDefault); i >= 0 {
		t.Errorf("writes to %v are kept", noisy[i])
	}
	read := []audit.Resource{{Name: "pods"}, {Name: "endpoints"}, {Group: "discovery.k8s.io", Name: "endpointslices"}}
	if i := slices.IndexFunc(read, func(r audit.Resource) bool { return !byDefault(r) }); i >= 0 {
		t.Errorf("writes to %v are not kept", read[i])
	}
	for _, r := range append(noisy, read...) {
		if !all(r) {
			t.Errorf("writes to %v are not kept without excluded kinds", r)
		}
	}
	if !byDefault(audit.Resource{Group: "example.org", Name: "events"}) {
		t.Error("writes to events of another API group are not kept")
	}
}

// TestUsersOfCutLogs has mallory and then alice patch a Deployment with the same tool, so that its
// entry in managedFields has the fields of both and the time of alice. Alice is certain only if the
// log shows that no other user wrote before.
func TestUsersOfCutLogs(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	web := inShop("apps", "deployments", "web")
	before := auditEvent("0", "bob", "delete", "", 200, inShop("apps", "deployments", "gone"), noon.Add(-2*time.Hour))
	creation := auditEvent("1", "bob", "create", "kubectl-create", 201, web, noon.Add(-time.Hour))
	mallory := auditEvent("2", "mallory", "patch", "kubectl-edit", 200, web, noon.Add(-time.Minute))
	alice := auditEvent("3", "alice", "patch", "kubectl-edit", 200, web, noon)
	others := auditEvent("4", "bob", "patch", "kubectl-edit", 200, inShop("apps", "deployments", "db"), noon.Add(-30*time.Second))
	tests := map[string]struct {
		reason string
		lines  []string
		keep   time.Duration
		want   string
	}{
		"whole log":         {"mallory wrote before", []string{before, creation, mallory, alice}, 24 * time.Hour, "alice likely: audit 3, kubectl-edit, used before by mallory"},
		"only alice":        {"nobody else wrote", []string{before, alice}, 24 * time.Hour, "alice exact: audit 3, kubectl-edit"},
		"creation":          {"the log begins with the object", []string{creation, alice}, 24 * time.Hour, "alice exact: audit 3, kubectl-edit"},
		"cut after mallory": {"the log was rotated", []string{alice}, 24 * time.Hour, "alice likely: audit 3, kubectl-edit, which others may have used before the log begins"},
		"other objects":     {"the log was rotated", []string{others, alice}, 24 * time.Hour, "alice likely: audit 3, kubectl-edit, which others may have used before the log begins"},
		"kept briefly":      {"audit_since drops mallory's write", []string{before, creation, mallory, alice}, 90 * time.Second, "alice likely: audit 3, kubectl-edit, which others may have used before the log begins"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.edit("web", 9, noon)
			path := filepath.Join(t.TempDir(), "audit.log")
			if err := os.WriteFile(path, []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := newTestCluster(t, f, func(c *Config) { c.AuditLog, c.AuditSince = path, tt.keep })
			c.now = func() time.Time { return noon.Add(time.Minute) }
			s, err := c.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == deployment && r.ID == "shop/web" })
			who, _ := s.Resources[i].Owners[0].LoggedUser()
			if got := fmt.Sprint(who.Name, " ", who.Confidence, ": ", who.Evidence); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}
