package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// isRisky reports whether an object could take over the cluster or a part of
// it. Naming a custom resource as the owner does not account for such a one:
// every client can write an owner reference.
func isRisky(r *model.Resource) bool {
	kind, _, _ := strings.Cut(plainKind(r.Kind), ".")
	switch kind {
	case "RoleBinding", "ClusterRoleBinding":
		return bindsRisky(r)
	case "Role", "ClusterRole":
		return slices.ContainsFunc(r.Value.At("rules").Items(), isRiskyRule)
	case "Secret":
		return slices.Contains(credentialTypes, r.Value.At("type").Str())
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy", "APIService":
		return true
	}
	return slices.Contains(deployers, plainKind(r.Kind)) || Privileged(r)
}

// deployers are custom resources that apply whatever they name.
var deployers = []string{
	"Application.argoproj.io", "ApplicationSet.argoproj.io", "AppProject.argoproj.io", "Bundle.fleet.cattle.io",
	"HelmChart.helm.cattle.io", "HelmRelease.helm.toolkit.fluxcd.io", "Kustomization.kustomize.toolkit.fluxcd.io",
}

// credentialTypes are Secrets that let their holder act in the cluster.
var credentialTypes = []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}

// bindsRisky reports whether a binding reaches beyond the service accounts of
// its own namespace, or gives them all rights there.
func bindsRisky(r *model.Resource) bool {
	role := r.Value.At("roleRef", "name").Str()
	if role == "cluster-admin" || role == "admin" {
		return true
	}
	return slices.ContainsFunc(r.Value.At("subjects").Items(), func(s model.Value) bool {
		namespace := s.At("namespace").Str()
		return s.At("kind").Str() != "ServiceAccount" || namespace != "" && namespace != r.Place
	})
}

func isRiskyRule(rule model.Value) bool {
	return slices.Contains(texts(rule.At("resources")), "*") ||
		slices.ContainsFunc(texts(rule.At("verbs")), func(verb string) bool {
			return slices.Contains([]string{"*", "escalate", "bind", "impersonate"}, verb)
		})
}

// makesRisky reports whether controllers of a custom resource are known to make
// such objects: privileged pods on nodes, applications.
func makesRisky(owner, child string) bool {
	return slices.Contains(riskyMakers[plainKind(owner)], plainKind(child))
}

var riskyMakers = map[string][]string{
	"ApplicationSet.argoproj.io":      {"Application.argoproj.io"},
	"GitRepo.fleet.cattle.io":         {"Bundle.fleet.cattle.io"},
	"CephCluster.ceph.rook.io":        {"DaemonSet.apps", "Deployment.apps", "Job.batch", "CronJob.batch"},
	"ClusterPolicy.nvidia.com":        {"DaemonSet.apps"},
	"Installation.operator.tigera.io": {"DaemonSet.apps"},
}
