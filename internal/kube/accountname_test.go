package kube_test

import (
	"fmt"
	"testing"
)

// TestAccountName has one of the two fields for the name of a service account.
func TestAccountName(t *testing.T) {
	t.Parallel()
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web, image: "web:1"}]%s}}}}`
	const both = ", serviceAccount: b, serviceAccountName: b"
	for reason, tc := range map[string]struct{ declared, live, want string }{
		"the deprecated field":           {", serviceAccount: b", both, ""},
		"the field":                      {", serviceAccountName: b", both, ""},
		"neither":                        {"", both, "undeclared spec.template.spec.serviceAccountName"},
		"another in the deprecated one":  {", serviceAccount: a", both, "changed spec.template.spec.serviceAccount, changed spec.template.spec.serviceAccountName"},
		"an empty one":                   {`, serviceAccountName: ""`, "", ""},
		"no specification is made of it": {"", "", ""},
	} {
		w := written{declared: fmt.Sprintf(deployment, tc.declared), live: fmt.Sprintf(deployment, tc.live), manager: "my-operator",
			fields: `{"f:spec":{"f:template":{"f:spec":{"f:serviceAccount":{},"f:serviceAccountName":{}}}}}`}
		if got := found(w.judge(t)); got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
	if v := resource(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}}`).Value; !v.At("spec").IsNull() {
		t.Errorf("a specification was made: %s", v)
	}
}
