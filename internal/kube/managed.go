package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// owners reads metadata.managedFields (FieldsV1), in an order of its own: by
// name, operation and subresource.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/
func owners(managedFields model.Value) ([]model.Owner, error) {
	if len(managedFields.Items()) == 0 {
		return nil, nil
	}
	list := make([]model.Owner, 0, len(managedFields.Items()))
	for _, entry := range managedFields.Items() {
		fields, err := fieldSet(entry.At("fieldsV1"))
		if err != nil {
			return nil, fmt.Errorf("manager %q: %w", entry.At("manager").Str(), err)
		}
		list = append(list, model.Owner{
			Name:        entry.At("manager").Str(),
			Applies:     entry.At("operation").Str() == "Apply",
			Edits:       editsByHand(entry.At("manager").Str()),
			Subresource: entry.At("subresource").Str(),
			At:          instant(entry.At("time")),
			Fields:      fields,
		})
	}
	slices.SortStableFunc(list, func(a, b model.Owner) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Subresource, b.Subresource), a.At.Compare(b.At))
	})
	return list, nil
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

// editsByHand tells the field managers of tools that people edit with.
func editsByHand(manager string) bool {
	switch manager {
	case "kubectl-edit", "kubectl-patch", "kubectl-set", "kubectl-label", "kubectl-annotate", "kubectl-scale",
		"kubectl-taint", "kubectl-expose", "kubectl-autoscale", "k9s", "node-fetch", "Mozilla", "dashboard":
		return true
	}
	return false
}

// adoptStringData gives the fields that a writer owns in a Secret's stringData
// to it in data, where they end up, unless somebody else took them over there:
// the API server leaves the ownership where it was written.
func adoptStringData(owners []model.Owner) {
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
			if !slices.ContainsFunc(owners, func(o model.Owner) bool { return o.Fields.Depth(path) == len(path) }) {
				own.Put(step, model.FieldSet{})
			}
		}
		owners[i].Fields.Put(data, own)
	}
}
