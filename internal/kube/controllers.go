package kube

import (
	"path"
	"slices"
)

// KnownControllers returns the field managers that are known to set fields
// beside what is declared: control planes, autoscalers, injectors, delivery
// tools. A "*" stands for any run of characters.
func KnownControllers() []string {
	return []string{
		"kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "cloud-controller-manager",
		"clusterrole-aggregation-controller", "kubectl-last-applied", "before-first-apply",
		"*-controller", "*-controller-manager", "*-operator", "*-webhook", "*-injector",
		"argocd", "argocd-*", "flux", "flux-*", "helm", "gotk-*",
		"cert-manager*", "cainjector", "istio*", "pilot-*", "linkerd*", "vault-*", "consul-*",
		"keda*", "vpa-*", "cluster-autoscaler", "karpenter", "external-dns", "external-secrets*",
		"kyverno*", "gatekeeper*", "cilium*", "calico*", "csi-*", "snapshot-*", "velero*", "rancher", "fleet*",
		"cattle-*", "openshift-*", "olm", "catalog", "glbc", "gke-*", "eks", "eks-*", "aks-*", "Reloader",
		"cluster-proportional-autoscaler", "horizontal-pod-autoscaler", "service-mesh-*", "otel-*",
	}
}

// Controllers returns a function that tells whether a field manager is known,
// after KnownControllers and the extra patterns.
func Controllers(extra []string) func(manager string) bool {
	patterns := append(KnownControllers(), extra...)
	return func(manager string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, manager)
			return ok && err == nil
		})
	}
}
