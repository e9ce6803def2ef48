package kube

import (
	"slices"
	"strings"
)

// kubectlKinds are the built-in kinds with the short names that kubectl accepts for them, as
// kubectl api-resources prints them for v1.36.
const kubectlKinds = `
APIService.apiregistration.k8s.io
CSIDriver.storage.k8s.io
CSINode.storage.k8s.io
CSIStorageCapacity.storage.k8s.io
CertificateSigningRequest.certificates.k8s.io csr
ClusterRole.rbac.authorization.k8s.io
ClusterRoleBinding.rbac.authorization.k8s.io
ConfigMap cm
ControllerRevision.apps
CronJob.batch cj
CustomResourceDefinition.apiextensions.k8s.io crd crds
DaemonSet.apps ds
Deployment.apps deploy
DeviceClass.resource.k8s.io
EndpointSlice.discovery.k8s.io
Endpoints ep
Event ev
Event.events.k8s.io ev
FlowSchema.flowcontrol.apiserver.k8s.io
HorizontalPodAutoscaler.autoscaling hpa
IPAddress.networking.k8s.io ip
Ingress.networking.k8s.io ing
IngressClass.networking.k8s.io
Job.batch
Lease.coordination.k8s.io
LimitRange limits
MutatingAdmissionPolicy.admissionregistration.k8s.io
MutatingAdmissionPolicyBinding.admissionregistration.k8s.io
MutatingWebhookConfiguration.admissionregistration.k8s.io
Namespace ns
NetworkPolicy.networking.k8s.io netpol
Node no
PersistentVolume pv
PersistentVolumeClaim pvc
Pod po
PodDisruptionBudget.policy pdb
PodTemplate
PriorityClass.scheduling.k8s.io pc
PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io
ReplicaSet.apps rs
ReplicationController rc
ResourceClaim.resource.k8s.io
ResourceClaimTemplate.resource.k8s.io
ResourceQuota quota
ResourceSlice.resource.k8s.io
Role.rbac.authorization.k8s.io
RoleBinding.rbac.authorization.k8s.io
RuntimeClass.node.k8s.io
Secret
Service svc
ServiceAccount sa
ServiceCIDR.networking.k8s.io
StatefulSet.apps sts
StorageClass.storage.k8s.io sc
ValidatingAdmissionPolicy.admissionregistration.k8s.io
ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io
ValidatingWebhookConfiguration.admissionregistration.k8s.io
VolumeAttachment.storage.k8s.io
VolumeAttributesClass.storage.k8s.io vac
`

// Names contains the names that kubectl accepts for kinds. Names are not case-sensitive.
type Names struct{ kinds map[string][]string }

// NewNames returns the names of the built-in kinds and of the kinds in others, such as custom
// resources, each written as in findings. It ignores kinds of other systems than Kubernetes.
func NewNames(others []string) Names {
	n := Names{map[string][]string{}}
	for line := range strings.Lines(strings.TrimSpace(kubectlKinds)) {
		words := strings.Fields(line)
		n.add("kubernetes/"+words[0], words[1:]...)
	}
	for _, kind := range others {
		n.add(kind)
	}
	return n
}

func (n Names) add(full string, short ...string) {
	name, ok := strings.CutPrefix(full, "kubernetes/")
	if !ok {
		return
	}
	kind, group, grouped := strings.Cut(strings.ToLower(name), ".")
	for _, alias := range append([]string{kind, plural(kind)}, short...) {
		n.enter(alias, full)
		if grouped {
			n.enter(alias+"."+group, full)
		}
	}
}

func (n Names) enter(alias, full string) {
	if !slices.Contains(n.kinds[alias], full) {
		n.kinds[alias] = append(n.kinds[alias], full)
	}
}

// Kinds returns the kinds with a name such as "deploy", "Deployments" or "deployments.apps". It
// returns several kinds if the name is ambiguous, and none if it is unknown.
func (n Names) Kinds(name string) []string { return n.kinds[strings.ToLower(name)] }

// All returns all names, sorted.
func (n Names) All() []string {
	all := make([]string, 0, len(n.kinds))
	for name := range n.kinds {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
