package kube

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// systemOwned returns the reason why no declaration is expected to declare an object, as far as its
// kind, name and content together prove it; "" otherwise. Labels, annotations and owner references
// are not sufficient, since any writer of the object can set them. object is the resource as it was
// read.
func systemOwned(r *model.Resource, object model.Value) string {
	if reason := recordKinds[plainKind(r.Kind)]; reason != "" {
		return reason
	}
	switch plainKind(r.Kind) {
	case "ServiceAccount":
		if reason := systemAccount(r); reason != "" && isBareAccount(r) {
			return reason
		}
	case "ConfigMap", "Endpoints", "EndpointSlice.discovery.k8s.io":
		if reason := ownRecord(r, object); reason != "" {
			return reason
		}
	case "Secret":
		if isReleaseRecord(r) {
			return "Helm's record of a release"
		}
	case "APIService.apiregistration.k8s.io":
		if _, remote := r.Value.At("spec").Get("service"); !remote {
			return "made by the API server"
		}
	case roleBinding, clusterRoleBinding:
		return "" // The role decides: see world.bound.
	}
	return knownObjects().match(r).reason()
}

// ownRecord returns why an object is a record of the control plane itself; "" for
// any other.
func ownRecord(r *model.Resource, object model.Value) string {
	kind := plainKind(r.Kind)
	switch {
	case kind != "EndpointSlice.discovery.k8s.io" && isElectionRecord(object):
		return "a leader election record"
	case kind != "ConfigMap" && r.ID == "default/kubernetes":
		return "made by the API server"
	}
	return ""
}

// recordKinds are kinds that record something: their objects neither run code
// nor grant or expose anything.
var recordKinds = map[string]string{
	"Event":                      "an event",
	"Event.events.k8s.io":        "an event",
	"Lease.coordination.k8s.io":  "a lease",
	"PodMetrics.metrics.k8s.io":  "a measurement",
	"NodeMetrics.metrics.k8s.io": "a measurement",
	"VerticalPodAutoscalerCheckpoint.autoscaling.k8s.io": "a record of the autoscaler",
	"CiliumEndpoint.cilium.io":                           "a record of the network",
	"CiliumIdentity.cilium.io":                           "a record of the network",
	"CiliumEndpointSlice.cilium.io":                      "a record of the network",
	"ServiceL2Status.metallb.io":                         "a record of the network",
	"ServiceBGPStatus.metallb.io":                        "a record of the network",
	"PolicyReport.wgpolicyk8s.io":                        "a report",
	"ClusterPolicyReport.wgpolicyk8s.io":                 "a report",
	"Report.openreports.io":                              "a report",
	"EphemeralReport.reports.kyverno.io":                 "a report",
	"AdmissionReport.kyverno.io":                         "a report",
	"BackgroundScanReport.kyverno.io":                    "a report",
	"VulnerabilityReport.aquasecurity.github.io":         "a report",
	"ConfigAuditReport.aquasecurity.github.io":           "a report",
	"ExposedSecretReport.aquasecurity.github.io":         "a report",
	"RbacAssessmentReport.aquasecurity.github.io":        "a report",
	"InfraAssessmentReport.aquasecurity.github.io":       "a report",
	"SbomReport.aquasecurity.github.io":                  "a report",
	"ConstraintPodStatus.status.gatekeeper.sh":           "a record of admission",
	"ConstraintTemplatePodStatus.status.gatekeeper.sh":   "a record of admission",
}

// systemAccount returns the creator of the service account with this name; "" if the
// system creates none.
func systemAccount(r *model.Resource) string {
	switch {
	case r.Name == "default":
		return "made in every namespace"
	case r.Name == "builder", r.Name == "deployer":
		if hasDockercfg(r) {
			return "made in every namespace by OpenShift"
		}
	case r.Place == "kube-system" && slices.Contains(controllerAccounts, r.Name):
		return "the account of a controller"
	}
	return ""
}

// isBareAccount reports whether a service account has only the fields that the cluster sets. A
// cloud role in an annotation, or a pull secret, is an edit.
func isBareAccount(r *model.Resource) bool {
	for _, f := range r.Value.Fields() {
		switch {
		case f.Name == "metadata", f.Value.IsEmpty():
		case f.Name == "automountServiceAccountToken" && f.Value.Text() == "false":
		case f.Name == "secrets" || f.Name == "imagePullSecrets":
			if !allDockercfg(r.Name, f.Value) {
				return false
			}
		default:
			return false
		}
	}
	for _, f := range r.Value.At("metadata", "annotations").Fields() {
		if !slices.Contains(accountAnnotations, f.Name) {
			return false
		}
	}
	return true
}

