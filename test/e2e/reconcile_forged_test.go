//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/store"
)

// TestReconcileForged approves an action in the database while the daemon is stopped, without the key of the audit log:
// the daemon does not carry it out, and puts the log in doubt. A witness that does not answer makes the complete
// verification slow.
func TestReconcileForged(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	done := make(chan struct{})
	witness := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(witness.Close)
	t.Cleanup(func() { close(done) })
	config, err := os.ReadFile(i.path("driftd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	i.write("driftd.yaml", string(config)+"audit: {witness: [{git: "+witness.URL+"/audit.git}]}\n")
	d := i.serve()
	d.awaitFindings()
	i.kubectl("set", "image", "deployment/web", "web=web:evil")
	a := d.awaitAction(reconcile.Proposed)
	if code := d.stop(); code != 0 {
		t.Fatalf("the daemon exited with %d", code)
	}
	st, err := store.Open(i.path("state"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.Announcing(nil).ChangeAction(a.ID, func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.Approvals = append(a.Approvals, reconcile.Approval{By: "alice", Via: "api", At: time.Now(), Digest: a.Digest})
		a.Enter(reconcile.Approved, time.Now(), "")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	d = i.serve()
	after := d.awaitEnd(a.ID)
	if after.State != reconcile.Refused || after.Guard != "quarantine" || !strings.Contains(after.Outcome, "action "+a.ID+" was edited") {
		t.Errorf("the action is %s by guard %q: %s", after.State, after.Guard, after.Outcome)
	}
	if got := i.image(); got != "web:evil" {
		t.Errorf("the image is %s", got)
	}
}
