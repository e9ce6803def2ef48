package kube_test

import (
	"fmt"
	"testing"
)

// TestDerivedDefaults has fields that the API server sets, after an apply that leaves them
// without an owner and in an update, of which the writer owns them. Other values were edited.
func TestDerivedDefaults(t *testing.T) {
	t.Parallel()
	const (
		job        = `{apiVersion: batch/v1, kind: Job, metadata: {name: x, namespace: ns}, spec: {completions: 2%s}}`
		limit      = `{"f:spec":{"f:backoffLimit":{}}}`
		policy     = `{"f:spec":{"f:podReplacementPolicy":{}}}`
		failures   = ", podFailurePolicy: {rules: []}"
		controller = `{apiVersion: v1, kind: ReplicationController, metadata: {name: x, namespace: ns}, spec: {%stemplate: {metadata: {labels: {a: b, c: d}}}}}`
		selector   = `{"f:spec":{"f:selector":{"f:a":{},"f:c":{}}}}`
	)
	for name, tc := range map[string]struct{ declared, live, fields, want string }{
		"the usual limit":            {fmt.Sprintf(job, ""), fmt.Sprintf(job, ", backoffLimit: 6"), limit, ""},
		"another limit":              {fmt.Sprintf(job, ""), fmt.Sprintf(job, ", backoffLimit: 2147483647"), limit, "undeclared spec.backoffLimit"},
		"a limit for each index":     {fmt.Sprintf(job, ", backoffLimitPerIndex: 1"), fmt.Sprintf(job, ", backoffLimitPerIndex: 1, backoffLimit: 2147483647"), limit, ""},
		"a lower limit":              {fmt.Sprintf(job, ", backoffLimitPerIndex: 1"), fmt.Sprintf(job, ", backoffLimitPerIndex: 1, backoffLimit: 6"), limit, "undeclared spec.backoffLimit"},
		"the usual replacement":      {fmt.Sprintf(job, ""), fmt.Sprintf(job, ", podReplacementPolicy: TerminatingOrFailed"), policy, ""},
		"another replacement":        {fmt.Sprintf(job, ""), fmt.Sprintf(job, ", podReplacementPolicy: Failed"), policy, "undeclared spec.podReplacementPolicy"},
		"a replacement after it":     {fmt.Sprintf(job, failures), fmt.Sprintf(job, failures+", podReplacementPolicy: Failed"), policy, ""},
		"a selector":                 {fmt.Sprintf(controller, ""), fmt.Sprintf(controller, "selector: {a: b, c: d}, "), selector, ""},
		"a selector of older labels": {fmt.Sprintf(controller, ""), fmt.Sprintf(controller, "selector: {a: b}, "), selector, ""},
	} {
		for _, w := range []written{{manager: "kubectl-client-side-apply", declarer: "kubectl-client-side-apply"}, {}} {
			w.declared, w.live, w.fields = tc.declared, tc.live, tc.fields
			if j := w.judge(t); found(j) != tc.want || len(j.Exempt) > 0 {
				t.Errorf("%s by %q: %q, exempt %v", name, w.manager, found(j), j.Exempt)
			}
		}
	}
	w := written{manager: "kubectl-edit", declared: fmt.Sprintf(controller, ""), live: fmt.Sprintf(controller, "selector: {a: b, c: d}, "), fields: selector}
	if got, want := found(w.judge(t)), "undeclared spec.selector.a, undeclared spec.selector.c"; got != want {
		t.Errorf("edited: got %q, want %q", got, want)
	}
}
