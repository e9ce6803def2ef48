package kube_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestChangedIngressClass has a client change the class of an Ingress under the name of the tool that applies it.
func TestChangedIngressClass(t *testing.T) {
	t.Parallel()
	const ingress = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x, namespace: ns, generation: %d}, spec: {%sdefaultBackend: {service: {name: web, port: {number: 80}}}}}`
	class := func(name, isDefault string) string {
		return `!{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: ` + name + `, annotations: {ingressclass.kubernetes.io/is-default-class: "` + isDefault + `"}}}`
	}
	for reason, tc := range map[string]struct {
		generation      int
		declared, owned string
		classes         []string
		want            string
	}{
		"another class":                {2, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("internal", "true"), class("public", "false")}, "undeclared spec.ingressClassName"},
		"no class is the default":      {2, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("public", "false")}, "undeclared spec.ingressClassName"},
		"without an owner":             {2, "", `{"f:spec":{}}`, []string{class("internal", "true")}, "undeclared spec.ingressClassName"},
		"the default class":            {2, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("public", "true")}, ""},
		"one of two defaults":          {2, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("internal", "true"), class("public", "true")}, ""},
		"as it was when it was made":   {1, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("internal", "true")}, ""},
		"an unknown generation":        {0, "", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("internal", "true")}, ""},
		"declared":                     {2, "ingressClassName: public, ", `{"f:spec":{"f:ingressClassName":{}}}`, []string{class("internal", "true")}, ""},
		"the default without an owner": {2, "", `{"f:spec":{}}`, []string{class("public", "true")}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := written{declared: fmt.Sprintf(ingress, tc.generation, tc.declared), live: fmt.Sprintf(ingress, tc.generation, "ingressClassName: public, "), others: tc.classes,
				declarer: "kubectl-client-side-apply", manager: "kubectl-client-side-apply", fields: tc.owned}
			if got := found(w.judge(t)); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestUnreadIngressClasses checks that no class is taken for another one than the default if the classes were not read.
func TestUnreadIngressClasses(t *testing.T) {
	t.Parallel()
	for read, want := range map[bool]int{true: 1, false: 0} {
		all := []model.Resource{resource(t, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x, namespace: ns, generation: 2}, spec: {ingressClassName: public}}`)}
		kube.Relate(all, func(kind, _ string) bool { return read || kind != "kubernetes/IngressClass.networking.k8s.io" })
		if got := all[0].NotDerived; len(got) != want {
			t.Errorf("classes read %t: not derived %q", read, got)
		}
	}
}

// TestIngressClass has admission choose the default class, which leaves no owner.
func TestIngressClass(t *testing.T) {
	t.Parallel()
	const ingress = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x, namespace: ns}, spec: {%sdefaultBackend: {service: {name: web, port: {number: 80}}}}}`
	w := written{declared: fmt.Sprintf(ingress, ""), live: fmt.Sprintf(ingress, "ingressClassName: nginx, ")}
	if got := found(w.judge(t)); got != "" {
		t.Errorf("the default class: %q", got)
	}
	w.manager, w.fields = "my-operator", `{"f:spec":{"f:ingressClassName":{}}}`
	if got := found(w.judge(t)); got != "undeclared spec.ingressClassName" {
		t.Errorf("a class that somebody set: %q", got)
	}
}
