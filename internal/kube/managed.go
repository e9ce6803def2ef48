package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// owners returns the entries of metadata.managedFields (FieldsV1), sorted by name, subresource and
// time. Of the status subresource it has the labels and annotations: a write of it changes nothing else that is
// compared. Without other entries there are no owners: a controller writes the status of an object also after a client
// removed the record.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/
func owners(kind string, managedFields model.Value) ([]model.Owner, error) {
	if len(managedFields.Items()) == 0 {
		return nil, nil
	}
	list := make([]model.Owner, 0, len(managedFields.Items()))
	for _, entry := range managedFields.Items() {
		written := entry.At("fieldsV1")
		if entry.At("subresource").Str() == "status" {
			metadata, ok := written.Get("f:metadata")
			if !ok {
				continue
			}
			written = model.MapOf(model.Field{Name: "f:metadata", Value: metadata})
		}
		fields, err := fieldSet(written)
		if err != nil {
			return nil, fmt.Errorf("manager %q: %w", entry.At("manager").Str(), err)
		}
		if isAutoscaler(kind) {
			upgradeFields(&fields)
		}
		list = append(list, model.Owner{
			Name:     entry.At("manager").Str(),
			Applies:  entry.At("operation").Str() == "Apply",
			Edits:    editsByHand(entry.At("manager").Str()),
			Delivers: delivers(entry.At("manager").Str()),
			Inherits: inherits(entry.At("manager").Str()),
			Through:  entry.At("subresource").Str(),
			At:       instant(entry.At("time")),
			Fields:   fields,
		})
	}
	if !slices.ContainsFunc(list, func(o model.Owner) bool { return o.Through != "status" }) {
		return nil, nil
	}
	slices.SortStableFunc(list, func(a, b model.Owner) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Through, b.Through), a.At.Compare(b.At))
	})
	return list, nil
}

// MarkOwnersRemoved sets OwnersRemoved of the resources without owners if another one has owners.
// All resources must come from one live API server, which returns a record of writers either for
// every object or for none.
func MarkOwnersRemoved(resources []model.Resource) {
	recorded := slices.ContainsFunc(resources, func(r model.Resource) bool { return len(r.Owners) > 0 })
	for i := range resources {
		resources[i].OwnersRemoved = recorded && len(resources[i].Owners) == 0
	}
}

func fieldSet(v model.Value) (model.FieldSet, error) {
	var set model.FieldSet
	for _, f := range v.Fields() {
		if f.Name == "." {
			set.Self = true
			continue
		}
		step, err := fieldStep(f.Name)
		if err != nil {
			return model.FieldSet{}, err
		}
		below, err := fieldSet(f.Value)
		if err != nil {
			return model.FieldSet{}, err
		}
		set.Put(step, below)
	}
	return set, nil
}

func fieldStep(text string) (model.Step, error) {
	kind, rest, ok := strings.Cut(text, ":")
	if !ok {
		return model.Step{}, fmt.Errorf("field %q has no kind", text)
	}
	switch kind {
	case "f":
		return model.Step{Kind: model.FieldStep, Text: rest}, nil
	case "i":
		return model.Step{Kind: model.IndexStep, Text: rest}, nil
	}
	value, err := decode.JSON([]byte(rest))
	if err != nil {
		return model.Step{}, fmt.Errorf("field %q: %w", text, err)
	}
	canonical := string(value.AppendJSON(nil))
	switch kind {
	case "k":
		return model.Step{Kind: model.KeyStep, Text: canonical}, nil
	case "v":
		return model.Step{Kind: model.ItemStep, Text: canonical}, nil
	}
	return model.Step{}, fmt.Errorf("field %q is of no known kind", text)
}

// upgradeFields does to the field set of an autoscaler what upgrade does to the
// object.
func upgradeFields(fields *model.FieldSet) {
	spec := fields.Child(model.Step{Text: "spec"})
	if spec != nil && spec.Child(model.Step{Text: "targetCPUUtilizationPercentage"}) != nil {
		spec.Put(model.Step{Text: "metrics"}, model.FieldSet{})
	}
}

// inherits reports whether the API server gives to the field manager what others
// wrote: before an object had managedFields, or before the last ten updates.
// https://github.com/kubernetes/apimachinery/tree/master/pkg/util/managedfields/internal
func inherits(manager string) bool {
	return manager == "before-first-apply" || manager == "ancient-changes"
}

// editsByHand reports whether a field manager is a tool for editing by hand.
func editsByHand(manager string) bool {
	switch manager {
	case "kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-label", "kubectl-annotate", "kubectl-scale",
		"kubectl-replace", "kubectl-rollout", "kubectl-taint", "kubectl-expose", "kubectl-autoscale", "kubectl-debug",
		"k9s", "node-fetch", "Mozilla", "dashboard", "curl":
		return true
	}
	return false
}

// delivers reports whether a field manager is a tool that applies declarations.
func delivers(manager string) bool {
	if slices.Contains([]string{"kubectl", "kubectl-client-side-apply", "kustomize-controller", "helm-controller",
		"helm", "Helm", "Terraform", "terraform", "HashiCorp", "OpenTofu", "skaffold", "tilt", "kapp"}, manager) {
		return true
	}
	return slices.ContainsFunc([]string{"argocd", "flux", "pulumi", "fleet", "kapp-", "spinnaker"}, func(prefix string) bool {
		return strings.HasPrefix(manager, prefix)
	})
}

// adoptStringData adds the fields that a writer owns in a Secret's stringData to those that it owns
// in data, where the API server stores them, unless they do not exist there or have another owner.
// The API server does not move the ownership.
func adoptStringData(owners []model.Owner, live model.Value) {
	data, stringData := model.Step{Text: "data"}, model.Step{Text: "stringData"}
	for i := range owners {
		plain := owners[i].Fields.Child(stringData)
		if plain == nil {
			continue
		}
		var own model.FieldSet
		if have := owners[i].Fields.Child(data); have != nil {
			own = *have
		}
		for _, step := range plain.Steps() {
			path := []model.Step{data, step}
			if _, ok := live.Get(step.Text); ok && !slices.ContainsFunc(owners, func(o model.Owner) bool { return o.Fields.Depth(path) == len(path) }) {
				own.Put(step, model.FieldSet{})
			}
		}
		owners[i].Fields.Put(data, own)
	}
}
