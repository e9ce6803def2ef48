package kube

import (
	"path"

	"github.com/driftd/driftd/internal/model"
)

// automatic says why nobody is expected to declare an object, or "".
func automatic(kind string, id identity, object model.Value) string {
	metadata := object.At("metadata")
	if refs := metadata.At("ownerReferences").Items(); len(refs) > 0 {
		return "owned by " + refs[0].At("kind").Str() + " " + refs[0].At("name").Str()
	}
	if _, ok := metadata.At("labels").Get("kubernetes.io/bootstrapping"); ok {
		return "made by the API server"
	}
	for _, mark := range annotationMarks {
		if _, ok := metadata.At("annotations").Get(mark.name); ok {
			return mark.reason
		}
	}
	if kind == secretKind {
		return automaticSecret(object)
	}
	for _, rule := range automaticObjects {
		if rule.kind == kind && (rule.namespace == "" || rule.namespace == id.namespace) && matchesName(rule.name, id.name) {
			return rule.reason
		}
	}
	return ""
}

// matchesName compares with a name in which "*" stands for any characters.
func matchesName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func automaticSecret(object model.Value) string {
	switch object.At("type").Str() {
	case "kubernetes.io/service-account-token":
		return "made for a service account"
	case "helm.sh/release.v1":
		return "Helm's own record of a release"
	case "bootstrap.kubernetes.io/token":
		return "a bootstrap token"
	}
	return ""
}

var annotationMarks = []struct{ name, reason string }{
	{"control-plane.alpha.kubernetes.io/leader", "a leader election record"},
	{"kubernetes.io/config.mirror", "the mirror of a static pod"},
	{"cert-manager.io/certificate-name", "issued by cert-manager"},
	{"rbac.authorization.kubernetes.io/autoupdate", "made by the API server"},
	{"kubernetes.io/service-account.uid", "made for a service account"},
}

// automaticObjects lists what clusters and their common add-ons make by
// themselves without an owner reference.
var automaticObjects = []struct{ kind, namespace, name, reason string }{
	{"kubernetes/ConfigMap", "", "kube-root-ca.crt", "made in every namespace"},
	{"kubernetes/ConfigMap", "", "istio-ca-root-cert", "made in every namespace by Istio"},
	{"kubernetes/ConfigMap", "", "openshift-service-ca.crt", "made in every namespace by OpenShift"},
	{"kubernetes/ServiceAccount", "", "default", "made in every namespace"},
	{"kubernetes/ServiceAccount", "", "builder", "made in every namespace by OpenShift"},
	{"kubernetes/ServiceAccount", "", "deployer", "made in every namespace by OpenShift"},
	{"kubernetes/ServiceAccount", "kube-system", "*-controller", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "generic-garbage-collector", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "horizontal-pod-autoscaler", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "persistent-volume-binder", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "pod-garbage-collector", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "root-ca-cert-publisher", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "legacy-service-account-token-cleaner", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "bootstrap-signer", "the account of a controller"},
	{"kubernetes/ServiceAccount", "kube-system", "token-cleaner", "the account of a controller"},
	{"kubernetes/RoleBinding.rbac.authorization.k8s.io", "", "system:*", "made by the cluster"},
	{"kubernetes/Role.rbac.authorization.k8s.io", "", "system:*", "made by the cluster"},
	{"kubernetes/RoleBinding.rbac.authorization.k8s.io", "", "kubeadm:*", "made by kubeadm"},
	{"kubernetes/Role.rbac.authorization.k8s.io", "", "kubeadm:*", "made by kubeadm"},
	{"kubernetes/Service", "default", "kubernetes", "the API server's own service"},
	{"kubernetes/Endpoints", "", "*", "made for a service"},
	{"kubernetes/EndpointSlice.discovery.k8s.io", "", "*", "made for a service"},
	{"kubernetes/Event", "", "*", "an event"},
	{"kubernetes/Event.events.k8s.io", "", "*", "an event"},
	{"kubernetes/Lease.coordination.k8s.io", "", "*", "a lease"},
	{"kubernetes/ControllerRevision.apps", "", "*", "a revision of a controller"},
	{"kubernetes/PodMetrics.metrics.k8s.io", "", "*", "a measurement"},
	{"kubernetes/VerticalPodAutoscalerCheckpoint.autoscaling.k8s.io", "", "*", "a record of the autoscaler"},
	{"kubernetes/PolicyReport.wgpolicyk8s.io", "", "*", "a report"},
	{"kubernetes/ConfigMap", "kube-system", "extension-apiserver-authentication", "made by the API server"},
	{"kubernetes/ConfigMap", "kube-system", "kube-apiserver-legacy-service-account-token-tracking", "made by the API server"},
	{"kubernetes/ConfigMap", "kube-system", "kubeadm-config", "made by kubeadm"},
	{"kubernetes/ConfigMap", "kube-system", "kubelet-config", "made by kubeadm"},
	{"kubernetes/ConfigMap", "kube-public", "cluster-info", "made by kubeadm"},
}
