package kube

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// severities rates what drifts of a kind: what decides who may do what, what
// code runs, and who can be reached, before the rest.
func severities(kind string) []model.SeverityRule {
	_, name, _ := strings.Cut(kind, "/")
	appeared := []model.Verdict{model.Unmanaged, model.Undeclared, model.Changed, model.Conflict, model.Missing}
	switch name {
	case "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io":
		return []model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: "decides who may do what"}}
	case "NetworkPolicy.networking.k8s.io":
		return []model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: "decides who can be reached"}}
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return []model.SeverityRule{{Verdicts: appeared, Severity: model.High, Reason: "decides what the cluster admits"}}
	case "Secret":
		return []model.SeverityRule{{Verdicts: []model.Verdict{model.Changed, model.Conflict}, Severity: model.High, Reason: "a credential changed"}}
	case "Service":
		return []model.SeverityRule{
			{Verdicts: appeared[1:], Path: "spec.type", Severity: model.High, Reason: "decides who can be reached"},
			{Verdicts: appeared[1:], Path: "spec.externalIPs", Severity: model.High, Reason: "decides who can be reached"},
			{Verdicts: appeared[1:], Path: "spec.loadBalancerSourceRanges", Severity: model.High, Reason: "decides who can be reached"},
		}
	}
	return podSeverities(name)
}

// podSeverities rates drift of what runs pods.
func podSeverities(name string) []model.SeverityRule {
	var spec string
	switch name {
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "ReplicationController":
		spec = "spec.template.spec."
	case "CronJob.batch":
		spec = "spec.jobTemplate.spec.template.spec."
	case "Pod":
		spec = "spec."
	default:
		return nil
	}
	touched := []model.Verdict{model.Undeclared, model.Changed, model.Conflict}
	rules := []model.SeverityRule{
		{Verdicts: touched, Path: spec + "containers.image", Severity: model.High, Reason: "other code runs"},
		{Verdicts: touched, Path: spec + "initContainers.image", Severity: model.High, Reason: "other code runs"},
	}
	for _, field := range []string{"volumes.hostPath", "containers.securityContext", "securityContext", "serviceAccountName", "hostNetwork", "hostPID", "hostIPC"} {
		rules = append(rules, model.SeverityRule{Verdicts: touched, Path: spec + field, Severity: model.High,
			Reason: "decides what the pod may do"})
	}
	return rules
}
