//go:build e2e

package e2e

import (
	"encoding/base64"
	"os/exec"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// The value of a Secret is put back, and is in no answer, log or file of the daemon.
func TestReconcileSecret(t *testing.T) {
	t.Parallel()
	i := installActing(t, "approve", nil)
	user := "writer-" + i.namespace
	i.kubectl("create", "clusterrole", user+"-secrets", "--verb=get,patch", "--resource=secrets")
	i.kubectl("create", "clusterrolebinding", user+"-secrets", "--clusterrole="+user+"-secrets", "--user="+user)
	t.Cleanup(func() {
		i.kubectl("delete", "clusterrole/"+user+"-secrets", "clusterrolebinding/"+user+"-secrets")
	})
	declared, byHand := "declared-"+i.namespace, "by-hand-"+i.namespace
	i.write("deploy/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: "+i.namespace+"}\ntype: Opaque\nstringData: {password: "+declared+"}\n")
	i.commit()
	i.pipeline()
	d := i.serve()
	d.awaitFindings()
	i.kubectl("patch", "secret/db", "-p", `{"stringData":{"password":"`+byHand+`"}}`)
	a := d.awaitAction(reconcile.Proposed)
	if after := d.approve("alice", &a); after.State != reconcile.Converged {
		t.Fatalf("it is %s: %s", after.State, after.Outcome)
	}
	out, err := exec.Command(cluster.Kubectl(), "--kubeconfig", i.path("kubeconfig"), "get", "secret/db", "-o", "jsonpath={.data.password}").CombinedOutput()
	if err != nil || string(out) != base64.StdEncoding.EncodeToString([]byte(declared)) {
		t.Errorf("the password is %s, %v", out, err)
	}
	d.awaitFindings()
	i.pipeline()
	d.awaitFindings()
	body, err := d.get("/api/v1/actions")
	if err != nil {
		t.Fatal(err)
	}
	d.stop()
	texts := body + d.log.String()
	err = eachFile(i.path("state"), func(_ string, content []byte) error {
		texts += string(content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{declared, byHand, base64.StdEncoding.EncodeToString([]byte(declared)), base64.StdEncoding.EncodeToString([]byte(byHand))} {
		if strings.Contains(texts, value) {
			t.Errorf("the state, the log or an answer has %s", value)
		}
	}
}
