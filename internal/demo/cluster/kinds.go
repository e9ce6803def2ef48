package cluster

import "slices"

// A kind is a served kind of objects.
type kind struct {
	group, version, resource, name string
	namespaced                     bool
}

// kinds returns the served kinds.
func kinds() []kind {
	return []kind{
		{"", "v1", "configmaps", "ConfigMap", true},
		{"", "v1", "namespaces", "Namespace", false},
		{"", "v1", "secrets", "Secret", true},
		{"", "v1", "serviceaccounts", "ServiceAccount", true},
		{"", "v1", "services", "Service", true},
		{"apps", "v1", "daemonsets", "DaemonSet", true},
		{"apps", "v1", "deployments", "Deployment", true},
		{"apps", "v1", "statefulsets", "StatefulSet", true},
		{"batch", "v1", "cronjobs", "CronJob", true},
		{"networking.k8s.io", "v1", "ingresses", "Ingress", true},
		{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true},
		{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
		{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true},
		{"rbac.authorization.k8s.io", "v1", "roles", "Role", true},
	}
}

func kindOf(name string) (kind, bool) {
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return all[i], true
}

// apiVersion returns the apiVersion of the kind's objects.
func (k kind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// path returns the API path of the kind's objects in a namespace, or in all if it is "".
func (k kind) path(namespace string) string {
	root := "/apis/" + k.apiVersion()
	if k.group == "" {
		root = "/api/" + k.version
	}
	if namespace != "" {
		root += "/namespaces/" + namespace
	}
	return root + "/" + k.resource
}
