package kube

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// withoutAdmitted drops what the API server itself adds to lists that are
// replaced as one, where nothing else tells it from what somebody wrote: the
// two tolerations of every pod, the taints that follow a node's conditions, the
// token of a service account.
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
	}
	return object
}

// isDefaultToleration tells what the DefaultTolerationSeconds admission adds.
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
