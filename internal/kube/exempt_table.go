package kube

import "slices"

const serviceAccount = "system:serviceaccount:"

// controlPlane reports whether a user in the audit log is part of the control plane, whose writes
// of fields that are not guarded are never drift. It returns false for controllers that carry out
// requests of other objects (autoscaling, the aggregation of roles), for which the requesting
// object is the evidence.
func controlPlane(account string) bool {
	if glob("system:node:*", account) {
		return true
	}
	return slices.Contains([]string{
		"system:kube-controller-manager", "system:kube-scheduler", "system:apiserver", "system:cloud-controller-manager",
		serviceAccount + "kube-system:attachdetach-controller", serviceAccount + "kube-system:certificate-controller",
		serviceAccount + "kube-system:cloud-controller-manager", serviceAccount + "kube-system:cloud-provider",
		serviceAccount + "kube-system:cronjob-controller", serviceAccount + "kube-system:daemon-set-controller",
		serviceAccount + "kube-system:deployment-controller", serviceAccount + "kube-system:disruption-controller",
		serviceAccount + "kube-system:endpoint-controller", serviceAccount + "kube-system:endpointslice-controller",
		serviceAccount + "kube-system:endpointslicemirroring-controller", serviceAccount + "kube-system:expand-controller",
		serviceAccount + "kube-system:job-controller", serviceAccount + "kube-system:namespace-controller",
		serviceAccount + "kube-system:node-controller", serviceAccount + "kube-system:persistent-volume-binder",
		serviceAccount + "kube-system:pod-garbage-collector", serviceAccount + "kube-system:pv-protection-controller",
		serviceAccount + "kube-system:pvc-protection-controller", serviceAccount + "kube-system:replicaset-controller",
		serviceAccount + "kube-system:replication-controller", serviceAccount + "kube-system:resourcequota-controller",
		serviceAccount + "kube-system:root-ca-cert-publisher", serviceAccount + "kube-system:route-controller",
		serviceAccount + "kube-system:service-account-controller", serviceAccount + "kube-system:service-controller",
		serviceAccount + "kube-system:statefulset-controller", serviceAccount + "kube-system:tokens-controller",
		serviceAccount + "kube-system:ttl-controller",
	}, account)
}

