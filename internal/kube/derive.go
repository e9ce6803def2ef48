package kube

import "github.com/driftd/driftd/internal/model"

// derivations returns how fields of a definition are derived from the others in it,
// by name. Those that depend on more than that (a default class, the tag that an
// image had when the object was made) are not among them.
// https://github.com/kubernetes/kubernetes/tree/master/pkg/apis, defaults.go
func derivations(definition string) map[string]func(model.Value) model.Value {
	switch definition {
	case "io.k8s.api.core.v1.ServicePort":
		return map[string]func(model.Value) model.Value{"targetPort": func(port model.Value) model.Value { return port.At("port") }}
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
