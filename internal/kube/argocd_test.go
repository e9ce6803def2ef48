package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// checks returns the violations of an object as "check path actor", in order.
func checks(r model.Resource) []string {
	lines := []string{}
	for _, v := range r.Violations {
		lines = append(lines, strings.Join(strings.Fields(v.Check+" "+v.Path+" "+v.Actor.Name), " "))
	}
	return lines
}

// application returns an Application. spec and status are in flow style, added to those of one that is in sync.
func application(spec, status, owners string) string {
	return fmt.Sprintf(`{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web, namespace: argocd, managedFields: [%s]},
spec: {project: default, source: {repoURL: 'https://git.example.org/shop', path: web %s}}, status: {%s}}`, owners, spec, status)
}

const (
	automated = `}, syncPolicy: {automated: {prune: true, selfHeal: true}}, x: {y: z`
	manual    = `}, x: {y: z`
	byArgo    = `operationState: {phase: Succeeded, finishedAt: '2026-11-28T10:00:00Z', operation: {initiatedBy: {automated: true}, sync: {revision: aaa}}, syncResult: {revision: aaa}}, sync: {status: Synced, revision: aaa}, health: {status: Healthy}`
	byAlice   = `operationState: {phase: Succeeded, finishedAt: '2026-11-28T10:00:00Z', operation: {initiatedBy: {username: alice}, sync: {revision: aaa}}, syncResult: {revision: aaa}}, sync: {status: Synced, revision: aaa}`
)

