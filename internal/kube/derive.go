package kube

import (
	"math"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// derivations returns how fields of a definition are derived from the others in it,
// by name. Those that depend on more than that (a default class, the tag that an
// image had when the object was made) are not among them.
// https://github.com/kubernetes/kubernetes/tree/master/pkg/apis, defaults.go
func derivations(definition string) map[string]func(model.Value) model.Value {
	switch definition {
	case "io.k8s.api.core.v1.ServicePort":
		return map[string]func(model.Value) model.Value{"targetPort": func(port model.Value) model.Value { return port.At("port") }}
	case "io.k8s.api.core.v1.PodSpec":
		return map[string]func(model.Value) model.Value{"serviceAccount": func(pod model.Value) model.Value { return pod.At("serviceAccountName") }}
	case "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames":
		return map[string]func(model.Value) model.Value{
			"singular": func(names model.Value) model.Value { return model.StringOf(strings.ToLower(names.At("kind").Str())) },
			"listKind": func(names model.Value) model.Value { return model.StringOf(names.At("kind").Str() + "List") },
		}
	case "io.k8s.api.batch.v1.JobSpec":
		return map[string]func(model.Value) model.Value{"backoffLimit": backoffLimit, "podReplacementPolicy": podReplacementPolicy}
	case "io.k8s.api.networking.v1.NetworkPolicySpec":
		return map[string]func(model.Value) model.Value{"policyTypes": policyTypes}
	case "io.k8s.api.core.v1.PersistentVolumeClaimSpec":
		return map[string]func(model.Value) model.Value{"dataSource": dataSource}
	case "io.k8s.api.admissionregistration.v1.WebhookClientConfig":
		// Controllers inject it, under their own names.
		return map[string]func(model.Value) model.Value{"caBundle": func(model.Value) model.Value { return model.Value{} }}
	}
	return nil
}

// dataSource returns the source of a volume that is declared in the newer field. The server copies it, unless it is in another
// namespace. https://github.com/kubernetes/kubernetes/blob/master/pkg/api/persistentvolumeclaim/util.go, NormalizeDataSources
func dataSource(spec model.Value) model.Value {
	ref := spec.At("dataSourceRef")
	if ref.At("namespace").Str() != "" {
		return model.Value{}
	}
	return ref
}

// policyTypes returns the directions that a NetworkPolicy isolates where it does not
// name them.
func policyTypes(spec model.Value) model.Value {
	types := []model.Value{model.StringOf("Ingress")}
	if !spec.At("egress").IsEmpty() {
		types = append(types, model.StringOf("Egress"))
	}
	return model.ListOf(types...)
}

// completion returns how the API server completes a map of a definition; nil if it does not.
func completion(definition string) func(model.Value) model.Value {
	if definition == "io.k8s.api.core.v1.LimitRangeItem" {
		return completeLimits
	}
	return nil
}

// completeLimits sets the default limits and requests of containers from the other values, as the API
// server does. https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/v1/defaults.go
func completeLimits(item model.Value) model.Value {
	if item.At("type").Str() != "Container" {
		return item
	}
	limits := withMissing(item.At("default"), item.At("max"))
	requests := withMissing(withMissing(item.At("defaultRequest"), limits), item.At("min"))
	if !limits.IsEmpty() {
		item = item.With("default", limits)
	}
	if !requests.IsEmpty() {
		item = item.With("defaultRequest", requests)
	}
	return item
}

// withMissing returns a map with the fields of another one that it lacks.
func withMissing(v, other model.Value) model.Value {
	if other.Kind() != model.Map {
		return v
	}
	if v.Kind() != model.Map {
		return other
	}
	for _, f := range other.Fields() {
		if _, ok := v.Get(f.Name); !ok {
			v = v.With(f.Name, f.Value)
		}
	}
	return v
}

// backoffLimit returns how often the pods of a Job may fail. A limit for each index replaces
// the one for all of them. https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/batch/v1/defaults.go
func backoffLimit(job model.Value) model.Value {
	if job.At("backoffLimitPerIndex").IsNull() {
		return model.IntOf(6)
	}
	return model.IntOf(math.MaxInt32)
}

// podReplacementPolicy returns when a Job replaces a pod. With a policy for failures, it waits
// until the pod has failed.
func podReplacementPolicy(job model.Value) model.Value {
	if job.At("podFailurePolicy").IsNull() {
		return model.StringOf("TerminatingOrFailed")
	}
	return model.StringOf("Failed")
}
