package kube

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// withoutAdmitted removes the elements that the API server itself adds to lists which are replaced
// as a whole and have no owners: the two tolerations of every pod, the taints that follow a node's
// conditions, and the token of a service account.
func withoutAdmitted(kind string, object model.Value) model.Value {
	switch kind {
	case "kubernetes/Pod":
		return dropFrom(object, "tolerations", isDefaultToleration)
	case "kubernetes/Node":
		return dropFrom(object, "taints", func(taint model.Value) bool {
			return strings.HasPrefix(taint.At("key").Str(), "node.kubernetes.io/")
		})
	case secretKind:
		if data, ok := object.Get("data"); ok && object.At("type").Str() == "kubernetes.io/service-account-token" {
			return object.With("data", data.Without("ca.crt", "namespace", "token"))
		}
	case endpointsKind:
		if keepsAddresses(object.At("metadata"), "endpoints.kubernetes.io/managed-by", "endpoint-controller") {
			return object.Without("subsets")
		}
	case sliceKind:
		if keepsAddresses(object.At("metadata"), "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io") {
			return object.Without("endpoints")
		}
	}
	return object
}

// keepsAddresses reports whether a controller keeps the addresses of a Service's
// pods in the object: they change all the time. Where a declaration sets them,
// an object that only claims to be kept so lacks them.
func keepsAddresses(metadata model.Value, label, controller string) bool {
	_, triggered := metadata.At("annotations").Get(lastTrigger)
	return triggered || metadata.At("labels").At(label).Str() == controller
}

// withAccountName gives the specification of a pod the name of its service account
// where the object only has the deprecated field, as the API server does.
func withAccountName(kind string, object model.Value) model.Value {
	template, ok := podTemplate(strings.TrimPrefix(kind, "kubernetes/"))
	if !ok {
		return object
	}
	return withAccountAt(object, strings.Split(template+"spec", "."))
}

func withAccountAt(v model.Value, path []string) model.Value {
	if len(path) == 0 {
		account, old := v.Get("serviceAccount")
		if _, named := v.Get("serviceAccountName"); !old || named {
			return v
		}
		return v.With("serviceAccountName", account)
	}
	below, ok := v.Get(path[0])
	if !ok {
		return v
	}
	named := withAccountAt(below, path[1:])
	if len(named.Fields()) == len(below.Fields()) && len(path) == 1 {
		return v
	}
	return v.With(path[0], named)
}

// isDefaultToleration reports whether the DefaultTolerationSeconds admission adds the
// toleration.
func isDefaultToleration(t model.Value) bool {
	key := t.At("key").Str()
	return (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") &&
		t.At("operator").Str() == "Exists" && t.At("effect").Str() == "NoExecute" && t.At("tolerationSeconds").Text() == "300"
}

// dropFrom drops elements of a list of the object's spec.
func dropFrom(object model.Value, list string, drop func(model.Value) bool) model.Value {
	spec := object.At("spec")
	items := spec.At(list).Items()
	kept := make([]model.Value, 0, len(items))
	for _, item := range items {
		if !drop(item) {
			kept = append(kept, item)
		}
	}
	if len(kept) == len(items) {
		return object
	}
	return object.With("spec", spec.With(list, model.ListOf(kept...)))
}
