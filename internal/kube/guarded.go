package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A guard lists fields of a kind that determine which code runs, who has which rights
// and what is exposed. The name of a writer alone never exempts them.
type guard struct {
	fields []string
	// except are fields below these that are not guarded.
	except []string
}

// guardOf returns the guard of a kind. An unknown kind is treated as one that runs
// pods.
func guardOf(name string) guard {
	switch name {
	case "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io":
		return guard{fields: []string{"rules", "aggregationRule"}}
	case "RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return guard{fields: []string{"subjects", "roleRef"}}
	case "ServiceAccount":
		return guard{fields: []string{"automountServiceAccountToken"}}
	case "Secret":
		return guard{fields: []string{"data", "stringData", "type"}}
	case "ConfigMap":
		return guard{fields: []string{"data", "binaryData"}}
	case "Service":
		return guard{fields: []string{"spec.type", "spec.externalIPs", "spec.externalName", "spec.loadBalancerSourceRanges", "spec.ports", "spec.selector"},
			except: []string{"spec.selector.rollouts-pod-template-hash", "spec.ports.nodePort"}}
	case "Ingress.networking.k8s.io", "NetworkPolicy.networking.k8s.io", "HTTPRoute.gateway.networking.k8s.io",
		"Gateway.gateway.networking.k8s.io", "GRPCRoute.gateway.networking.k8s.io", "TLSRoute.gateway.networking.k8s.io",
		"TCPRoute.gateway.networking.k8s.io", "ReferenceGrant.gateway.networking.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io":
		return guard{fields: []string{"spec"}}
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return guard{fields: []string{"webhooks"}, except: []string{"webhooks.clientConfig.caBundle"}}
	case "APIService.apiregistration.k8s.io":
		return guard{fields: []string{"spec"}, except: []string{"spec.caBundle"}}
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return guard{fields: []string{"spec.conversion"}, except: []string{"spec.conversion.webhook.clientConfig.caBundle"}}
	case "PersistentVolume":
		return guard{fields: []string{"spec.hostPath", "spec.local", "spec.nfs", "spec.csi", "spec.iscsi"}}
	case "Namespace":
		return guard{fields: []string{"metadata.labels.pod-security.kubernetes.io/enforce"}}
	}
	template, ok := podTemplate(name)
	if !ok {
		template = "spec.template."
	}
	return podGuard(template + "spec.")
}

// podGuard is the guard of a pod's specification at a path.
func podGuard(spec string) guard {
	var g guard
	for _, name := range []string{"containers", "initContainers", "ephemeralContainers"} {
		g.fields = append(g.fields, spec+name)
		g.except = append(g.except, spec+name+".resources", spec+name+"[*].env[STAKATER_*]")
	}
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC", "hostUsers", "hostAliases", "dnsPolicy", "dnsConfig", "shareProcessNamespace", "securityContext",
		"serviceAccountName", "serviceAccount", "automountServiceAccountToken", "volumes", "imagePullSecrets", "runtimeClassName", "nodeName"} {
		g.fields = append(g.fields, spec+name)
	}
	return g
}

// isGuarded reports whether a field is guarded. A value that only removes rights is
// not.
func isGuarded(f field, live model.Value) bool {
	g := guardOf(f.kind)
	return slices.ContainsFunc(g.fields, f.below) && !slices.ContainsFunc(g.except, f.below) && !restricts(f.plain, live)
}

// restricts reports whether a value in a security context removes rights.
func restricts(path []string, live model.Value) bool {
	if len(path) == 0 || !strings.Contains(path[len(path)-1], "ecurityContext.") {
		return false
	}
	_, name, _ := strings.Cut(path[len(path)-1], "ecurityContext.")
	switch name {
	case "seccompProfile.type":
		return live.Str() == "RuntimeDefault"
	case "capabilities.drop":
		return true
	case "runAsNonRoot", "readOnlyRootFilesystem":
		return live.Text() == "true"
	case "allowPrivilegeEscalation", "privileged":
		return live.Text() == "false"
	}
	return false
}

// injection returns the annotation in a declared object that requests the field, a CA bundle, from
// a controller; "" if there is none.
func injection(f field, declared model.Value) string {
	var marks []string
	switch {
	case slices.ContainsFunc(bundleFields(), f.below):
		marks = []string{"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
			"service.beta.openshift.io/inject-cabundle"}
	case f.kind == "ConfigMap" && f.below("data.service-ca.crt"):
		marks = []string{"service.beta.openshift.io/inject-cabundle"}
	}
	annotations := declared.At("metadata", "annotations")
	for _, mark := range marks {
		if v, ok := annotations.Get(mark); ok && !v.IsEmpty() {
			return mark
		}
	}
	return ""
}

// keyText returns the key of a list element, or the item of a set, in the notation of
// the tables: the first field of the key.
func keyText(text string) string {
	v, err := decode.JSON([]byte(text))
	if err != nil {
		return text
	}
	if fields := v.Fields(); len(fields) > 0 {
		return fields[0].Value.Text()
	}
	return v.Text()
}
