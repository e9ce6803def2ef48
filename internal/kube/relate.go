package kube

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Relate fills in what depends on other objects of the same source: the fields
// that an autoscaler decides, the volume claims that a StatefulSet makes. It is
// called once, with all resources of a snapshot.
func Relate(resources []model.Resource) {
	targets := map[string]string{}
	var templates []claimTemplate
	for i := range resources {
		r := &resources[i]
		switch {
		case isAutoscaler(r.Kind):
			targets[scaleTarget(r.Place, r.Value)] = r.Name
		case r.Kind == "kubernetes/StatefulSet.apps":
			for _, t := range r.Value.At("spec", "volumeClaimTemplates").Items() {
				prefix := t.At("metadata", "name").Str() + "-" + r.Name + "-"
				templates = append(templates, claimTemplate{r.Place, prefix, r.Name})
			}
		}
	}
	if len(targets)+len(templates) == 0 {
		return
	}
	for i := range resources {
		r := &resources[i]
		if name, ok := targets[r.Kind+" "+r.ID]; ok {
			r.Delegated = append(r.Delegated, scaledBy(name))
		}
		if r.Kind == "kubernetes/PersistentVolumeClaim" && r.Automatic == "" {
			r.Automatic = claimedBy(r, templates)
		}
	}
}

type claimTemplate struct{ place, prefix, set string }

// claimedBy names the StatefulSet whose volume claim template made a claim:
// <template>-<set>-<ordinal>.
func claimedBy(r *model.Resource, templates []claimTemplate) string {
	for _, t := range templates {
		ordinal, ok := strings.CutPrefix(r.Name, t.prefix)
		if ok && t.place == r.Place && ordinal != "" && strings.Trim(ordinal, "0123456789") == "" {
			return "made for StatefulSet " + t.set
		}
	}
	return ""
}

func isAutoscaler(kind string) bool {
	return kind == "kubernetes/HorizontalPodAutoscaler.autoscaling" || kind == "kubernetes/ScaledObject.keda.sh"
}

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

func scaledBy(name string) model.Delegation {
	return model.Delegation{Path: "spec.replicas", To: "HorizontalPodAutoscaler " + name}
}

// RelateKinds fills in what the custom resource definitions among the resources
// say of their kinds: the versions that have the same fields, which are all
// served ones unless a webhook converts between them, and the schema where
// nothing else told it.
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
		related.Alike = alike(spec)
		if defined := kindsOf(spec)[name]; related.Schema == nil && defined != nil {
			related.Schema = defined.Schema
		}
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
