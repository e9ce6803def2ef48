package kube_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestAutomaticObjects holds what an object's kind, name and content show
// together, and that none of its labels, annotations and owner references does.
func TestAutomaticObjects(t *testing.T) {
	t.Parallel()
	account := func(name, namespace, fields string) string {
		return `{apiVersion: v1, kind: ServiceAccount, metadata: {name: ` + name + `, namespace: ` + namespace + `}` + fields + `}`
	}
	marked := func(mark string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: kube-system, ` + mark + `}, spec: {template: {spec: {containers: [{name: a, image: a, securityContext: {privileged: true}}]}}}}`
	}
	workload := func(kind, name, image, account, fields string) string {
		return `{apiVersion: apps/v1, kind: ` + kind + `, metadata: {name: ` + name + `, namespace: kube-system}, spec: {template: {spec: {serviceAccountName: ` + account + `, ` + fields + `containers: [{name: a, image: "` + image + `"}]}}}}`
	}
	for reason, tc := range map[string]struct {
		object string
		want   bool
	}{
		"an event":                          {`{apiVersion: v1, kind: Event, metadata: {name: a, namespace: ns}}`, true},
		"a lease":                           {`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a, namespace: ns}}`, true},
		"a lease of somebody's own kind":    {`{apiVersion: example.org/v1, kind: Lease, metadata: {name: a, namespace: ns}}`, false},
		"a forged bootstrap label":          {marked(`labels: {kubernetes.io/bootstrapping: rbac-defaults}`), false},
		"a forged election":                 {marked(`annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}`), false},
		"a forged certificate":              {marked(`annotations: {cert-manager.io/certificate-name: a}`), false},
		"a forged mirror":                   {marked(`annotations: {kubernetes.io/config.mirror: a}`), false},
		"a forged account":                  {marked(`annotations: {kubernetes.io/service-account.uid: a}`), false},
		"a forged update":                   {marked(`annotations: {rbac.authorization.kubernetes.io/autoupdate: "true"}`), false},
		"a forged owner":                    {marked(`ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: b}]`), false},
		"an election record":                {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}}`, true},
		"an election record with data":      {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}, data: {a: b}}`, false},
		"Endpoints that claim an election":  {`{apiVersion: v1, kind: Endpoints, metadata: {name: a, namespace: ns, labels: {endpoints.kubernetes.io/managed-by: endpoint-controller}, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}, subsets: [{}]}`, false},
		"an election record with more data": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}}, binaryData: {a: YQ==}}`, false},

		"the default account":                 {account("default", "ns", ""), true},
		"the default account without a token": {account("default", "ns", `, automountServiceAccountToken: false`), true},
		"the default account with a token":    {account("default", "ns", `, automountServiceAccountToken: true`), false},
		"a role of a cloud":                   {`{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ns, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/admin"}}}`, false},
		"a pull secret":                       {account("default", "ns", `, imagePullSecrets: [{name: registry}]`), false},
		"a secret":                            {account("default", "ns", `, secrets: [{name: registry}]`), false},
		"OpenShift's pull secret":             {account("default", "ns", `, imagePullSecrets: [{name: default-dockercfg-x1}], secrets: [{name: default-dockercfg-x1}]`), true},
		"OpenShift's builder":                 {account("builder", "ns", `, imagePullSecrets: [{name: builder-dockercfg-x1}]`), true},
		"somebody's builder":                  {account("builder", "ns", ""), false},
		"a controller's account":              {account("job-controller", "kube-system", ""), true},
		"no controller's account":             {account("evil-controller", "kube-system", ""), false},
		"a controller's account elsewhere":    {account("job-controller", "ns", ""), false},
		"somebody's account":                  {account("web", "ns", ""), false},

		"the API server's own service":          {`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {type: ClusterIP}}`, true},
		"a service of that name elsewhere":      {`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: ns}}`, false},
		"the API server's service, redirected":  {`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {selector: {app: evil}}}`, false},
		"the API server's service, exposed":     {`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {type: NodePort}}`, false},
		"the API server's service, given an IP": {`{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {externalIPs: [192.0.2.1]}}`, false},
		"the DNS service":                       {`{apiVersion: v1, kind: Service, metadata: {name: kube-dns, namespace: kube-system}, spec: {selector: {k8s-app: kube-dns}}}`, true},
		"the DNS service, redirected":           {`{apiVersion: v1, kind: Service, metadata: {name: kube-dns, namespace: kube-system}, spec: {selector: {k8s-app: evil}}}`, false},
		"the DNS service, without pods":         {`{apiVersion: v1, kind: Service, metadata: {name: kube-dns, namespace: kube-system}}`, false},
		"the API server's Endpoints":            {`{apiVersion: v1, kind: Endpoints, metadata: {name: kubernetes, namespace: default}, subsets: [{addresses: [{ip: 192.0.2.1}]}]}`, true},
		"the API server's EndpointSlice":        {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: kubernetes, namespace: default}}`, true},
		"Endpoints elsewhere":                   {`{apiVersion: v1, kind: Endpoints, metadata: {name: kubernetes, namespace: ns}}`, false},
		"an EndpointSlice elsewhere":            {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: kubernetes, namespace: ns}}`, false},
		"a local API":                           {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps}, spec: {group: apps}}`, true},
		"a remote API":                          {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps, labels: {kube-aggregator.kubernetes.io/automanaged: onstart}}, spec: {service: {name: evil}}}`, false},

		"a release record":           {`{apiVersion: v1, kind: Secret, type: helm.sh/release.v1, metadata: {name: sh.helm.release.v1.web.v12, namespace: ns}, data: {release: YQ==}}`, true},
		"a release record with more": {`{apiVersion: v1, kind: Secret, type: helm.sh/release.v1, metadata: {name: sh.helm.release.v1.web.v12, namespace: ns}, data: {release: YQ==, more: YQ==}}`, false},
		"a release record by type":   {`{apiVersion: v1, kind: Secret, type: helm.sh/release.v1, metadata: {name: a, namespace: ns}, data: {release: YQ==}}`, false},
		"a release record by name":   {`{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: sh.helm.release.v1.web.v12, namespace: ns}, data: {release: YQ==}}`, false},
		"a token of an account":      {`{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: default-token-abcde, namespace: ns, annotations: {kubernetes.io/service-account.uid: a}}}`, false},
		"a token that joins nodes":   {`{apiVersion: v1, kind: Secret, type: bootstrap.kubernetes.io/token, metadata: {name: bootstrap-token-abcdef, namespace: kube-system}}`, false},
		"somebody's secret":          {`{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: ns}}`, false},

		"a report":                       {`{apiVersion: wgpolicyk8s.io/v1alpha2, kind: PolicyReport, metadata: {name: a, namespace: ns}}`, true},
		"a role with the same rules":     {signerRole(`{apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}`), true},
		"a role with fewer":              {signerRole(`{apiGroups: [""], resources: [secrets], verbs: [get]}`), true},
		"a role with another verb":       {signerRole(`{apiGroups: [""], resources: [secrets], verbs: [get, delete]}`), false},
		"a role with every verb":         {signerRole(`{apiGroups: [""], resources: [secrets], verbs: ["*"]}`), false},
		"a role on other resources":      {signerRole(`{apiGroups: [""], resources: [pods], verbs: [get]}`), false},
		"a role in another group":        {signerRole(`{apiGroups: [apps], resources: [secrets], verbs: [get]}`), false},
		"a role with a name":             {signerRole(`{apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}`), true},
		"a role beyond its name":         {`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: extension-apiserver-authentication-reader, namespace: kube-system}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`, false},
		"a role for another name":        {`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: extension-apiserver-authentication-reader, namespace: kube-system}, rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [kubeadm-config], verbs: [get]}]}`, false},
		"cluster-admin":                  {clusterRole("cluster-admin", `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}, {nonResourceURLs: ["*"], verbs: ["*"]}]`), true},
		"discovery with one more URL":    {clusterRole("system:discovery", `rules: [{nonResourceURLs: [/logs], verbs: [get]}]`), false},
		"discovery":                      {clusterRole("system:discovery", `rules: [{nonResourceURLs: [/api], verbs: [get]}]`), true},
		"an aggregated role":             {clusterRole("view", `aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}]}, rules: [{apiGroups: [x], resources: [y], verbs: [get]}]`), true},
		"an aggregated role of others":   {clusterRole("view", `aggregationRule: {clusterRoleSelectors: [{matchLabels: {evil: "true"}}]}`), false},
		"a view that aggregates nothing": {clusterRole("view", `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`), false},
		"a fixed role that aggregates":   {clusterRole("system:discovery", `aggregationRule: {clusterRoleSelectors: [{matchLabels: {evil: "true"}}]}`), false},

		"coredns":                       {workload("Deployment", "coredns", "registry.k8s.io/coredns/coredns:v1.12.1", "coredns", ""), true},
		"coredns by digest":             {workload("Deployment", "coredns", "registry.k8s.io/coredns/coredns@sha256:1", "coredns", ""), true},
		"coredns of EKS":                {workload("Deployment", "coredns", "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/coredns:v1", "coredns", ""), true},
		"coredns of an AWS account":     {workload("Deployment", "coredns", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/eks/coredns:v1", "coredns", ""), false},
		"coredns from elsewhere":        {workload("Deployment", "coredns", "example.org/coredns/coredns:v1", "coredns", ""), false},
		"coredns with another account":  {workload("Deployment", "coredns", "registry.k8s.io/coredns/coredns:v1", "admin", ""), false},
		"coredns on the host's network": {workload("Deployment", "coredns", "registry.k8s.io/coredns/coredns:v1", "coredns", "hostNetwork: true, "), false},
		"coredns with another image":    {workload("Deployment", "coredns", "registry.k8s.io/coredns/coredns:v1", "coredns", `initContainers: [{name: i, image: evil}], `), false},
		"coredns without containers":    {`{apiVersion: apps/v1, kind: Deployment, metadata: {name: coredns, namespace: kube-system}, spec: {template: {spec: {serviceAccountName: coredns}}}}`, false},
		"coredns as another kind":       {workload("DaemonSet", "coredns", "registry.k8s.io/coredns/coredns:v1", "coredns", ""), false},
		"kube-proxy":                    {workload("DaemonSet", "kube-proxy", "registry.k8s.io/kube-proxy:v1.36.3", "kube-proxy", `hostNetwork: true, volumes: [{name: a, hostPath: {path: /lib/modules}}], `), true},
		"kube-proxy with the host":      {workload("DaemonSet", "kube-proxy", "registry.k8s.io/kube-proxy:v1.36.3", "kube-proxy", `hostNetwork: true, volumes: [{name: a, hostPath: {path: /}}], `), false},
		"kubeadm's settings":            {`{apiVersion: v1, kind: ConfigMap, metadata: {name: kubeadm-config, namespace: kube-system}, data: {ClusterConfiguration: a}}`, true},
		"kubeadm's settings and more":   {`{apiVersion: v1, kind: ConfigMap, metadata: {name: kubeadm-config, namespace: kube-system}, data: {ClusterConfiguration: a, b: c}}`, false},
		"kubeadm's settings, in binary": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: kubeadm-config, namespace: kube-system}, binaryData: {ClusterConfiguration: YQ==}}`, false},
		"the cluster's introduction":    {`{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster-info, namespace: kube-public}, data: {kubeconfig: a, jws-kubeconfig-abcdef: b}}`, true},
		"coredns's account":             {account("coredns", "kube-system", ""), true},
		"coredns's account with a role": {account("coredns", "kube-system", `, imagePullSecrets: [{name: a}]`), false},
		"a cluster's namespace":         {`{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}`, true},
		"somebody's namespace":          {`{apiVersion: v1, kind: Namespace, metadata: {name: kube-evil}}`, false},
		"somebody's pod":                {`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}}`, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := resource(t, tc.object).SystemOwned; (got != "") != tc.want {
				t.Errorf("automatic = %q", got)
			}
		})
	}
}

func signerRole(rule string) string {
	return `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "system:controller:bootstrap-signer", namespace: kube-system}, rules: [` + rule + `]}`
}

func clusterRole(name, fields string) string {
	return `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "` + name + `"}, ` + fields + `}`
}

// authority returns a certificate of its own as PEM.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// A ConfigMap that every namespace has holds the same certificates everywhere.
func TestPublishedCertificates(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t), authority(t)
	for reason, tc := range map[string]struct {
		name, data string
		want       bool
	}{
		"the cluster's authority":       {"kube-root-ca.crt", fmt.Sprintf(`data: {ca.crt: %q}`, ours), true},
		"two of them":                   {"kube-root-ca.crt", fmt.Sprintf(`data: {ca.crt: %q}`, ours+theirs), false},
		"somebody's authority":          {"kube-root-ca.crt", fmt.Sprintf(`data: {ca.crt: %q}`, theirs), false},
		"one more key":                  {"kube-root-ca.crt", fmt.Sprintf(`data: {ca.crt: %q, run.sh: evil}`, ours), false},
		"another key":                   {"kube-root-ca.crt", fmt.Sprintf(`data: {run.sh: %q}`, ours), false},
		"binary data":                   {"kube-root-ca.crt", fmt.Sprintf(`data: {ca.crt: %q}, binaryData: {a: YQ==}`, ours), false},
		"no certificate":                {"kube-root-ca.crt", `data: {ca.crt: evil}`, false},
		"nothing":                       {"kube-root-ca.crt", `data: {ca.crt: ""}`, false},
		"a broken certificate":          {"kube-root-ca.crt", `data: {ca.crt: "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"}`, false},
		"a key":                         {"kube-root-ca.crt", `data: {ca.crt: "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n"}`, false},
		"Istio's authority":             {"istio-ca-root-cert", fmt.Sprintf(`data: {root-cert.pem: %q}`, theirs), true},
		"Istio's authority by its key":  {"istio-ca-root-cert", fmt.Sprintf(`data: {ca.crt: %q}`, theirs), false},
		"a ConfigMap with certificates": {"our-ca.crt", fmt.Sprintf(`data: {ca.crt: %q}`, ours), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var resources []model.Resource
			for _, namespace := range []string{"a", "b"} {
				resources = append(resources, resource(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: %s}, data: {ca.crt: %q}}`, namespace, ours)))
			}
			resources = append(resources, resource(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+tc.name+`, namespace: ns}, `+tc.data+`}`))
			kube.Relate(resources, whole)
			if got := resources[2].SystemOwned; (got != "") != tc.want || resources[0].SystemOwned == "" {
				t.Errorf("automatic = %q, and %q of the others", got, resources[0].SystemOwned)
			}
		})
	}
}

