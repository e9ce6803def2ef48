package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// isRisky reports whether an object could take over the cluster or a part of it. An owner
// reference to a custom resource does not account for such an object, because every
// client can write one.
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

// deployers are custom resources that deploy the manifests that they name.
var deployers = []string{
	"Application.argoproj.io", "ApplicationSet.argoproj.io", "AppProject.argoproj.io", "Bundle.fleet.cattle.io",
	"HelmChart.helm.cattle.io", "HelmRelease.helm.toolkit.fluxcd.io", "Kustomization.kustomize.toolkit.fluxcd.io",
}

// credentialTypes are the types of Secrets with which their holder can authenticate to
// the cluster.
var credentialTypes = []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}

// bindsRisky reports whether a binding has subjects other than the service accounts of its
// own namespace, or binds a role with all rights there.
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

// makesRisky reports whether controllers of a custom resource are known to create such
// objects: privileged pods, applications.
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
