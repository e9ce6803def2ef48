//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestWhoByHand has an author in git, who must not be named for manual changes of others, and
// several other users, each with changes of their own.
func TestWhoByHand(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	i := installAudited(t, freeAddress(t), "Metadata", "audit_log: "+log, "--audit-log-path="+log)
	object := func(name, color string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {color: %s, size: large}\n", name, i.namespace, color)
	}
	for _, name := range []string{"argued", "applied", "shared", "gone"} {
		i.write("deploy/"+name+".yaml", object(name, "blue"))
	}
	if err := os.Mkdir(i.path("other"), 0o700); err != nil {
		t.Fatal(err)
	}
	i.write("other/argued.yaml", object("argued", "red"))
	i.commit("gita")
	i.nextSecond()
	i.as("alice", "apply", "-f", i.path("deploy"))
	i.nextSecond()
	i.as("bob", "patch", "configmap/argued", "--type=merge", "-p", `{"data":{"color":"violet"}}`)
	i.as("bob", "patch", "configmap/shared", "--type=merge", "-p", `{"data":{"size":null}}`)
	i.nextSecond()
	i.as("alice", "patch", "configmap/shared", "--type=merge", "-p", `{"data":{"color":"green"}}`)
	i.as("bob", "delete", "configmap/gone")
	i.write("byhand.yaml", object("applied", "local"))
	i.as("bob", "apply", "-f", i.path("byhand.yaml"))
	other := "\n  - {name: other, type: manifests, governs: [test], settings: {dir: other}}\n"
	i.write("driftd.yaml", i.config(other[1:]))
	i.wantActors(map[string]string{
		"argued data.color":  "kubectl-patch likely managedFields",
		"applied data.color": "kubectl-client-side-apply likely managedFields; pending or bypassed: a plain folder keeps no history",
		"shared data.color":  "kubectl-patch likely managedFields",
		"shared data.size":   "kubectl-patch likely managedFields",
		"gone":               "unknown unknown managedFields do not record deletions; to find their users, set audit_log",
	})
	i.write("driftd.yaml", strings.Replace(i.config(other[1:]), "timeout: 5s", "timeout: 5s, audit_log: "+log, 1))
	i.wantActors(map[string]string{
		"argued data.color":  "bob exact audit log",
		"applied data.color": "bob likely audit log; pending or bypassed: a plain folder keeps no history",
		"shared data.color":  "alice likely audit log",
		"shared data.size":   "unknown unknown managedFields keeps no trace of who removed a field, and several wrote since the last apply: alice, bob",
		"gone":               "bob exact audit log",
	})
}

// commit makes the installation's folder a git work tree, and commits all of it as an author.
func (i auditedInstallation) commit(author string) {
	i.t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "deploy"}, {"commit", "-q", "-m", "blue it is"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=" + author, "-c", "user.email=x@example.org"}, args...)...)
		cmd.Dir = i.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			i.t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// nextSecond waits for the next second: the times of managedFields and commits are in seconds.
func (i auditedInstallation) nextSecond() {
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}

// wantActors scans with an empty state, and checks the actor of each finding, or the next step
// of an unknown one.
func (i auditedInstallation) wantActors(want map[string]string) {
	i.t.Helper()
	if err := os.RemoveAll(i.path("state")); err != nil {
		i.t.Fatal(err)
	}
	report, err := i.scan()
	if err != nil {
		i.t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range report.Findings {
		for _, c := range append(f.Changes, model.Change{})[:max(1, len(f.Changes))] {
			actor := f.Actor
			if c.Actor != nil {
				actor = *c.Actor
			}
			said := fmt.Sprint(actor.Name, " ", actor.Confidence, " ", actor.Via+actor.Reason)
			if f.Verdict == model.Pending && f.Reason != "" {
				said += "; " + f.Reason
			}
			got[strings.TrimSpace(f.Name+" "+c.Path)] = said
		}
	}
	for what, said := range want {
		if !strings.HasPrefix(got[what], said) {
			i.t.Errorf("%s: %q, want %q", what, got[what], said)
		}
	}
	if len(got) != len(want) {
		i.t.Errorf("%d actors, want %d: %v", len(got), len(want), got)
	}
}

// TestWhoPastTheChangelog has a script that changes objects of Terraform without a row in
// NetBox's changelog: Terraform's account must not be named.
func TestWhoPastTheChangelog(t *testing.T) {
	t.Parallel()
	cli := oneCLI(t)
	d := appliedDesk(t, cli, "4.6.8")
	silent := d.serve(withoutEntries(d.netbox, "script"), (*httptest.Server).Start)
	d.write("driftd.yaml", fmt.Sprintf(netboxConfig, silent.URL))
	d.by("svc-terraform", "PATCH", d.at(machines, "app-01"), map[string]any{"comments": "made twice"})
	d.by("svc-terraform", "PATCH", d.at(machines, "app-01"), map[string]any{"comments": "made by Terraform"})
	d.expect("Terraform left it as it is declared")
	d.by("script", "PATCH", d.at(machines, "app-01"), map[string]any{"comments": "edited"})
	d.by("mara", "PATCH", d.at(machines, "app-02"), map[string]any{"comments": "by mara"})
	d.by("script", "PATCH", d.at(machines, "app-02"), map[string]any{"vcpus": 3})
	mara := d.netbox.LastChange() - 1
	d.by("script", "DELETE", d.at("extras/tags", "web"), nil)
	report := d.expect("a script edited it",
		`changed netbox_virtual_machine.vm["app-01"]: comments "made by Terraform" -> "edited"`,
		`changed netbox_virtual_machine.vm["app-02"]: comments "made by Terraform" -> "by mara" by mara (object-change `+strconv.Itoa(mara)+`)`,
		`changed netbox_virtual_machine.vm["app-02"]: vcpus 2.5 -> 3`,
		`missing netbox_tag.web`)
	for _, f := range report.Findings {
		if f.Actor.Confidence == model.Unknown && !strings.Contains(f.Actor.Reason, "(object-changes) has no entry for this change") {
			t.Errorf("%s: it does not say why nobody is known: %+v", f.Address, f.Actor)
		}
	}
}

// withoutEntries serves the responses of another handler without the rows of a user in the
// changelog.
func withoutEntries(next http.Handler, user string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/object-changes/") {
			next.ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, r)
		var page map[string]json.RawMessage
		var rows []map[string]any
		err := json.Unmarshal(recorder.Body.Bytes(), &page)
		if err == nil {
			err = json.Unmarshal(page["results"], &rows)
		}
		rows = slices.DeleteFunc(rows, func(row map[string]any) bool { return row["user_name"] == user })
		body := recorder.Body.Bytes()
		if kept, broken := json.Marshal(rows); err == nil && broken == nil {
			page["results"] = kept
			body, err = json.Marshal(page)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("API-Version", recorder.Header().Get("API-Version"))
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(body) // the client may have disconnected
	})
}
