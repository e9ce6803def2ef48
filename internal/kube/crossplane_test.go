package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// provided returns a managed resource of Crossplane. Its annotation, spec, status and managedFields are in flow style.
func provided(annotation, spec, observed, conditions, owners string) string {
	return fmt.Sprintf(`{apiVersion: s3.aws.upbound.io/v1beta1, kind: Bucket, metadata: {name: assets, annotations: {a: b%s}, managedFields: [%s]},
spec: {%s}, status: {atProvider: {%s}, conditions: [%s]}}`, annotation, owners, spec, observed, conditions)
}

func TestCrossplaneChecks(t *testing.T) {
	t.Parallel()
	const ready = `{type: Ready, status: "True"}, {type: Synced, status: "True"}`
	for name, tc := range map[string]struct {
		reason, object string
		want           []string
	}{
		"Healthy":    {"equal", provided("", `forProvider: {region: eu, tags: {a: b}, vpcIdRef: {name: x}, size: 5, empty: ""}`, `region: eu, tags: {a: b, more: c}, size: "5", id: x`, ready, ""), []string{}},
		"Changed":    {"one field", provided("", `forProvider: {region: eu, acl: private}`, `region: eu, acl: public-read`, ready, ""), []string{"crossplane/differs spec.forProvider.acl unknown"}},
		"Nested":     {"a field of a map", provided("", `forProvider: {tags: {a: b}}`, `tags: {a: c}`, ready, ""), []string{"crossplane/differs spec.forProvider.tags.a unknown"}},
		"Dotted":     {"a name with dots", provided("", `forProvider: {tags: {example.org/a: b}}`, `tags: {example.org/a: c}`, ready, ""), []string{`crossplane/differs spec.forProvider.tags["example.org/a"] unknown`}},
		"Two fields": {"no single field", provided("", `forProvider: {a: b, c: d}`, `a: x, c: y`, ready, ""), []string{"crossplane/differs unknown"}},
		"Order":      {"lists in another order", provided("", `forProvider: {ids: [a, b], rules: [{port: 1}, {port: 2}]}`, `ids: [b, a], rules: [{port: "2", id: x}, {port: "1"}]`, ready, ""), []string{}},
		"More items": {"an item that was added", provided("", `forProvider: {ids: [a]}`, `ids: [a, b]`, ready, ""), []string{"crossplane/differs spec.forProvider.ids unknown"}},
		"Document":   {"a policy with other spaces", provided("", `forProvider: {policy: '{"a": 1, "b": 2}'}`, `policy: '{"b":2,"a":1}'`, ready, ""), []string{}},
		"Late": {"a field that a client with the provider's name wrote", provided("", `forProvider: {acl: private}`, `acl: public-read`, ready,
			`{manager: provider, operation: Update, subresource: status, fieldsV1: {'f:status': {}}}, {manager: provider, operation: Update, fieldsV1: {'f:spec': {'f:forProvider': {'f:acl': {}}}}}`), []string{"crossplane/differs spec.forProvider.acl unknown"}},
		"Paused": {"an annotation", provided(`, crossplane.io/paused: "true"`, `forProvider: {}`, "", `{type: Synced, status: "False", reason: ReconcilePaused}`,
			`{manager: kubectl-annotate, operation: Update, time: '2026-11-28T10:00:00Z', fieldsV1: {'f:metadata': {'f:annotations': {'f:crossplane.io/paused': {}}}}}`),
			[]string{`crossplane/paused metadata.annotations["crossplane.io/paused"] kubectl-annotate`}},
		"Observed only": {"policies without Update", provided("", `forProvider: {}, managementPolicies: [Observe, Create]`, "", ready, ""), []string{"crossplane/no-update spec.managementPolicies unknown"}},
		"All policies":  {"the default", provided("", `forProvider: {}, managementPolicies: ['*'], deletionPolicy: Delete`, "", ready, ""), []string{}},
		"Orphan":        {"a deletion policy", provided("", `forProvider: {}, deletionPolicy: Orphan`, "", ready, ""), []string{"crossplane/orphan spec.deletionPolicy unknown"}},
		"Not ready":     {"conditions", provided("", `forProvider: {}`, "", `{type: Ready, status: "False", reason: Creating, message: hunter2}, {type: Synced, status: "False", reason: ReconcileError, message: hunter2}`, ""), []string{"crossplane/not-ready unknown", "crossplane/not-synced unknown"}},
		"Not managed":   {"another kind", `{apiVersion: x.example.org/v1, kind: Thing, metadata: {name: a}, spec: {deletionPolicy: Orphan}}`, []string{}},
		"No status":     {"a template", `{apiVersion: x.example.org/v1, kind: Thing, metadata: {name: a}, spec: {forProvider: {}, deletionPolicy: Orphan}}`, []string{}},
		"Own group":     {"a kind of Kubernetes", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {forProvider: {}, deletionPolicy: Orphan}, status: {atProvider: {}}}`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tc.object)
			if diff := cmp.Diff(tc.want, checks(r)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			for _, v := range r.Violations {
				if v.Severity == "" || v.Reason == "" || strings.Contains(v.Reason, "hunter2") {
					t.Errorf("%s: %+v", tc.reason, v)
				}
				if v.Path == "spec.forProvider.acl" && (v.Value == nil || v.Value.Str() != "private") {
					t.Errorf("%s: value %v", tc.reason, v.Value)
				}
			}
		})
	}
}
