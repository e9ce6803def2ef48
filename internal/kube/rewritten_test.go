package kube_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

const (
	web    = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns%s}, spec: {template: {spec: {containers: [{name: web, image: "web:1"%s}]%s}}}}`
	hook   = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: x}, webhooks: [{name: a.b.c, clientConfig: {service: {name: h, namespace: ns}%s}}]}`
	front  = `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns}, spec: {ports: [{port: 80%s}]%s}}`
	labels = `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: labels}, webhooks: [{name: a.b.c, rules: [{operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]}]}`
)

// TestRewrittenRecord has an edit in the audit log that managedFields lack: its entry
// was dropped, or given another name.
func TestRewrittenRecord(t *testing.T) {
	t.Parallel()
	const (
		controllers = "system:serviceaccount:kube-system:deployment-controller"
		injector    = "system:serviceaccount:cert-manager:cert-manager-cainjector"
	)
	by := func(account string) model.AuditEvent {
		return model.AuditEvent{Action: model.Edited, Writer: "kubectl-patch", Account: account}
	}
	annotated := func(name, manager string, accounts ...string) written {
		return written{declared: fmt.Sprintf(web, "", "", ""), live: fmt.Sprintf(web, ", annotations: {"+name+": v}", "", ""), manager: manager, accounts: accounts,
			fields: `{"f:metadata":{"f:annotations":{"f:` + name + `":{}}}}`}
	}
	dropped := written{declared: fmt.Sprintf(web, "", "", ""), live: fmt.Sprintf(web, "", ", securityContext: {privileged: true}", ", hostNetwork: true"), others: []string{labels}}
	harmless := annotated("example.org/a", "")
	harmless.others = []string{labels}
	bundle := written{declared: fmt.Sprintf(hook, ""), live: fmt.Sprintf(hook, ", caBundle: QQ=="), manager: "cainjector", accounts: []string{injector},
		fields: `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:clientConfig":{"f:caBundle":{}}}}}`}
	named := bundle
	named.accounts = nil
	exposed := written{declared: fmt.Sprintf(front, "", ""), live: fmt.Sprintf(front, "", ", externalIPs: [192.0.2.1]"), manager: "kube-controller-manager",
		fields: `{"f:spec":{"f:externalIPs":{}}}`, accounts: []string{controllers}}
	tests := map[string]struct {
		reason string
		write  written
		edit   model.AuditEvent
		found  string
	}{
		"dropped":                    {"what no owner has is hers", dropped, by("alice"), "undeclared spec.template.spec.containers[name=web].securityContext.privileged, undeclared spec.template.spec.hostNetwork"},
		"dropped, harmless":          {"no field needs an owner", harmless, by("alice"), `undeclared metadata.annotations["example.org/a"]`},
		"by a pipeline":              {"a service account is a writer like a person", dropped, by("system:serviceaccount:ci:x"), "undeclared spec.template.spec.containers[name=web].securityContext.privileged, undeclared spec.template.spec.hostNetwork"},
		"by the control plane":       {"it removes its marks again", dropped, by(controllers), ""},
		"of another field":           {"the log names the field", dropped, model.AuditEvent{Action: model.Edited, Writer: "kubectl-scale", Account: "alice", Fields: []string{"spec.replicas"}}, ""},
		"of the field":               {"the log names the field", harmless, model.AuditEvent{Action: model.Edited, Writer: "x", Account: "alice", Fields: []string{"metadata.annotations"}}, `undeclared metadata.annotations["example.org/a"]`},
		"created":                    {"it is no edit", dropped, model.AuditEvent{Action: model.Created, Writer: "x", Account: "alice"}, ""},
		"an account in the table":    {"it may write the field", bundle, by(injector), ""},
		"renamed":                    {"another account has used the name", bundle, by("alice"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle"},
		"renamed, no account":        {"nobody has used the name", named, by("alice"), "undeclared webhooks[name=a.b.c].clientConfig.caBundle"},
		"in the record":              {"her entry has what she wrote", bundle, model.AuditEvent{Action: model.Edited, Writer: "cainjector", Account: "alice"}, ""},
		"the control plane's":        {"no part of it exposes a Service", exposed, model.AuditEvent{}, "undeclared spec.externalIPs"},
		"renamed to it":              {"no part of it exposes a Service", exposed, by("alice"), "undeclared spec.externalIPs"},
		"its mark":                   {"the table has it", annotated("deployment.kubernetes.io/revision", "kube-controller-manager", controllers), by("alice"), ""},
		"its mark, by name":          {"the table has it", annotated("deployment.kubernetes.io/revision", "kube-controller-manager"), by("alice"), ""},
		"the mark of an account":     {"the table has the account", annotated("cert-manager.io/a", "controller", "system:serviceaccount:cert-manager:cert-manager"), by("alice"), ""},
		"another field of it":        {"the table does not have it", annotated("example.org/a", "kube-controller-manager", controllers), by("alice"), `undeclared metadata.annotations["example.org/a"]`},
		"another field, as recorded": {"any field that is not guarded", annotated("example.org/a", "kube-controller-manager", controllers), model.AuditEvent{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tt.write
			w.edit = tt.edit
			j := w.judge(t)
			if got := found(j); got != tt.found {
				t.Errorf("%s: found %q, want %q", tt.reason, got, tt.found)
			}
			for _, o := range j.Outcomes {
				if tt.edit.Account != "" && o.Actor.Name != tt.edit.Account {
					t.Errorf("%s: by %s, want %s", tt.reason, o.Actor.Name, tt.edit.Account)
				}
			}
		})
	}
}

// TestGuarded writes fields that decide what runs, who may do what and what is
// exposed, under a name that the operator listed without fields.
func TestGuarded(t *testing.T) {
	t.Parallel()
	const (
		config = `{apiVersion: v1, kind: ConfigMap, metadata: {name: aws-auth, namespace: ns}%s}`
		hooks  = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: x}, webhooks: [{name: a.b.c, clientConfig: {service: {name: h, namespace: ns}}%s}]}`
		spec   = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web, image: "web:1"}]%s}}}}`
	)
	hook := func(field string) string {
		return `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:` + field + `":{}}}}`
	}
	pod := func(field string) string { return `{"f:spec":{"f:template":{"f:spec":{"f:` + field + `":{}}}}}` }
	for _, tc := range []struct{ object, live, fields, want string }{
		{config, ", data: {mapUsers: x}", `{"f:data":{"f:mapUsers":{}}}`, "undeclared data.mapUsers"},
		{config, ", binaryData: {a: QQ==}", `{"f:binaryData":{"f:a":{}}}`, "undeclared binaryData.a"},
		{config, ", immutable: true", `{"f:immutable":{}}`, ""},
		{hooks, ", namespaceSelector: {matchLabels: {a: b}}", hook("namespaceSelector"), "undeclared webhooks[name=a.b.c].namespaceSelector.matchLabels.a"},
		{hooks, ", objectSelector: {matchLabels: {a: b}}", hook("objectSelector"), "undeclared webhooks[name=a.b.c].objectSelector.matchLabels.a"},
		{hooks, `, matchConditions: [{name: a, expression: "false"}]`, hook("matchConditions"), "undeclared webhooks[name=a.b.c].matchConditions[name=a]"},
		{hooks, ", failurePolicy: Ignore", hook("failurePolicy"), "undeclared webhooks[name=a.b.c].failurePolicy"},
		{spec, ", dnsPolicy: None", pod("dnsPolicy"), "undeclared spec.template.spec.dnsPolicy"},
		{spec, ", dnsConfig: {nameservers: [192.0.2.66]}", pod("dnsConfig"), "undeclared spec.template.spec.dnsConfig.nameservers"},
		{spec, ", priorityClassName: a", pod("priorityClassName"), ""},
	} {
		w := written{declared: fmt.Sprintf(tc.object, ""), live: fmt.Sprintf(tc.object, tc.live), fields: tc.fields, manager: "ours", entries: []kube.Entry{{Writer: "ours"}}}
		if got := found(w.judge(t)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.live, got, tc.want)
		}
	}
}
