package kube_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestContent checks which changes of objects of Kubernetes change their content in a finding about an installation.
func TestContent(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	policy := kube.NewPolicy(nil)
	of := func(text string) string {
		r, err := kube.NewResource("test", object(t, text), sealer)
		if err != nil {
			t.Fatal(err)
		}
		s := &model.Subject{Key: r.Key, Live: &r, Kind: kinds[r.Kind], UndeclaredBy: [][]string{{"git"}}, InstalledBy: []model.Installer{{Ref: model.Ref{ID: "a"}}}}
		return string(diff.Compare(s, diff.Options{Controller: policy.Controller, Exempt: policy.Exempt})[0].Content.AppendJSON(nil))
	}
	deployment := func(revision, template, cpu, image string) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: web, name: shop, annotations: {deployment.kubernetes.io/revision: '%s'}, managedFields: [
			{manager: flux, operation: Apply, apiVersion: apps/v1, time: '2026-11-28T10:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:template': {'f:spec': {'f:containers': {'k:{"name":"web"}': {'f:image': {}, 'f:name': {}, 'f:resources': {}}}}}}}},
			{manager: kube-controller-manager, operation: Update, apiVersion: apps/v1, time: '2026-11-28T10:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:metadata': {'f:annotations': {'f:deployment.kubernetes.io/revision': {}}}}}]},
			spec: {template: {metadata: {labels: {app: shop}%s}, spec: {containers: [{name: web, image: '%s', resources: {requests: {cpu: '%s'}}}]}}}}`, revision, template, image, cpu)
	}
	webhook := func(manager, bundle, url string) string {
		return fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook, managedFields: [
			{manager: %s, operation: Update, apiVersion: v1, time: '2026-11-28T10:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:webhooks': {'k:{"name":"a.example.org"}': {'f:clientConfig': {'f:caBundle': {}}}}}}]},
			webhooks: [{name: a.example.org, clientConfig: {caBundle: %s, url: '%s'}}]}`, manager, bundle, url)
	}
	const restarted = `, annotations: {kubectl.kubernetes.io/restartedAt: '2026-01-01T00:00:00Z'}`
	first := deployment("1", "", "1000m", "web:1")
	for reason, tc := range map[string]struct {
		before, after string
		same          bool
	}{
		"kubectl rollout restart":   {first, deployment("2", restarted, "1000m", "web:1"), true},
		"the spelling of a number":  {first, deployment("1", "", "1", "web:1"), true},
		"another number":            {first, deployment("1", "", "2", "web:1"), false},
		"another image":             {first, deployment("2", restarted, "1000m", "evil:1"), false},
		"another annotation":        {first, deployment("1", ", annotations: {a: b}", "1000m", "web:1"), false},
		"a bundle of an injector":   {webhook("cainjector", "YQ==", "https://a"), webhook("cainjector", "Yg==", "https://a"), true},
		"a webhook that goes aside": {webhook("cainjector", "YQ==", "https://a"), webhook("cainjector", "YQ==", "https://b"), false},
		"a bundle by an edit":       {webhook("kubectl-edit", "YQ==", "https://a"), webhook("kubectl-edit", "Yg==", "https://a"), false},
	} {
		if a, b := of(tc.before), of(tc.after); (a == b) != tc.same {
			t.Errorf("%s: the same: %t\n%s\n%s", reason, !tc.same, a, b)
		}
	}
}
