package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// crossplaneSeverities are the severities of the checks of managed resources.
func crossplaneSeverities() map[string]model.Severity {
	return map[string]model.Severity{
		"crossplane/differs":    model.Medium,
		"crossplane/paused":     model.Medium,
		"crossplane/no-update":  model.Low,
		"crossplane/orphan":     model.Low,
		"crossplane/not-ready":  model.Low,
		"crossplane/not-synced": model.Medium,
	}
}

const pausedAnnotation = "crossplane.io/paused"

// crossplaneViolations returns the checks that a managed resource of Crossplane fails. A managed
// resource is a custom resource with spec.forProvider and the conditions of Crossplane, or with
// status.atProvider. https://docs.crossplane.io/latest/managed-resources/managed-resources/
func crossplaneViolations(kind string, whole model.Value) []model.Violation {
	spec, status := whole.At("spec"), whole.At("status")
	if !isCustom(kind) || spec.At("forProvider").Kind() != model.Map || status.At("atProvider").Kind() != model.Map && !hasCondition(status, "Synced") {
		return nil
	}
	c := crossplaneChecks{whole: whole}
	if whole.At("metadata", "annotations", pausedAnnotation).Text() == "true" {
		c.fails("crossplane/paused", `metadata.annotations["`+pausedAnnotation+`"]`, writerOf(whole, "metadata", "annotations", pausedAnnotation),
			"Crossplane does not reconcile it, because of its annotation: remove the annotation %s", pausedAnnotation)
	}
	policies := spec.At("managementPolicies")
	if names := texts(policies); len(names) > 0 && !slices.Contains(names, "*") && !slices.Contains(names, "Update") {
		c.fails("crossplane/no-update", "spec.managementPolicies", writerOf(whole, "spec", "managementPolicies"),
			"its management policies have neither Update nor *: Crossplane does not put back changes; add Update, or accept this")
	}
	if spec.At("deletionPolicy").Str() == "Orphan" {
		c.fails("crossplane/orphan", "spec.deletionPolicy", writerOf(whole, "spec", "deletionPolicy"),
			"its external resource stays when it is deleted: set deletionPolicy to Delete, or accept this")
	}
	c.conditions(status)
	c.differs(spec.At("forProvider"), status.At("atProvider"))
	return c.found
}

func hasCondition(status model.Value, name string) bool {
	return slices.ContainsFunc(status.At("conditions").Items(), func(c model.Value) bool { return c.At("type").Str() == name })
}

// crossplaneChecks checks one managed resource.
type crossplaneChecks struct {
	whole model.Value
	found []model.Violation
}

func (c *crossplaneChecks) fails(check, path string, who model.Actor, format string, args ...any) {
	c.found = append(c.found, model.Violation{Check: check, Severity: crossplaneSeverities()[check], Path: path, Actor: who, Reason: fmt.Sprintf(format, args...)})
}

// conditions checks the conditions of the provider. It omits their messages, because they may quote
// the response of any API.
func (c *crossplaneChecks) conditions(status model.Value) {
	nobody := model.UnknownActor("the status has no author")
	for _, condition := range status.At("conditions").Items() {
		if condition.At("status").Str() != "False" {
			continue
		}
		reason := cmp.Or(shortText(condition.At("reason").Str()), "no reason")
		switch condition.At("type").Str() {
		case "Ready":
			c.fails("crossplane/not-ready", "", nobody, "the provider reports that it is not ready (%s): see its conditions", reason)
		case "Synced":
			if reason != "ReconcilePaused" {
				c.fails("crossplane/not-synced", "", nobody, "the provider could not apply it (%s): see its conditions", reason)
			}
		}
	}
}

// maxDifferent bounds the fields that a reason names.
const maxDifferent = 10

// differs compares the desired state with the one that the provider observed. A value that the
// provider first copied from the observed state counts as desired, since the provider applies it,
// too.
func (c *crossplaneChecks) differs(desired, observed model.Value) {
	var d providerDiff
	d.compare([]string{"spec", "forProvider"}, desired, observed)
	slices.Sort(d.found)
	switch n := len(d.found); n {
	case 0:
	case 1:
		c.fails("crossplane/differs", d.found[0], model.UnknownActor("the provider does not report who changed the external resource"),
			"%s differs from what the provider observed in status.atProvider", shortText(strings.TrimPrefix(d.found[0], "spec.forProvider.")))
	default:
		named := make([]string, min(n, maxDifferent))
		for i := range named {
			named[i] = shortText(strings.TrimPrefix(d.found[i], "spec.forProvider."))
		}
		c.fails("crossplane/differs", "", model.UnknownActor("the provider does not report who changed the external resource"),
			"fields of spec.forProvider differ from what the provider observed in status.atProvider: %s", strings.Join(named, ", "))
	}
}

// A providerDiff has the paths of the fields that differ.
type providerDiff struct{ found []string }

// compare compares the fields that both sides contain. Only the desired side contains references to
// other objects.
func (d *providerDiff) compare(path []string, desired, observed model.Value) {
	if desired.Kind() != model.Map || observed.Kind() != model.Map {
		if !sameOrContained(desired, observed) {
			var b strings.Builder
			for _, name := range path {
				model.WriteField(&b, name)
			}
			d.found = append(d.found, b.String())
		}
		return
	}
	for _, f := range desired.Fields() {
		there, ok := observed.Get(f.Name)
		at := append(slices.Clone(path), f.Name)
		if ok && !f.Value.IsEmpty() {
			d.compare(at, f.Value, there)
		}
	}
}

// sameOrContained reports whether the observed value is equivalent to the desired one. A number or
// a boolean may be a text, lists may have another order, and items may have further fields.
func sameOrContained(desired, observed model.Value) bool {
	switch {
	case desired.Kind() == model.List && observed.Kind() == model.List:
		rest := slices.Clone(observed.Items())
		for _, item := range desired.Items() {
			i := slices.IndexFunc(rest, func(v model.Value) bool { return sameOrContained(item, v) })
			if i < 0 {
				return false
			}
			rest = slices.Delete(rest, i, i+1)
		}
		return len(rest) == 0
	case desired.Kind() == model.Map && observed.Kind() == model.Map:
		return !slices.ContainsFunc(desired.Fields(), func(f model.Field) bool {
			there, ok := observed.Get(f.Name)
			return ok && !f.Value.IsEmpty() && !sameOrContained(f.Value, there)
		})
	case desired.Kind() == model.List || desired.Kind() == model.Map || observed.Kind() == model.List || observed.Kind() == model.Map:
		return false
	}
	return desired.Text() == observed.Text() || sameDocument(desired.Text(), observed.Text())
}

// maxDocument bounds a JSON document in a field that is compared, in bytes.
const maxDocument = 256 << 10

// sameDocument reports whether two texts are the same JSON document, such as a policy.
func sameDocument(a, b string) bool {
	if len(a)+len(b) > maxDocument || !strings.HasPrefix(strings.TrimSpace(a), "{") || !strings.HasPrefix(strings.TrimSpace(b), "{") {
		return false
	}
	left, err := decode.JSON([]byte(a))
	if err != nil {
		return false
	}
	right, err := decode.JSON([]byte(b))
	return err == nil && left.Equal(right)
}