func TestApplicationChecks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, object string
		want           []string
	}{
		"In sync":          {"automatic and healthy", application(automated, byArgo, ""), []string{}},
		"Always manual":    {"people sync it", application(manual, byAlice, ""), []string{}},
		"New":              {"no status yet", application(automated, "", ""), []string{}},
		"Automation off":   {"it was on before", application(manual, byArgo, ""), []string{"argocd/auto-sync-off spec.syncPolicy.automated unknown"}},
		"Disabled":         {"enabled is false", application(`}, syncPolicy: {automated: {enabled: false}}, x: {y: z`, byArgo, ""), []string{"argocd/auto-sync-off spec.syncPolicy.automated unknown"}},
		"Self-heal off":    {"selfHeal is false", application(`}, syncPolicy: {automated: {selfHeal: false}}, x: {y: z`, byArgo, ""), []string{"argocd/self-heal-off spec.syncPolicy.automated.selfHeal unknown"}},
		"Manual":           {"a user synced it", application(automated, byAlice, ""), []string{"argocd/manual-sync alice"}},
		"No user":          {"an operation without a user", application(automated, strings.Replace(byAlice, "username: alice", "", 1), ""), []string{"argocd/manual-sync unknown"}},
		"Merged":           {"Argo CD left the field automated of the sync before", application(automated, strings.Replace(byAlice, "username: alice", "automated: true, username: alice", 1)+`, history: [{initiatedBy: {automated: true}}, {initiatedBy: {username: alice}}]`, ""), []string{"argocd/manual-sync alice"}},
		"Merged, no user":  {"an operation without a user", application(automated, byArgo+`, history: [{initiatedBy: {}}]`, ""), []string{"argocd/manual-sync unknown"}},
		"Automatic after":  {"Argo CD left the user of the sync before", application(automated, strings.Replace(byAlice, "username: alice", "automated: true, username: alice", 1)+`, history: [{initiatedBy: {username: alice}}, {initiatedBy: {automated: true}}]`, ""), []string{}},
		"Old history":      {"a version that does not record the user there", application(automated, byArgo+`, history: [{revision: aaa}]`, ""), []string{}},
		"Same source":      {"the request names the source of the Application", application(manual, strings.Replace(byAlice, "sync: {revision: aaa}", "sync: {source: {repoURL: 'https://git.example.org/shop', path: web}}", 1), ""), []string{}},
		"Other source":     {"the request has parameters", application(manual, strings.Replace(byAlice, "sync: {revision: aaa}", "sync: {source: {repoURL: 'https://git.example.org/shop', path: web, helm: {values: x}}}", 1), ""), []string{"argocd/parameter-override alice"}},
		"Other revision":   {"a user synced another revision", application(manual, strings.Replace(byAlice, "{status: Synced, revision: aaa}", "{status: OutOfSync, revision: bbb}", 1), ""), []string{"argocd/not-synced unknown", "argocd/other-revision alice"}},
		"Manifests":        {"a sync of local manifests", application(manual, strings.Replace(byAlice, "sync: {revision: aaa}", "sync: {manifests: ['{}']}", 1), ""), []string{"argocd/parameter-override alice"}},
		"Rollback":         {"the first of two revisions again", application(manual, byAlice+`, history: [{revision: aaa}, {revision: bbb}, {revision: aaa, initiatedBy: {username: bob}}]`, ""), []string{"argocd/rollback bob"}},
		"Redeployed":       {"the last revision again", application(manual, byAlice+`, history: [{revision: bbb}, {revision: aaa}, {revision: aaa}]`, ""), []string{}},
		"Failed":           {"a failed sync", application(automated, strings.Replace(byArgo, "Succeeded", "Failed, message: 'password hunter2'", 1), ""), []string{"argocd/sync-failed unknown"}},
		"Degraded":         {"bad health", application(automated, strings.Replace(byArgo, "Healthy", "Degraded", 1), ""), []string{"argocd/degraded unknown"}},
		"Error":            {"conditions", application(automated, byArgo+`, conditions: [{type: SyncError, message: hunter2}, {type: ComparisonError}, {type: OrphanedResourceWarning}]`, ""), []string{"argocd/error unknown"}},
		"Unknown":          {"Argo CD has not compared it", application(automated, strings.Replace(byArgo, "status: Synced", "status: Unknown", 1), ""), []string{"argocd/not-synced unknown"}},
		"Unknown, error":   {"an error is why it is unknown", application(automated, strings.Replace(byArgo, "status: Synced", "status: Unknown", 1)+`, conditions: [{type: ComparisonError}]`, ""), []string{"argocd/error unknown"}},
		"Ignores spec":     {"a broad rule", application(`}, ignoreDifferences: [{kind: Deployment, jsonPointers: [/spec/replicas]}, {kind: Secret, jsonPointers: [/data]}], x: {y: z`, "", ""), []string{"argocd/ignored-differences spec.ignoreDifferences unknown"}},
		"Ignores managers": {"a rule for a name", application(`}, ignoreDifferences: [{group: '*', kind: '*', managedFieldsManagers: [x]}], x: {y: z`, "", ""), []string{"argocd/ignored-differences spec.ignoreDifferences unknown"}},
		"Ignores a field":  {"a narrow rule", application(`}, ignoreDifferences: [{kind: Deployment, jsonPointers: [/spec/replicas]}], x: {y: z`, "", ""), []string{}},
		"Override": {"another writer set parameters", application(`, helm: {parameters: [{name: a, value: b}]}`, "", `{manager: kubectl, operation: Apply, time: '2026-11-28T09:00:00Z', fieldsV1: {'f:spec': {'f:source': {'f:repoURL': {}, 'f:path': {}}}}},
{manager: argocd-server, operation: Update, time: '2026-11-28T10:00:00Z', fieldsV1: {'f:spec': {'f:source': {'f:helm': {'.': {}, 'f:parameters': {}}}}}}`), []string{"argocd/parameter-override spec.source.helm.parameters argocd-server"}},
		"Declared parameters": {"the writer of the source set them", application(`, helm: {parameters: [{name: a, value: b}]}`, "", `{manager: kubectl, operation: Apply, time: '2026-11-28T09:00:00Z', fieldsV1: {'f:spec': {'f:source': {'f:repoURL': {}, 'f:helm': {'f:parameters': {}}}}}}`), []string{}},
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
			}
		})
	}
}

// TestSkipReconcile checks the annotation that pauses an Application, with its writer.
func TestSkipReconcile(t *testing.T) {
	t.Parallel()
	r := resource(t, `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web, namespace: argocd, annotations: {argocd.argoproj.io/skip-reconcile: "true"},
managedFields: [{manager: kubectl-annotate, operation: Update, time: '2026-11-28T10:00:00Z', fieldsV1: {'f:metadata': {'f:annotations': {'f:argocd.argoproj.io/skip-reconcile': {}}}}}]}, spec: {}}`)
	if diff := cmp.Diff([]string{`argocd/skip-reconcile metadata.annotations["argocd.argoproj.io/skip-reconcile"] kubectl-annotate`}, checks(r)); diff != "" {
		t.Error(diff)
	}
}

// TestInstalls checks the objects in the status of an Application.
func TestInstalls(t *testing.T) {
	t.Parallel()
	r := resource(t, application("", `resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: web}, {version: v1, kind: Namespace, name: shop}, {kind: Bad}]`, ""))
	want := []model.Ref{{Kind: "kubernetes/Deployment.apps", ID: "shop/web"}, {Kind: "kubernetes/Namespace", ID: "shop"}}
	if diff := cmp.Diff(want, r.Installs); diff != "" {
		t.Error(diff)
	}
}