// workloads returns the kinds with a pod template at spec.template.
func workloads() []string {
	return []string{"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "ReplicationController", "Rollout.argoproj.io"}
}

// bundleFields returns the fields into which controllers inject CA certificates.
func bundleFields() []string {
	return []string{"webhooks.clientConfig.caBundle", "spec.conversion.webhook.clientConfig.caBundle", "spec.caBundle"}
}

func bundleKinds() []string {
	return []string{"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"CustomResourceDefinition.apiextensions.k8s.io", "APIService.apiregistration.k8s.io"}
}

// shippedRows returns the fields that known controllers write and that no declaration
// sets, with the field managers and the accounts of a usual installation.
func shippedRows() []row {
	return slices.Concat(clusterRows(), injectorRows(), deliveryRows(), operatorRows(), vendorRows())
}

// clusterRows returns the rows of the control plane.
func clusterRows() []row {
	manager := []string{"kube-controller-manager"}
	marks := func(prefixes ...string) []string { return onBoth("metadata", prefixes...) }
	return []row{
		{managers: manager, kinds: workloads(), fields: marks("deployment.kubernetes.io/*", templateGeneration)},
		{managers: manager, kinds: []string{"Job.batch", "Pod"}, fields: marks("batch.kubernetes.io/*", "controller-uid", "job-name")},
		{managers: []string{"kube-controller-manager", "kube-scheduler"}, kinds: []string{"PersistentVolumeClaim", "PersistentVolume"},
			fields: append(marks("pv.kubernetes.io/*", "volume.kubernetes.io/*", "volume.beta.kubernetes.io/*"), "spec.claimRef", "spec.volumeName")},
		// A claim without a class gets the default class, even if that is set later.
		{managers: manager, kinds: []string{"PersistentVolumeClaim"}, fields: []string{"spec.storageClassName"}},
		{managers: []string{"kube-controller-manager", "cloud-controller-manager", "kubelet"}, kinds: []string{"Node"},
			fields: append(marks("kubernetes.io/*", "beta.kubernetes.io/*", "node.kubernetes.io/*", "topology.kubernetes.io/*", "failure-domain.beta.kubernetes.io/*",
				"node.alpha.kubernetes.io/*", "volumes.kubernetes.io/*", "csi.volume.kubernetes.io/*", "node.beta.kubernetes.io/*"),
				"spec.podCIDR", "spec.podCIDRs", "spec.providerID", "spec.taints")},
		{managers: manager, kinds: []string{"ServiceAccount"}, fields: []string{"secrets"}},
		{managers: []string{"kube-controller-manager", "kube-apiserver"}, kinds: []string{"Secret"}, fields: marks("kubernetes.io/service-account.uid", "kubernetes.io/legacy-token-*")},
		{managers: manager, kinds: []string{"Endpoints", "EndpointSlice.discovery.k8s.io"}, fields: marks("endpoints.kubernetes.io/*", "endpointslice.kubernetes.io/*", "service.kubernetes.io/*")},
		{managers: []string{"kube-apiserver"}, kinds: []string{"Namespace"}, fields: []string{"metadata.labels.kubernetes.io/metadata.name"}},
		{managers: []string{"kube-apiserver"}, kinds: []string{"APIService.apiregistration.k8s.io"}, fields: []string{"metadata.labels.kube-aggregator.kubernetes.io/automanaged"}},
		{managers: []string{"kube-scheduler", "kubelet"}, kinds: []string{"Pod"}, fields: marks("kubernetes.io/config.*", "scheduler.alpha.kubernetes.io/*")},
	}
}

// injectorRows returns the rows of injectors of certificates, sidecars and defaults.
func injectorRows() []row {
	rows := []row{
		{managers: []string{"*"}, accounts: []string{serviceAccount + "cert-manager:cert-manager-cainjector", serviceAccount + "cert-manager:cert-manager",
			serviceAccount + "istio-system:istiod*", serviceAccount + "kyverno:kyverno-*", serviceAccount + "gatekeeper-system:gatekeeper-admin",
			serviceAccount + "vault:*-agent-injector", serviceAccount + "linkerd:linkerd-*", serviceAccount + "knative-serving:*", serviceAccount + "knative-eventing:*", serviceAccount + "tekton-pipelines:*",
			serviceAccount + "elastic-system:elastic-operator", serviceAccount + "openshift-service-ca:service-ca", serviceAccount + "ingress-nginx:ingress-nginx-admission",
			serviceAccount + "capi-system:capi-manager", serviceAccount + "keda:keda-operator", serviceAccount + "kube-system:aws-load-balancer-controller"},
			kinds: bundleKinds(), fields: bundleFields()},
		{managers: []string{"kyverno*"}, accounts: []string{serviceAccount + "kyverno:*"},
			fields: onBoth("metadata", "policies.kyverno.io/*", "pod-policies.kyverno.io/*", "kyverno.io/*", "webhook.kyverno.io/*"),
			named:  onBoth("metadata", "policies.kyverno.io/last-applied-patches", "policies.kyverno.io/patches", "kyverno.io/verify-images", "webhook.kyverno.io/managed-by")},
		{managers: []string{"gatekeeper*"}, accounts: []string{serviceAccount + "gatekeeper-system:*"}, fields: onBoth("metadata", "gatekeeper.sh/*", "mutations.gatekeeper.sh/*"),
			named: onBoth("metadata", "gatekeeper.sh/mutations", "gatekeeper.sh/mutation-id")},
		{managers: []string{"istio*", "pilot-*"}, kinds: []string{"ConfigMap"}, fields: onBoth("metadata", "istio.io/config")},
	}
	for _, sidecar := range []struct {
		managers, marks, names []string
	}{
		{[]string{"istio*", "pilot-*", "sidecar-injector-*"}, []string{"sidecar.istio.io/status", "istio.io/rev", "service.istio.io/canonical-name", "service.istio.io/canonical-revision", "security.istio.io/tlsMode",
			"prometheus.io/path", "prometheus.io/port", "prometheus.io/scrape"},
			[]string{"containers[istio-proxy]", "initContainers[istio-init]", "initContainers[istio-validation]", "initContainers[istio-proxy]",
				"volumes[istio-*]", "volumes[istiod-*]", "volumes[workload-*]", "volumes[credential-*]"}},
		{[]string{"linkerd*"}, []string{"linkerd.io/created-by", "linkerd.io/proxy-*", "linkerd.io/identity-mode", "linkerd.io/trust-root-sha256", "linkerd.io/control-plane-ns",
			"linkerd.io/workload-ns", "viz.linkerd.io/tap-enabled"},
			[]string{"containers[linkerd-proxy]", "initContainers[linkerd-*]", "volumes[linkerd-*]"}},
		{[]string{"vault-*"}, []string{"vault.hashicorp.com/agent-inject-status"},
			[]string{"containers[vault-agent]", "initContainers[vault-agent-init]", "volumes[home-*]", "volumes[vault-secrets]"}},
		{[]string{"consul-*"}, []string{"consul.hashicorp.com/connect-inject-status", "consul.hashicorp.com/transparent-proxy-status", "consul.hashicorp.com/original-pod",
			"consul.hashicorp.com/consul-k8s-version"},
			[]string{"containers[consul-*]", "initContainers[consul-*]", "initContainers[copy-consul-bin]", "volumes[consul-*]"}},
		{[]string{"otel-*", "opentelemetry-*"}, []string{"sidecar.opentelemetry.io/injected"},
			[]string{"containers[otc-container]", "initContainers[opentelemetry-*]", "volumes[opentelemetry-*]"}},
	} {
		for _, template := range []string{"spec.template.", ""} {
			kinds := workloads()
			if template == "" {
				kinds = []string{"Pod"}
			}
			var parts []string
			for _, name := range sidecar.names {
				parts = append(parts, template+"spec."+name)
			}
			rows = append(rows, row{managers: sidecar.managers, kinds: kinds, fields: parts, admission: true},
				row{managers: sidecar.managers, kinds: kinds, fields: onBoth(template+"metadata", sidecar.marks...)})
		}
	}
	return rows
}

// deliveryRows returns the labels and annotations of tools that apply declarations.
func deliveryRows() []row {
	return []row{
		{managers: []string{"helm", "Helm", "helm-controller"}, accounts: []string{serviceAccount + "flux-system:helm-controller"},
			fields: onBoth("metadata", "meta.helm.sh/*", "app.kubernetes.io/managed-by", "helm.sh/chart", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")},
		{managers: []string{"flux", "flux-*", "gotk-*", "kustomize-controller", "source-controller", "notification-controller", "image-*-controller"},
			accounts: []string{serviceAccount + "flux-system:*"},
			// Marks such as kustomize.toolkit.fluxcd.io/reconcile and ssa are set by people: they stop Flux.
			fields: onBoth("metadata", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/checksum",
				"helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace", "fluxcd.io/sync-checksum", "source.toolkit.fluxcd.io/*")},
		{managers: []string{"argocd", "argocd-*"}, accounts: []string{serviceAccount + "argocd:argocd-*", serviceAccount + "openshift-gitops:*"},
			// Annotations such as argocd.argoproj.io/sync-options and compare-options are set by people: they stop Argo CD.
			fields: onBoth("metadata", "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "argocd.argoproj.io/instance",
				"argocd.argoproj.io/kubernetes-version", "argocd.argoproj.io/application-set-refresh", "app.kubernetes.io/instance",
				"notified.notifications.argoproj.io")},
		// A sync that was requested and has not started. The controller removes the field when it starts.
		{managers: []string{"argocd-application-controller", "argocd-applicationset-controller", "argocd-server"},
			accounts: []string{serviceAccount + "argocd:argocd-*", serviceAccount + "openshift-gitops:*"},
			kinds:    []string{"Application.argoproj.io"}, fields: []string{"operation"}},
		// notification-controller requests a reconciliation when a Receiver gets a webhook.
		{managers: []string{"flux", "argocd", "argocd-*", "flux-client-side-apply", "notification-controller", "driftd"}, accounts: []string{"*"},
			fields: []string{"metadata.annotations.reconcile.fluxcd.io/requestedAt", "metadata.annotations.reconcile.fluxcd.io/forceAt",
				"metadata.annotations.reconcile.fluxcd.io/resetAt", "metadata.annotations.argocd.argoproj.io/refresh"}},
		{managers: []string{"rollouts-controller"}, accounts: []string{serviceAccount + "argo-rollouts:argo-rollouts"},
			fields: append(onBoth("metadata", "rollout.argoproj.io/*", "argo-rollouts.argoproj.io/*", "notified.notifications.argoproj.io"),
				"spec.selector.rollouts-pod-template-hash")},
		{managers: []string{"rancher", "cattle-*", "fleet*"}, accounts: []string{serviceAccount + "cattle-system:*", serviceAccount + "cattle-fleet-system:*"},
			fields: onBoth("metadata", "field.cattle.io/*", "lifecycle.cattle.io/*", "objectset.rio.cattle.io/*", "cattle.io/*", "management.cattle.io/*",
				"authz.management.cattle.io/*", "workload.user.cattle.io/*", "provisioner.cattle.io/*", "fleet.cattle.io/*")},
	}
}

// operatorRows returns the rows of common add-ons.
func operatorRows() []row {
	reloader := onBoth("spec.template.metadata", "reloader.stakater.com/last-reloaded-from")
	for _, list := range []string{"containers", "initContainers"} {
		reloader = append(reloader, "spec.template.spec."+list+"[*].env[STAKATER_*]")
	}
	return []row{
		{managers: []string{"Reloader", "reloader*"}, kinds: workloads(), fields: reloader,
			accounts: []string{serviceAccount + "reloader:reloader-reloader"}},
		{managers: []string{"cert-manager*"}, accounts: []string{serviceAccount + "cert-manager:*"},
			fields: onBoth("metadata", "cert-manager.io/*", "acme.cert-manager.io/*", "controller.cert-manager.io/*"), named: onBoth("metadata", "controller.cert-manager.io/*")},
		{managers: []string{"cert-manager*"}, kinds: []string{"Secret", "*.cert-manager.io"}, fields: onBoth("metadata", "cert-manager.io/*", "acme.cert-manager.io/*")},
		{managers: []string{"keda*"}, accounts: []string{serviceAccount + "keda:keda-operator"}, fields: onBoth("metadata", "autoscaling.keda.sh/*", "scaledobject.keda.sh/*"),
			named: onBoth("metadata", "scaledobject.keda.sh/name", "scaledjob.keda.sh/name")},
		{managers: []string{"vpa-*"}, accounts: []string{serviceAccount + "kube-system:vpa-*"}, fields: onBoth("metadata", "vpaUpdates", "vpaObservedContainers")},
		{managers: []string{"external-dns"}, accounts: []string{serviceAccount + "external-dns:external-dns"}, fields: onBoth("metadata", "external-dns.alpha.kubernetes.io/*"), named: []string{}},
		{managers: []string{"external-secrets*"}, accounts: []string{serviceAccount + "external-secrets:external-secrets"},
			fields: onBoth("metadata", "external-secrets.io/*", "reconcile.external-secrets.io/*"), named: onBoth("metadata", "reconcile.external-secrets.io/*")},
		{managers: []string{"cluster-autoscaler", "karpenter"}, accounts: []string{serviceAccount + "kube-system:cluster-autoscaler", serviceAccount + "karpenter:karpenter", serviceAccount + "kube-system:karpenter"},
			kinds:  []string{"Node", "NodePool.karpenter.sh", "NodeClaim.karpenter.sh", "EC2NodeClass.karpenter.k8s.aws"},
			fields: append(onBoth("metadata", "cluster-autoscaler.kubernetes.io/*", "karpenter.sh/*", "karpenter.k8s.aws/*"), "spec.taints")},
		{managers: []string{"cilium*", "calico*"}, kinds: []string{"Node", "Pod", "*.cilium.io", "*.projectcalico.org"}, accounts: []string{serviceAccount + "kube-system:cilium*", serviceAccount + "calico-system:*"},
			fields: onBoth("metadata", "network.cilium.io/*", "io.cilium*", "cilium.io/*", "projectcalico.org/*", "cni.projectcalico.org/*")},
		{managers: []string{"csi-*", "snapshot-*", "velero*"}, kinds: []string{"PersistentVolume*", "VolumeAttachment.*", "VolumeSnapshot.*", "VolumeSnapshotContent.*", "Node"},
			fields:   onBoth("metadata", "snapshot.storage.kubernetes.io/*", "csi.volume.kubernetes.io/*", "volume.kubernetes.io/*", "volume.beta.kubernetes.io/*", "pv.kubernetes.io/*"),
			accounts: []string{serviceAccount + "velero:velero", serviceAccount + "kube-system:csi-*", serviceAccount + "kube-system:snapshot-*"}},
		{managers: []string{"velero*"}, accounts: []string{serviceAccount + "velero:velero"}, fields: onBoth("metadata", "velero.io/backup-name", "velero.io/restore-name", "velero.io/storage-location")},
		{managers: []string{"kube-vip*"}, kinds: []string{"Service"}, fields: append(onBoth("metadata", "kube-vip.io/vipHost", "kube-vip.io/loadbalancerIPs"), "spec.loadBalancerIP"),
			accounts: []string{serviceAccount + "kube-system:kube-vip*"}},
		{managers: []string{"metallb*", "controller"}, kinds: []string{"Service"}, fields: onBoth("metadata", "metallb.io/*", "metallb.universe.tf/*"),
			named:    onBoth("metadata", "metallb.io/ip-allocated-from-pool", "metallb.universe.tf/ip-allocated-from-pool"),
			accounts: []string{serviceAccount + "metallb-system:*"}},
	}
}

// vendorRows returns the rows of managed clusters and distributions.
func vendorRows() []row {
	return []row{
		{managers: []string{"glbc", "gke-*", "cloud-controller-manager"}, fields: onBoth("metadata", "cloud.google.com/*", "networking.gke.io/*", "ingress.kubernetes.io/*",
			"ingress.gcp.kubernetes.io/*", "autopilot.gke.io/*"), accounts: []string{serviceAccount + "kube-system:glbc", "system:gke-*", "system:l7-lb-controller", "system:controller:glbc"},
			named: onBoth("metadata", "cloud.google.com/neg", "cloud.google.com/neg-status", "ingress.kubernetes.io/backends", "ingress.kubernetes.io/*forwarding-rule",
				"ingress.kubernetes.io/*target-proxy", "ingress.kubernetes.io/url-map", "ingress.kubernetes.io/ssl-cert", "autopilot.gke.io/resource-adjustment",
				"autopilot.gke.io/warden-version")},
		{managers: []string{"eks", "eks-*", "aws-load-balancer-controller", "controller"}, fields: onBoth("metadata", "eks.amazonaws.com/*", "elbv2.k8s.aws/*",
			"ingress.k8s.aws/*", "service.k8s.aws/*", "alb.ingress.kubernetes.io/*", "vpc.amazonaws.com/*"),
			named:    onBoth("metadata", "ingress.k8s.aws/*", "service.k8s.aws/*", "eks.amazonaws.com/fargate-profile", "vpc.amazonaws.com/pod-eni"),
			accounts: []string{"eks:*", serviceAccount + "kube-system:aws-load-balancer-controller"}},
		{managers: []string{"aks-*"}, fields: onBoth("metadata", "kubernetes.azure.com/*", "service.beta.kubernetes.io/azure-*"), accounts: []string{"aksService"},
			named: onBoth("metadata", "kubernetes.azure.com/managedby")},
		{managers: []string{"aks-*"}, kinds: []string{"Node"}, fields: onBoth("metadata", "kubernetes.azure.com/*")},
		{managers: []string{"openshift-*", "olm", "catalog", "cluster-policy-controller", "openshift.io/*", "pod-security-admission-label-synchronization-controller"},
			accounts: []string{serviceAccount + "openshift-*:*"},
			fields: onBoth("metadata", "openshift.io/*", "*.openshift.io/*", "olm.*", "operators.coreos.com/*", "operatorframework.io/*", "security.openshift.io/*",
				"pod-security.kubernetes.io/audit*", "pod-security.kubernetes.io/warn*"),
			named: onBoth("metadata", "openshift.io/sa.scc.*", "openshift.io/scc", "openshift.io/internal-registry-pull-secret-ref", "service.*.openshift.io/serving-cert-signed-by",
				"service.*.openshift.io/originating-service-*", "olm.*", "operators.coreos.com/*", "operatorframework.io/*", "pod-security.kubernetes.io/audit*", "pod-security.kubernetes.io/warn*")},
		{managers: []string{"openshift-controller-manager", "openshift.io/*"}, accounts: []string{serviceAccount + "openshift-infra:serviceaccount-pull-secrets-controller"},
			kinds: []string{"ServiceAccount"}, fields: []string{"secrets", "imagePullSecrets"}},
	}
}

// onBoth returns the patterns of the labels and annotations with these names below a
// path.
func onBoth(metadata string, names ...string) []string {
	var fields []string
	for _, name := range names {
		fields = append(fields, metadata+".labels."+name, metadata+".annotations."+name)
	}
	return fields
}
