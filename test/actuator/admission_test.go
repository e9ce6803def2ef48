//go:build e2e

package actuator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// policy applies a policy with its binding, which have a name, for writes to a resource in the namespace.
func (d *desk) policy(kind, name, group, resource, spec, binding string) {
	d.Helper()
	text := fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: %[1]s
metadata: {name: %[2]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[3]s}}
    resourceRules: [{apiGroups: [%[4]q], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [%[5]s]}]
  failurePolicy: Fail
%[6]s
---
apiVersion: admissionregistration.k8s.io/v1
kind: %[1]sBinding
metadata: {name: %[2]s}
spec: {policyName: %[2]s%[7]s}
`, kind, name, d.namespace, group, resource, spec, binding)
	if _, err := d.try(text, "apply", "--filename=-"); err != nil {
		d.Fatal(err)
	}
}

// TestPolicyQuotesSecret checks that the text of a policy which quotes a secret is in no error.
func TestPolicyQuotesSecret(t *testing.T) {
	t.Parallel()
	const manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ntype: Opaque\ndata: {password: ZGVjbGFyZWQtcGFzc3dvcmQ=, user: YXBw}\n"
	for _, reason := range []string{"Forbidden", "Invalid", "RequestEntityTooLarge"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.mustApply(manifest)
			d.in("patch", "secret/db", "--type=merge", `--patch={"stringData":{"password":"hand-made-password"}}`)
			name := "password-" + d.namespace
			d.policy("ValidatingAdmissionPolicy", name, "", "secrets", fmt.Sprintf(`  validations:
    - expression: "object.data.password.startsWith('aGFuZ')"
      reason: %s
      messageExpression: "'the password ' + object.data.password + ' does not follow the policy'"`, reason), ", validationActions: [Deny]")
			s := d.subject(model.Changed, "secret", "db", manifest)
			c := d.plan(s)
			var err error
			d.wait("the policy", func() bool { err = c.Rehearse(t.Context()); return err != nil })
			d.refused(err, "rehearsal", "ValidatingAdmissionPolicy '"+name+"' denied the request")
			_, written := c.Write(t.Context())
			if !isNotWritten(written) || !strings.Contains(written.Error(), name) {
				t.Errorf("Write() = %v", written)
			}
			for _, word := range []string{"declared-password", "ZGVjbGFyZWQ", "follow the policy"} {
				if strings.Contains(err.Error()+written.Error(), word) {
					t.Errorf("%v; %v", err, written)
				}
			}
		})
	}
}

// TestAdmissionOnlyOnWrite checks that the answer of a write shows what a policy does that leaves dry runs alone.
func TestAdmissionOnlyOnWrite(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.drifted()
	d.policy("MutatingAdmissionPolicy", "ride-"+d.namespace, "apps", "deployments", `  matchConditions: [{name: real, expression: "request.dryRun != true && object.spec.template.spec.containers[0].image == 'registry.example.org/web:1'"}]
  reinvocationPolicy: Never
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "add", path: "/spec/template/spec/hostNetwork", value: true}]'`, "")
	d.mustApply(strings.Replace(deployment, "name: web", "name: probe", 1))
	d.wait("the policy", func() bool {
		d.in("set", "image", "deployment/probe", "web=other:1")
		d.in("set", "image", "deployment/probe", "web=registry.example.org/web:1")
		return d.in("get", "deployment", "probe", "--output=jsonpath={.spec.template.spec.hostNetwork}") == "true"
	})
	c := d.plan(s)
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	receipt, err := c.Write(t.Context())
	if err != nil || !strings.Contains(strings.Join(receipt.Unexpected, " "), "spec.template.spec.hostNetwork") {
		t.Errorf("Write() = %+v, %v", receipt, err)
	}
	d.in("delete", "deployment", "web", "--cascade=orphan")
	missing := d.missing(s.Finding.Key, s.Declared)
	d.wait("the creation", func() bool {
		c, err = d.actuator.Plan(t.Context(), missing)
		return err == nil
	})
	if err := c.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	receipt, err = c.Write(t.Context())
	if err != nil || len(receipt.Unexpected) == 0 {
		t.Errorf("Write() of a new object = %+v, %v", receipt, err)
	}
}