var accountAnnotations = []string{"kubernetes.io/description", "openshift.io/internal-registry-pull-secret-ref"}

// allDockercfg reports whether a list of secrets of a service account holds
// only those that OpenShift makes for it.
func allDockercfg(account string, secrets model.Value) bool {
	return !slices.ContainsFunc(secrets.Items(), func(s model.Value) bool {
		return !strings.HasPrefix(s.At("name").Str(), account+"-dockercfg-")
	})
}

func hasDockercfg(r *model.Resource) bool {
	pull := r.Value.At("imagePullSecrets")
	return len(pull.Items()) > 0 && allDockercfg(r.Name, pull)
}

// controllerAccounts are the service accounts that kube-controller-manager makes
// for its controllers with --use-service-account-credentials.
var controllerAccounts = []string{
	"attachdetach-controller", "bootstrap-signer", "certificate-controller", "clusterrole-aggregation-controller",
	"cronjob-controller", "daemon-set-controller", "deployment-controller", "device-taint-eviction-controller",
	"disruption-controller", "endpoint-controller", "endpointslice-controller", "endpointslicemirroring-controller",
	"ephemeral-volume-controller", "expand-controller", "generic-garbage-collector", "horizontal-pod-autoscaler",
	"job-controller", "kube-apiserver-serving-clustertrustbundle-publisher", "legacy-service-account-token-cleaner",
	"namespace-controller", "node-controller", "persistent-volume-binder", "pod-garbage-collector",
	"podcertificaterequestcleaner", "pv-protection-controller", "pvc-protection-controller", "replicaset-controller",
	"replication-controller", "resource-claim-controller", "resourcequota-controller", "root-ca-cert-publisher",
	"route-controller", "selinux-warning-controller", "service-account-controller", "service-cidrs-controller",
	"service-controller", "statefulset-controller", "storage-version-migrator-controller", "token-cleaner",
	"ttl-after-finished-controller", "ttl-controller", "validatingadmissionpolicy-status-controller",
	"volumeattributesclass-protection-controller", "cloud-provider", "node-ipam-controller",
}

const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// isElectionRecord reports whether an object holds the record of a leader
// election, and nothing else that anybody could use.
func isElectionRecord(object model.Value) bool {
	if _, ok := object.At("metadata", "annotations").Get(leaderAnnotation); !ok {
		return false
	}
	return object.At("subsets").IsEmpty() && object.At("data").IsEmpty() && object.At("binaryData").IsEmpty()
}

// isReleaseRecord reports whether a Secret is Helm's record of a release: it
// holds the rendered manifests, and nothing reads it but Helm.
func isReleaseRecord(r *model.Resource) bool {
	data := r.Value.At("data").Fields()
	return r.Value.At("type").Str() == "helm.sh/release.v1" && releaseName().MatchString(r.Name) &&
		len(data) == 1 && data[0].Name == "release"
}

var releaseName = lazyregexp.New(`^sh\.helm\.release\.v1\..+\.v[0-9]+$`)

// bundleKeys are the ConfigMaps with certificates that clusters put into every
// namespace, with the only key that each holds.
var bundleKeys = map[string]struct{ key, reason string }{
	"kube-root-ca.crt":         {"ca.crt", "made in every namespace"},
	"istio-ca-root-cert":       {"root-cert.pem", "made in every namespace by Istio"},
	"openshift-service-ca.crt": {"service-ca.crt", "made in every namespace by OpenShift"},
}

// bundle returns what stands in the place of the certificates in a ConfigMap that
// is published in every namespace; "" when it is another one, or holds more.
func bundle(r *model.Resource) string {
	published, ok := bundleKeys[r.Name]
	if !ok || r.Kind != "kubernetes/ConfigMap" {
		return ""
	}
	data := r.Value.At("data").Fields()
	if len(data) != 1 || data[0].Name != published.key || !r.Value.At("binaryData").IsEmpty() {
		return ""
	}
	return data[0].Value.Str()
}

// isCertificates reports whether a text holds PEM certificates only.
func isCertificates(text string) bool {
	rest, found := []byte(text), false
	for strings.TrimSpace(string(rest)) != "" {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		found = true
	}
	return found
}
