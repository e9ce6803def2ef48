package kube

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Relate sets the parts of resources that depend on other objects of the same source: the fields
// that an autoscaler determines or a Certificate adds, the webhooks and policies that may change an
// object, the roles that add rights to others, and the objects that created others. covers reports whether a kind was fully read in a
// namespace. Relate must be called once, with all resources of a snapshot. It modifies the
// resources.
func Relate(resources []model.Resource, covers func(kind, place string) bool) {
	given := map[string][]model.Delegation{}
	var admission admitters
	for i := range resources {
		r := &resources[i]
		admission.add(r)
		for target, delegated := range delegations(r) {
			given[target] = append(given[target], delegated...)
		}
	}
	watchAggregated(resources)
	w := newWorld(resources, covers)
	for i := range resources {
		r := &resources[i]
		r.Delegated = slices.Concat(r.Delegated, given[r.Kind+" "+r.ID])
		r.Admission = admission.of(r.Kind, r.Place)
		r.NotDerived = w.notDerived(r)
		w.relate(r)
	}
}

func isAutoscaler(kind string) bool {
	return kind == hpaKind || kind == "kubernetes/ScaledObject.keda.sh"
}

const hpaKind = "kubernetes/HorizontalPodAutoscaler.autoscaling"

// scaleTarget names the kind and id of the object that an autoscaler scales.
func scaleTarget(place string, autoscaler model.Value) string {
	ref := autoscaler.At("spec", "scaleTargetRef")
	apiVersion, kind := ref.At("apiVersion").Str(), ref.At("kind").Str()
	if kind == "" {
		apiVersion, kind = "apps/v1", "Deployment"
	}
	if apiVersion == "" {
		apiVersion = "apps/v1"
	}
	return KindName(apiVersion, kind) + " " + place + "/" + ref.At("name").Str()
}

// aggregated is what a ClusterRole with an aggregation rule leaves to others.
func aggregated() model.Delegation {
	return model.Delegation{Path: "rules", To: "the aggregated ClusterRoles"}
}

// scaledBy returns what an autoscaler determines of its target. A HorizontalPodAutoscaler without minReplicas 0 is off
// while its target has no replicas.
// https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation
func scaledBy(kind, name string, autoscaler model.Value) model.Delegation {
	short := strings.TrimPrefix(kind, "kubernetes/")
	short, _, _ = strings.Cut(short, ".")
	return model.Delegation{Path: "spec.replicas", To: short + " " + name,
		Positive: kind == hpaKind && autoscaler.At("spec", "minReplicas").Text() != "0"}
}

// delegations returns what an object decides of others, by their kind and id.
func delegations(r *model.Resource) map[string][]model.Delegation {
	by := model.Ref{Kind: r.Kind, ID: r.ID}
	if isAutoscaler(r.Kind) {
		d := scaledBy(r.Kind, r.Name, r.Value)
		d.By = by
		return map[string][]model.Delegation{scaleTarget(r.Place, r.Value): {d}}
	}
	switch r.Kind {
	case "kubernetes/Certificate.cert-manager.io":
		return supplies(r, by, r.Value.At("spec", "secretName").Str(), `data["tls.crt"]`, `data["tls.key"]`, `data["ca.crt"]`)
	case "kubernetes/ExternalSecret.external-secrets.io":
		return supplies(r, by, cmp.Or(r.Value.At("spec", "target", "name").Str(), r.Name), "data")
	}
	return nil
}

// supplies returns the fields that an object adds to a Secret of its namespace.
func supplies(r *model.Resource, by model.Ref, secret string, paths ...string) map[string][]model.Delegation {
	list := make([]model.Delegation, len(paths))
	for i, path := range paths {
		list[i] = model.Delegation{Path: path, To: strings.TrimPrefix(r.Kind, "kubernetes/") + " " + r.Name, By: by, Adds: true}
	}
	return map[string][]model.Delegation{secretKind + " " + r.Place + "/" + secret: list}
}

// RelateKinds completes kinds by the custom resource definitions among the resources. It sets the
// compatible versions, which are all served ones unless a webhook converts between them, the schema
// if it is unknown, and Defaulted.
func RelateKinds(kinds map[string]*model.Kind, resources []model.Resource) {
	for i := range resources {
		spec := resources[i].Value.At("spec")
		if resources[i].Kind != crdKind {
			continue
		}
		name := KindName(spec.At("group").Str()+"/", spec.At("names", "kind").Str())
		kind := kinds[name]
		if kind == nil {
			continue
		}
		related := *kind
		related.CompatibleVersions = alike(spec)
		if defined := kindsOf(spec)[name]; related.Schema == nil && defined != nil {
			related.Schema = defined.Schema
		}
		// A webhook that converts leaves the owners of fields under other names.
		related.Defaulted = related.Schema != nil && len(related.CompatibleVersions) > 0
		kinds[name] = &related
	}
}

// alike returns the versions of a custom resource definition's kind when all
// of them have the same fields: unless a webhook converts between them.
func alike(spec model.Value) []string {
	if spec.At("conversion", "strategy").Str() == "Webhook" {
		return nil
	}
	var versions []string
	for _, v := range spec.At("versions").Items() {
		versions = append(versions, spec.At("group").Str()+"/"+v.At("name").Str())
	}
	return versions
}

const crdKind = "kubernetes/CustomResourceDefinition.apiextensions.k8s.io"