// OpenShift makes a pull secret for each service account.
func TestPullSecrets(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		account string
		want    int
	}{
		"the account names it":      {`imagePullSecrets: [{name: default-dockercfg-x1}]`, 1},
		"the account names another": {`imagePullSecrets: [{name: default-dockercfg-x2}]`, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := related(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ns}, `+tc.account+`}`+"\n---\n"+
				`{apiVersion: v1, kind: Secret, type: kubernetes.io/dockercfg, metadata: {name: default-dockercfg-x1, namespace: ns}}`, whole)["Secret default-dockercfg-x1"]
			if len(r.Makers) != tc.want || r.SystemOwned != "" {
				t.Errorf("makers %v, automatic %q", r.Makers, r.SystemOwned)
			}
		})
	}
}

// Addresses that a controller keeps change all the time.
func TestAddressesOfControllers(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		object, field string
		want          bool
	}{
		"kept Endpoints":         {`{apiVersion: v1, kind: Endpoints, metadata: {name: a, labels: {endpoints.kubernetes.io/managed-by: endpoint-controller}}, subsets: [{}]}`, "subsets", false},
		"Endpoints kept before":  {`{apiVersion: v1, kind: Endpoints, metadata: {name: a, annotations: {endpoints.kubernetes.io/last-change-trigger-time: x}}, subsets: [{}]}`, "subsets", false},
		"somebody's Endpoints":   {`{apiVersion: v1, kind: Endpoints, metadata: {name: a}, subsets: [{}]}`, "subsets", true},
		"a kept slice":           {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, labels: {endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}, endpoints: [{}]}`, "endpoints", false},
		"somebody's slice":       {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, labels: {endpointslice.kubernetes.io/managed-by: me}}, endpoints: [{}]}`, "endpoints", true},
		"another kind's subsets": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {endpoints.kubernetes.io/managed-by: endpoint-controller}}, subsets: [{}]}`, "subsets", true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tc.object)
			if _, got := r.Value.Get(tc.field); got != tc.want || r.Value.At("metadata", "annotations", "endpoints.kubernetes.io/last-change-trigger-time").Str() != "" {
				t.Errorf("value = %s", r.Value.AppendJSON(nil))
			}
		})
	}
}
